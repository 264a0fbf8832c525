"""Every configuration key with its type, default and meaning, read off the settings structs themselves.

Error messages take the remedy from here, and docs/operating.md is checked against it, so neither can fall behind.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import msgspec
from msgspec import inspect

from recalld.daemon.config.settings import Settings
from recalld.models.domain.errors import InvariantError


class KeyReference(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the configuration file.

    Attributes:
        key: Dotted path; `[]` marks an array of tables, as in `access[].uid`.
        kind: What sort of value it takes, in words.
        default: The default in TOML notation; empty when the key is required or its default depends on the environment.
        description: What the value means, with its unit.
    """

    key: str
    kind: str
    default: str
    description: str


def all_keys() -> tuple[KeyReference, ...]:
    """Every key, in the order of the structs."""
    return tuple(_walk("", msgspec.structs.fields(Settings)))


def sections() -> tuple[str, ...]:
    """Names of the top-level tables."""
    return tuple(field.encode_name for field in msgspec.structs.fields(Settings))


def find_key(key: str) -> KeyReference | None:
    """The reference of one key; array indices such as `access[0].uid` are understood."""
    plain = _without_indices(key).removesuffix("[]")  # an element of a list is described with the list
    return next((reference for reference in all_keys() if reference.key == plain), None)


def nearest_key(section: str, name: str) -> str | None:
    """The known key most like an unknown one: in its own section first, then anywhere.

    Args:
        section: The table the unknown key stood in; empty for the top level.
        name: The unknown key itself.
    """
    plain = _without_indices(section)
    prefix = f"{plain}." if plain else ""
    siblings = (
        sections()
        if not section
        else [key.key.removeprefix(prefix) for key in all_keys() if key.key.startswith(prefix)]
    )
    if found := difflib.get_close_matches(name, siblings, n=1):
        return f"{prefix}{found[0]}"
    by_last_part = {key.key.rpartition(".")[2]: key.key for key in all_keys()}
    found = difflib.get_close_matches(name, by_last_part, n=1, cutoff=0.75)
    return by_last_part[found[0]] if found else None


def _without_indices(key: str) -> str:
    return "".join(part if index == 0 else f"[]{part.partition(']')[2]}" for index, part in enumerate(key.split("[")))


def _walk(prefix: str, fields: tuple[msgspec.structs.FieldInfo, ...]) -> Iterable[KeyReference]:
    for field in fields:
        key = f"{prefix}{field.encode_name}"
        match inspect.type_info(field.type):
            case inspect.StructType(cls=section):
                yield from _walk(f"{key}.", msgspec.structs.fields(section))
            case inspect.VarTupleType(item_type=inspect.StructType(cls=item)):
                yield from _walk(f"{key}[].", msgspec.structs.fields(item))
            case inspect.Metadata(type=inner, extra_json_schema={"description": str(text)}):
                yield KeyReference(key=key, kind=_kind(inner), default=_default(field), description=text)
            case undescribed:
                message = f"{key} has no description: {undescribed}"
                raise InvariantError(message)


def _kind(node: inspect.Type) -> str:  # noqa: PLR0911 - one return for each kind of type is the plainest form
    match node:
        case inspect.Metadata(type=inner):
            return _kind(inner)
        case inspect.UnionType(types=types):
            return " or ".join(_kind(part) for part in types if not isinstance(part, inspect.NoneType))
        case inspect.LiteralType(values=values):
            return " or ".join(f'"{value}"' for value in values)
        case inspect.EnumType(cls=cls):
            return " or ".join(f'"{member.value}"' for member in cls)
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return "integer"
        case inspect.FloatType():
            return "number"
        case inspect.VarTupleType(item_type=item):
            return f"list of {_kind(item)}"
        case inspect.CustomType():
            return "path"
        case _:
            return "text"


def _default(field: msgspec.structs.FieldInfo) -> str:
    match field.default:
        case None | msgspec.NODEFAULT:
            return ""
        case bool() as value:
            return "true" if value else "false"
        case str() as value:
            return f'"{value}"'
        case ():
            return "[]"
        case value:
            return f"{value:g}" if isinstance(value, float) else str(value)
