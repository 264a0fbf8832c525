"""Requests written by people: a key that no field has is a slip there, and is named instead of passed over.

On the wire unknown keys are ignored, so that older servers understand newer clients.
"""

from __future__ import annotations

import functools

import msgspec
from msgspec import inspect

from recalld.protocol import faults


def unknown_key(content: str | bytes, message: type[msgspec.Struct]) -> str | None:
    """The sentence for the first key in a JSON object that a message has no field for, nested ones included.

    Nothing else is checked: values are read by whoever decodes the message itself.

    Args:
        content: The JSON.
        message: What it is meant to be.

    Returns:
        A sentence with the path of the key; None when every key is known, or the content is no such object at all.
    """
    try:
        msgspec.json.decode(content, type=_strict(message))
    except msgspec.ValidationError as error:
        return faults.describe(str(error)) if faults.is_unknown_key(str(error)) else None
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None
    return None


@functools.cache
def _strict(message: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """A struct with the same keys, all of them optional and unread, that accepts no others."""
    info = inspect.type_info(message)
    if not isinstance(info, inspect.StructType):
        unexpected = f"{message.__name__} is no struct"
        raise TypeError(unexpected)
    tag = [] if info.tag_field is None else [(info.tag_field, msgspec.Raw, msgspec.Raw())]
    fields = [(field.encode_name, _checked(field.type), msgspec.UNSET) for field in info.fields]
    return msgspec.defstruct(f"_Strict{message.__name__}", [*tag, *fields], forbid_unknown_fields=True)


def _checked(info: inspect.Type) -> type:
    """The type that checks the keys of a field: those of its structs, and nothing else of it."""
    match info:
        case inspect.StructType(cls=cls):
            return _strict(cls) | msgspec.UnsetType  # type: ignore[return-value]
        case inspect.VarTupleType(item_type=inspect.StructType(cls=cls)):
            return tuple[_strict(cls), ...] | msgspec.UnsetType  # type: ignore[return-value,misc]
        case inspect.UnionType(types=types):
            nested = [each for each in map(_checked, types) if each is not msgspec.Raw]
            return nested[0] | None if len(nested) == 1 else msgspec.Raw  # type: ignore[return-value]
        case _:
            return msgspec.Raw
