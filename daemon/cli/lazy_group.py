"""A click group that imports a command only when it runs, so that `recalld --help` stays fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import click


class LazyGroup(click.Group):
    """A group whose commands live in modules of their own.

    Args:
        name: Name of the group.
        commands: For each command, in the order to show: its module, and the line that `--help` shows for it. The
            module defines the command under the name `command`.
        help: Text of `--help`.
        callback: Run before any command; may be absent.
    """

    def __init__(self, name: str, *, commands: Mapping[str, tuple[str, str]], help: str) -> None:  # noqa: A002 - click's name
        super().__init__(name=name, help=help, context_settings={"help_option_names": ["-h", "--help"]})
        self._modules = commands

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of the commands, in the order they are shown."""
        return list(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command's module and return the command; None for an unknown name."""
        entry = self._modules.get(cmd_name)
        if entry is None:
            return None
        command = import_module(entry[0]).command
        if not isinstance(command, click.Command):
            message = f"{entry[0]}.command is no click command"
            raise TypeError(message)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._modules.items()])
