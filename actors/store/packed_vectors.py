"""How the vectors of one memory are kept together: one blob, and a layout that says what each vector in it stands for.

A large memory is loaded into an index by reading one blob per memory instead of one row per vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from recalld.actors.store.rules import in_order
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import PackedVectors, TextVector

ORDINAL_MAX: Final = 255
"""Largest ordinal that the layout has room for."""
ROLE_CODES: Final[Mapping[VectorRole, int]] = MappingProxyType(
    {VectorRole.RECORD: 0, VectorRole.CUE: 1, VectorRole.ASK: 2}
)
"""How a layout names the roles. They are stored, so no number is ever given to another role."""
_ROLES: Final = {code: role for role, code in ROLE_CODES.items()}
_ENTRY_BYTES: Final = 2


def pack_vectors(vectors: Sequence[TextVector]) -> PackedVectors:
    """Put vectors together, by role and ordinal.

    Raises:
        ValueError: An ordinal is beyond `ORDINAL_MAX`.
    """
    ordered = in_order(vectors)
    return PackedVectors(
        layout=bytes(number for each in ordered for number in (ROLE_CODES[each.role], each.ordinal)),
        data=b"".join(each.data for each in ordered),
    )


def unpack_vectors(packed: PackedVectors) -> tuple[TextVector, ...]:
    """The vectors one by one; none where layout and data do not fit together."""
    count, width = len(packed.layout) // _ENTRY_BYTES, vector_width_bytes(packed)
    if width is None:
        return ()
    return tuple(
        TextVector(
            role=_ROLES[packed.layout[_ENTRY_BYTES * place]],
            ordinal=packed.layout[_ENTRY_BYTES * place + 1],
            data=packed.data[width * place : width * (place + 1)],
        )
        for place in range(count)
    )


def vector_width_bytes(packed: PackedVectors) -> int | None:
    """Length of each of the vectors; None where there are none, or layout and data do not fit together."""
    count, rest = divmod(len(packed.layout), _ENTRY_BYTES)
    if rest or not count or len(packed.data) % count or not _ROLES.keys() >= set(packed.layout[::_ENTRY_BYTES]):
        return None
    return len(packed.data) // count
