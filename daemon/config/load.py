"""Put the settings together: flags over environment over file over defaults, all checked in one place."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Final

import msgspec

from recalld.daemon.config.endpoint_check import check_model_gate
from recalld.daemon.config.environment import Environment
from recalld.daemon.config.errors import ConfigError
from recalld.daemon.config.paths import default_config_paths, default_paths
from recalld.daemon.config.reference import find_key, nearest_key
from recalld.daemon.config.settings import ServerMode, Settings
from recalld.daemon.config.tables import TomlTable, TomlValue, lookup, merged, with_value
from recalld.models.inference.manifest import MODELS, ModelRole

CONFIG_BYTES_MAX: Final = 1024 * 1024
_CONFIG_VARIABLE: Final = "RECALLD_CONFIG"


class Overrides(msgspec.Struct, frozen=True, kw_only=True):
    """What the command line said; None where it said nothing.

    Paths are written as in environment variables: absolute, or from `~/`, or relative to the working directory.
    """

    config_path: Path | None = None
    socket_path: Path | None = None
    data_dir: Path | None = None
    model_dir: Path | None = None


class _PathSource(msgspec.Struct, frozen=True, kw_only=True):
    """One path that a flag or a variable may set."""

    key: str
    flag: str
    variable: str


_SOCKET: Final = _PathSource(key="server.socket_path", flag="--socket", variable="RECALLD_SOCKET")
_DATA_DIR: Final = _PathSource(key="storage.data_dir", flag="--data-dir", variable="RECALLD_DATA_DIR")
_MODEL_DIR: Final = _PathSource(key="models.dir", flag="--model-dir", variable="RECALLD_MODEL_DIR")

_UNKNOWN_FIELD: Final = re.compile(
    r"^Object contains unknown field `(?P<name>.*?)`(?: - at `\$\.?(?P<at>.*)`)?$", re.DOTALL
)
_BAD_VALUE: Final = re.compile(r"^(?P<what>.*?)(?: - at `\$\.?(?P<at>.*)`)?$", re.DOTALL)


def load_settings(environment: Environment, overrides: Overrides | None = None) -> Settings:
    """The settings in force.

    Args:
        environment: Who runs the process, and its variables.
        overrides: What the command line said.

    Returns:
        Settings with absolute paths.

    Raises:
        ConfigError: For a file that is missing though named, unreadable or not TOML, for an unknown key, and for a
            value of the wrong type or out of range. The message names file, key and remedy.
    """
    said = overrides or Overrides()
    config_path, file_table = _read_config(environment, said)
    is_system = lookup(file_table, "server.mode") == ServerMode.SYSTEM.value
    paths = default_paths(environment, is_system=is_system)
    table: TomlTable = {
        "server": {"socket_path": str(paths.socket_path)},
        "storage": {"data_dir": str(paths.data_dir)},
        "models": {"dir": str(paths.model_dir)},
    }
    table = merged(table, file_table)
    origin: dict[str, str] = {}
    for source, flag_value in ((_SOCKET, said.socket_path), (_DATA_DIR, said.data_dir), (_MODEL_DIR, said.model_dir)):
        if flag_value is not None:
            origin[source.key], value = source.flag, str(flag_value)
        elif (variable_value := environment.get(source.variable)) is not None:
            origin[source.key], value = source.variable, variable_value
        else:
            continue
        table = with_value(table, source.key, _from_working_directory(value, origin[source.key]))
    settings = _converted(table, home=environment.home, file_name=str(config_path), origin=origin)
    _check_deadlines(settings, file_name=str(config_path))
    _check_places(settings, file_name=str(config_path))
    _check_drift(settings, file_name=str(config_path))
    check_model_gate(settings.admission, file_name=str(config_path))
    _check_model(settings.models.cross_encoder, ModelRole.CROSS_ENCODER, "models.cross_encoder", str(config_path))
    _check_model(settings.models.embedder, ModelRole.EMBEDDER, "models.embedder", str(config_path))
    return settings


def _read_config(environment: Environment, said: Overrides) -> tuple[Path, TomlTable]:
    """The file that counts and its contents; an absent default file is an empty one."""
    if said.config_path is not None:
        return _read_named(str(said.config_path), "--config", environment)
    if (value := environment.get(_CONFIG_VARIABLE)) is not None:
        return _read_named(value, _CONFIG_VARIABLE, environment)
    candidates = default_config_paths(environment)
    for path in candidates:
        try:
            return path, _read_file(path, named_by="the default place")
        except FileNotFoundError:
            continue
    return candidates[0], {}


def _read_named(value: str, named_by: str, environment: Environment) -> tuple[Path, TomlTable]:
    """The file that a flag or a variable names, and its contents."""
    text = _from_working_directory(value, named_by)
    path = environment.home / text[2:] if text.startswith("~/") else Path(text)
    return path, _read_file(path, named_by=named_by)


def _from_working_directory(value: str, named_by: str) -> str:
    """A path from a flag or variable, made absolute unless it begins with a tilde, which is not ours to resolve here.

    A shell hands over `--socket=~/x` with its tilde; taken for relative, it would become a directory of that name.
    """
    path = Path(value)  # drops a leading `./`, so that it makes no difference before a tilde
    if str(path).startswith("~"):
        return str(path)
    try:
        return str(path.absolute())
    except FileNotFoundError as error:
        message = f"{named_by}: {value} is relative, but the working directory is gone; give an absolute path"
        raise ConfigError(message) from error


def _read_file(path: Path, *, named_by: str) -> TomlTable:
    """Parse one file. Raises FileNotFoundError only for a default place; every other trouble is a `ConfigError`."""
    try:
        with path.open("rb") as file:
            content = file.read(CONFIG_BYTES_MAX + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if named_by == "the default place":
            raise FileNotFoundError(path) from error
        message = f"{path}: no such file (named by {named_by}); create it or name another one"
        raise ConfigError(message) from error
    except OSError as error:
        message = f"{path}: cannot be read ({error.strerror}); make it a file that this user may read"
        raise ConfigError(message) from error
    if len(content) > CONFIG_BYTES_MAX:
        message = f"{path}: larger than {CONFIG_BYTES_MAX} bytes; this is not a configuration file"
        raise ConfigError(message)
    try:
        table: TomlTable = tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        message = f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8"
        raise ConfigError(message) from error
    except tomllib.TOMLDecodeError as error:
        message = f'{path}: not valid TOML: {error}; strings need quotes, as in gate = "on"'
        raise ConfigError(message) from error
    except RecursionError as error:
        message = f"{path}: nested too deeply; recalld knows tables two levels deep"
        raise ConfigError(message) from error
    return table


def _converted(table: TomlTable, *, home: Path, file_name: str, origin: dict[str, str]) -> Settings:
    def to_path(kind: type, value: TomlValue) -> Path:
        if kind is not Path or not isinstance(value, str):
            message = f"Expected a path in quotes, got {_shown(value)}"
            raise ValueError(message)
        path = home / value[2:] if value.startswith("~/") else Path(value)
        if not path.is_absolute() or "\0" in value:
            message = f'Expected a path that starts with "/" or "~/", got {_shown(value)}'
            raise ValueError(message)
        return path

    try:
        return msgspec.convert(table, Settings, dec_hook=to_path)
    except msgspec.ValidationError as error:
        raise ConfigError(_explained(str(error), table, file_name=file_name, origin=origin)) from error


def _explained(problem: str, table: TomlTable, *, file_name: str, origin: dict[str, str]) -> str:
    """Turn the decoder's sentence into one that names the place, the value and the remedy."""
    if unknown := _UNKNOWN_FIELD.match(problem):
        section, name = unknown["at"] or "", unknown["name"]
        place = f"{section}.{name}" if section else name
        nearest = nearest_key(section, name)
        remedy = f"did you mean {nearest}?" if nearest else "remove it; docs/operating.md lists every key"
        return f"{file_name}: unknown key {place}; {remedy}"
    bad = _BAD_VALUE.match(problem)
    what, key = (bad["what"], bad["at"] or "") if bad else (problem, "")
    what = what.replace("`", "")
    known = find_key(key)
    value = lookup(table, key)
    seen = "" if "got" in what or value is None else f", got {_shown(value)}"
    remedy = f"; {known.description}" if known and known.description else ""
    place = f"{origin[key]} ({key})" if key in origin else f"{file_name}: {key}"
    return f"{place}: {what[:1].lower()}{what[1:]}{seen}{remedy}"


def _check_model(model_id: str, role: ModelRole, key: str, file_name: str) -> None:
    """A model outside the allowlist cannot be named."""
    known = [spec.id for spec in MODELS.values() if spec.role is role]
    if model_id not in known:
        nearest = difflib.get_close_matches(model_id, known, n=1)
        remedy = f"did you mean {nearest[0]}?" if nearest else f"choose one of: {', '.join(sorted(known))}"
        message = (
            f"{file_name}: {key}: {_shown(model_id)} is no {role.value.replace('_', '-')} that recalld knows; {remedy}"
        )
        raise ConfigError(message)


def _check_deadlines(settings: Settings, *, file_name: str) -> None:
    recall = settings.recall
    if recall.gate_ms + recall.reserve_ms > recall.envelope_ms:
        # With an inner deadline that is no earlier than the outer one, a degraded answer could never leave in time.
        message = (
            f"{file_name}: recall.gate_ms + recall.reserve_ms is {recall.gate_ms + recall.reserve_ms:g}, more than "
            f"recall.envelope_ms = {recall.envelope_ms:g}; raise the envelope or lower the other two"
        )
        raise ConfigError(message)


def _check_places(settings: Settings, *, file_name: str) -> None:
    server = settings.server
    if server.mode is ServerMode.SYSTEM and server.connections_kept >= server.connections_max:
        message = (
            f"{file_name}: server.connections_kept = {server.connections_kept} leaves none of server.connections_max = "
            f"{server.connections_max} for the accounts that are served; lower the one or raise the other"
        )
        raise ConfigError(message)


def _check_drift(settings: Settings, *, file_name: str) -> None:
    drift = settings.drift
    if drift.window < drift.decisions_min:
        message = (
            f"{file_name}: drift.window = {drift.window} is less than drift.decisions_min = {drift.decisions_min}, so "
            "that nothing could ever be said; raise the one or lower the other"
        )
        raise ConfigError(message)


def _shown(value: TomlValue) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
