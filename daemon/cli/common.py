"""Options that commands share, and what they add up to."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

import click

from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.parameters import SESSION, USER, path, text_of
from recalld.daemon.cli.version import own_version
from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Environment, Overrides, ServerMode, Settings, load_settings
from recalld.protocol.client.blocking import Client

_Command = TypeVar("_Command", bound=Callable[..., int | None])


class _Decorator(Protocol):
    """What `click.option` returns."""

    def __call__(self, command: _Command, /) -> _Command: ...


@dataclasses.dataclass(kw_only=True)
class Common:
    """What the command line said that is not particular to one command; filled in by the options as they are parsed."""

    environment: Environment
    clock: SystemClock = dataclasses.field(default_factory=SystemClock)
    config_path: Path | None = None
    socket_path: Path | None = None
    data_dir: Path | None = None
    model_dir: Path | None = None
    as_json: bool = False
    user: str | None = None
    session: str | None = None

    @functools.cached_property
    def settings(self) -> Settings:
        """The settings in force. Raises `ConfigError`."""
        return load_settings(
            self.environment,
            Overrides(
                config_path=self.config_path,
                socket_path=self.socket_path,
                data_dir=self.data_dir,
                model_dir=self.model_dir,
            ),
        )

    @property
    def user_name(self) -> str:
        """Whose memories: `--user`, else `RECALLD_USER` unless that is empty, else the login name.

        In system mode an account may act for the users below its own prefix, so its login name goes there. Raises
        `CommandError` when the variable holds what no user is called.
        """
        if self.user is not None:
            return self.user
        if named := self.environment.get("RECALLD_USER"):
            if problem := USER.problem(named):
                message = f"RECALLD_USER: {problem}"
                raise usage_error(message)
            return named
        login = self.environment.login
        return f"uid:{self.environment.uid}/{login}" if self.settings.server.mode is ServerMode.SYSTEM else login

    @property
    def session_name(self) -> str:
        """The session to recall for; empty unless given, and then nothing counts as shown already."""
        return self.session or ""

    @property
    def is_interactive(self) -> bool:
        """Whether a person can be asked."""
        return not self.as_json and sys.stdin.isatty() and sys.stdout.isatty()

    def client(self, *, timeout_s: float = 30.0, name: str = "recalld-cli") -> Client:
        """A client for the daemon of these settings; it connects at the first call.

        Args:
            timeout_s: Longest wait for one reply, in seconds.
            name: What the daemon knows it by: who brought a fact may not approve it, so a person's review has its own.
        """
        return Client(
            self.settings.server.socket_path,
            name=name,
            version=own_version(),
            strict=True,
            timeout_s=timeout_s,
            recall_timeout_s=timeout_s,
        )


def _noted(ctx: click.Context, param: click.Parameter, value: Path | str | bool | None) -> None:  # noqa: FBT001 - click's signature
    """Keep an option's value in the `Common` of this run.

    A default is not kept: a subcommand must not undo what was given before its name.
    """
    if value is None or value is False:
        return
    common = ctx.find_object(Common)
    if common is not None and param.name is not None:
        setattr(common, param.name, value)


def _option(*names: str, help: str, type: Callable[[str], str | Path]) -> _Decorator:  # noqa: A002 - click's names
    return click.option(*names, type=type, expose_value=False, callback=_noted, help=help)


_CONFIG: Final = _option("--config", "config_path", type=path, help="Configuration file to read.")
_SOCKET: Final = _option("--socket", "socket_path", type=path, help="Socket of the daemon.")
_DATA_DIR: Final = _option("--data-dir", "data_dir", type=path, help="Directory of the database.")
_MODEL_DIR: Final = _option("--model-dir", "model_dir", type=path, help="Directory of the models.")
_JSON: Final = click.option(
    "--json", "as_json", is_flag=True, expose_value=False, callback=_noted, help="Print JSON, also for errors."
)
_USER: Final = _option(
    "--user",
    type=text_of(USER),
    help="Whose memories. Default: RECALLD_USER, else your login name (below uid:<number>/ in system mode).",
)
_SESSION: Final = _option("--session", type=text_of(SESSION), help="Session this belongs to. Default: none.")


def settings_options(command: _Command) -> _Command:
    """Give a command `--config`, `--socket`, `--data-dir`, `--model-dir` and `--json`."""
    return _with_options(command, (_CONFIG, _SOCKET, _DATA_DIR, _MODEL_DIR, _JSON))


def json_options(command: _Command) -> _Command:
    """Give a command that needs neither settings nor a daemon `--json`."""
    return _with_options(command, (_JSON,))


def model_options(command: _Command) -> _Command:
    """Give a command that only looks at models `--config`, `--model-dir` and `--json`."""
    return _with_options(command, (_CONFIG, _MODEL_DIR, _JSON))


def client_options(command: _Command) -> _Command:
    """Give a command that only talks to the daemon `--config`, `--socket` and `--json`."""
    return _with_options(command, (_CONFIG, _SOCKET, _JSON))


def user_options(command: _Command) -> _Command:
    """Give a command `--user` and the options of `client_options`."""
    return _with_options(command, (_USER, _CONFIG, _SOCKET, _JSON))


def session_options(command: _Command) -> _Command:
    """Give a command `--user`, `--session` and the options of `client_options`."""
    return _with_options(command, (_USER, _SESSION, _CONFIG, _SOCKET, _JSON))


def _with_options(command: _Command, options: Sequence[_Decorator]) -> _Command:
    for option in reversed(options):
        command = option(command)
    return command
