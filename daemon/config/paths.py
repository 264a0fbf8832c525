"""Where files live when nobody says otherwise."""

from __future__ import annotations

from pathlib import Path

import msgspec

from recalld.daemon.config.environment import Environment

SYSTEM_CONFIG_PATH = Path("/etc/recalld/recalld.toml")
SYSTEM_SOCKET_PATH = Path("/run/recalld/recalld.sock")
SYSTEM_DATA_DIR = Path("/var/lib/recalld")


class DefaultPaths(msgspec.Struct, frozen=True, kw_only=True):
    """The three paths that have an environment-dependent default."""

    socket_path: Path
    data_dir: Path
    model_dir: Path


def default_paths(environment: Environment, *, is_system: bool) -> DefaultPaths:
    """Default paths: the system's for root and in system mode, else those of the XDG base directory specification.

    Without `XDG_RUNTIME_DIR` the socket goes below the state directory, never to a directory that others can write to.
    """
    if is_system or environment.uid == 0:
        return DefaultPaths(
            socket_path=SYSTEM_SOCKET_PATH, data_dir=SYSTEM_DATA_DIR, model_dir=SYSTEM_DATA_DIR / "models"
        )
    state_dir = _xdg_dir(environment, "XDG_STATE_HOME", ".local/state") / "recalld"
    runtime = _absolute(environment.get("XDG_RUNTIME_DIR"))
    return DefaultPaths(
        socket_path=(runtime / "recalld" if runtime else state_dir / "run") / "recalld.sock",
        data_dir=state_dir,
        model_dir=_xdg_dir(environment, "XDG_DATA_HOME", ".local/share") / "recalld" / "models",
    )


def default_config_paths(environment: Environment) -> tuple[Path, ...]:
    """Configuration files to look for, the first that exists wins."""
    if environment.uid == 0:
        return (SYSTEM_CONFIG_PATH,)
    own = _xdg_dir(environment, "XDG_CONFIG_HOME", ".config") / "recalld" / "recalld.toml"
    return (own, SYSTEM_CONFIG_PATH)


def _xdg_dir(environment: Environment, variable: str, below_home: str) -> Path:
    return _absolute(environment.get(variable)) or environment.home / below_home


def _absolute(value: str | None) -> Path | None:
    """The specification says to ignore a relative path in an XDG variable."""
    return Path(value) if value and value.startswith("/") else None
