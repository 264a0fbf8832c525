"""The values of closed fields, read off the requests themselves, so that no list of them has to be kept."""

from __future__ import annotations

import functools
import typing
from collections.abc import Iterator

import msgspec
from msgspec import inspect

from recalld.protocol.messages import Request


def values_of(path: str) -> tuple[str, ...]:
    """What a closed field may hold; empty for a field that is not closed.

    Args:
        path: Of the field within any request, such as `mode`, `parts[0].role` or `explicit[2]`. Fields of the same name
            take the same values wherever they stand.
    """
    return _by_name().get(path.rpartition(".")[2].partition("[")[0], ())


def closed_fields(message: type[msgspec.Struct]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The closed fields of a request, nested ones included: path (with `[0]` for entries of lists) and values."""
    yield from _closed_in(inspect.type_info(message), "")


@functools.cache
def _by_name() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for message in typing.get_args(Request):
        for path, values in closed_fields(message):
            found[path.rpartition(".")[2].partition("[")[0]] = values
    return found


def _closed_in(info: inspect.Type, path: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    match info:
        case inspect.LiteralType(values=values):
            yield path, tuple(map(str, values))
        case inspect.StructType(fields=fields):
            for field in fields:
                yield from _closed_in(field.type, f"{path}.{field.name}" if path else field.name)
        case inspect.VarTupleType(item_type=item_type):
            yield from _closed_in(item_type, f"{path}[0]")
        case inspect.UnionType(types=types):
            for each in types:
                yield from _closed_in(each, path)
        case _:
            return
