"""Every required field that a request lacks: the decoder itself names only the first."""

from __future__ import annotations

import functools
import typing
from collections.abc import Iterator

import msgspec
from msgspec import inspect

from recalld.protocol.messages import Request


class _Tag(msgspec.Struct):
    type: str = ""


def missing_fields(body: bytes) -> tuple[str, ...]:
    """Paths of the required fields that are not there, such as `user` and `parts[0].role`.

    Nothing is built but the list: values are skipped unread, so that a hostile frame costs no more than in the decoder.

    Returns:
        The paths in the order of the schema; empty when the body cannot be read this far.
    """
    try:
        sketch = _sketches().get(_tags.decode(body).type)
        return () if sketch is None else tuple(_missing_in(sketch.decode(body), ""))
    except (msgspec.DecodeError, RecursionError, UnicodeError, OverflowError):
        return ()


def _missing_in(sketch: msgspec.Struct, path: str) -> Iterator[str]:
    for name in sketch.__struct_fields__:
        value: object = getattr(sketch, name)
        if value is msgspec.UNSET:
            yield f"{path}{name}"
        elif isinstance(value, tuple):
            for place, entry in enumerate(value):
                yield from _missing_in(entry, f"{path}{name}[{place}].")


def _sketch_of(message: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """A struct with the required fields of another, all of them optional and unread, and its lists of structs."""
    required: list[tuple[str, type, msgspec.UnsetType]] = []
    lists: list[tuple[str, type, tuple[()]]] = []
    info = inspect.type_info(message)
    if not isinstance(info, inspect.StructType):
        unexpected = f"{message.__name__} is no struct"
        raise TypeError(unexpected)
    for field in info.fields:
        listed = _list_in(field.type)
        if listed is not None and isinstance(listed.item_type, inspect.StructType):
            entry = _sketch_of(listed.item_type.cls)
            bound = msgspec.Meta(max_length=listed.max_length)
            lists.append((field.name, typing.Annotated[tuple[entry, ...], bound] | None, ()))  # type: ignore[valid-type,arg-type]
        elif field.required:
            required.append((field.name, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET))  # type: ignore[arg-type]
    return msgspec.defstruct(f"_Sketch{message.__name__}", [*required, *lists])


def _list_in(kind: inspect.Type) -> inspect.VarTupleType | None:
    """The list that a field holds, or may hold beside null; None for a field of another kind."""
    kinds = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    return next((each for each in kinds if isinstance(each, inspect.VarTupleType)), None)


_tags = msgspec.msgpack.Decoder(_Tag)


@functools.cache
def _sketches() -> dict[str, msgspec.msgpack.Decoder[msgspec.Struct]]:
    """A decoder for each request, made when the first one lacks something: most processes never see one."""
    return {
        str(message.__struct_config__.tag): msgspec.msgpack.Decoder(_sketch_of(message))
        for message in typing.get_args(Request)
    }
