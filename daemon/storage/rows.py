"""Between rows of the database and the types of the domain."""

from __future__ import annotations

import enum
import sqlite3
from collections.abc import Iterable
from operator import methodcaller
from typing import Final, TypeVar

import msgspec

from recalld.actors.store.listing import contains_folded
from recalld.daemon.storage.errors import DamagedRowError, RowKind
from recalld.daemon.storage.origins import origins_from_text
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.domain.store import DecisionRow

E = TypeVar("E", bound=enum.StrEnum)

_TEXTS: Final = msgspec.json.Decoder(tuple[str, ...])

MEMORY_COLUMNS: Final = (
    "m.id, m.text, m.kind, m.scope, m.cues, m.asks, m.source, m.status,"
    " m.created_at_ms, m.updated_at_ms, m.expires_at_ms, m.revision, m.origins"
)
"""The columns `memory_from_row` takes, in its order, of `memories AS m`."""

MemoryRow = tuple[str, str, str, str, str, str, str, str, int, int, int | None, int, str]

LIVE: Final = "m.is_indexed = 1 AND (m.expires_at_ms IS NULL OR m.expires_at_ms > :now_ms)"
"""A condition on `memories AS m`: it may be recalled at `:now_ms`."""

IN_SCOPE: Final = "(:scope IS NULL OR m.scope IN ('', :scope))"
"""A condition on `memories AS m`: it belongs to the scope or to none; all of them when `:scope` is NULL."""


_EMBEDDED: Final = """
    COALESCE((
        SELECT e.revision = m.revision AND e.is_waiting = 0
            AND LENGTH(e.data) = LENGTH(e.layout) / 2 * COALESCE(:vector_bytes, LENGTH(e.data) / (LENGTH(e.layout) / 2))
            {also}
        FROM embeddings AS e WHERE e.memory_no = m.memory_no AND e.embedder_key = :embedder_key
    ), 0)
"""
EMBEDDED: Final = _EMBEDDED.format(also="AND INSTR(e.data, zeroblob(LENGTH(e.data) / (LENGTH(e.layout) / 2))) = 0")
"""Whether `memories AS m` has vectors of the running embedder, all of them sound. Parameters: a `VectorShape`'s."""
HAS_VECTORS: Final = _EMBEDDED.format(also="")
"""As `EMBEDDED`, but for whether they are sound: that alone needs more than the head of a row."""


class VectorShape(msgspec.Struct, frozen=True, kw_only=True):
    """What tells sound vectors of the running embedder.

    Attributes:
        embedder_key: Its key.
        vector_bytes: Length of each; None when it is not known.
    """

    embedder_key: str
    vector_bytes: int | None = None

    @property
    def parameters(self) -> dict[str, str | int | None]:
        """Of a statement with `EMBEDDED` in it."""
        return {"embedder_key": self.embedder_key, "vector_bytes": self.vector_bytes}


def memory_from_row(user: str, row: MemoryRow) -> Memory:
    """A memory of `user` from `MEMORY_COLUMNS`.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    cue_origins, ask_origins = origins_from_text(row[12])
    try:
        return Memory(
            id=row[0],
            user=user,
            text=row[1],
            kind=MemoryKind(row[2]),
            scope=row[3],
            cues=texts_from_json(row[4]),
            asks=texts_from_json(row[5]),
            source=MemorySource(row[6]),
            status=MemoryStatus(row[7]),
            created_at_ms=row[8],
            updated_at_ms=row[9],
            expires_at_ms=row[10],
            revision=row[11],
            cue_origins=cue_origins,
            ask_origins=ask_origins,
        )
    except ValueError as error:  # an enum's, or msgspec's
        raise DamagedRowError(RowKind.MEMORY, row[0]) from error


def sound_memories(rows: Iterable[MemoryRow], user: str) -> list[Memory]:
    """The memories of rows; damaged ones are left out, so that one bad row does not hide the others."""
    found = (_sound_or_none(user, row) for row in rows)
    return [memory for memory in found if memory is not None]


def readable_memory(user: str, row: MemoryRow) -> Memory:
    """A memory from a row that may be damaged: what cannot be read of it stands at its default.

    For taking a damaged memory out of the store, and for finding its words until then.
    """
    return Memory(
        id=row[0],
        user=user,
        text=row[1],
        kind=_member_or(MemoryKind.FACT, row[2]),
        scope=row[3],
        cues=_readable_texts(row[4]),
        asks=_readable_texts(row[5]),
        source=_member_or(MemorySource.IMPORTED, row[6]),
        status=_member_or(MemoryStatus.ACTIVE, row[7]),
        created_at_ms=row[8],
        updated_at_ms=row[9],
        expires_at_ms=row[10],
        revision=row[11],
    )


def _sound_or_none(user: str, row: MemoryRow) -> Memory | None:
    try:
        return memory_from_row(user, row)
    except DamagedRowError:
        return None


def _member_or(default: E, value: str) -> E:
    """The member of the default's enum that has the value; the default when there is none."""
    try:
        return type(default)(value)
    except ValueError:
        return default


def _readable_texts(stored: str) -> tuple[str, ...]:
    try:
        return texts_from_json(stored)
    except msgspec.DecodeError:
        return ()


def json_from_texts(texts: tuple[str, ...]) -> str:
    """Cues or asks as they are stored."""
    return msgspec.json.encode(texts).decode("utf-8")


def texts_from_json(stored: str) -> tuple[str, ...]:
    """Cues or asks from what is stored. Raises `msgspec.DecodeError` for what is no list of texts."""
    return _TEXTS.decode(stored)


def name_from_bytes(name: bytes) -> str:
    """A user's name from what is stored; bytes that are no UTF-8 become U+FFFD, and belong to nobody then."""
    return name.decode("utf-8", "replace")


def user_bytes(user: str) -> bytes:
    """A user's name as it is stored and compared."""
    return user.encode("utf-8")


def decision_from_row(
    row: tuple[str, bytes, str, str, int, str, str, str, str, bytes],
) -> DecisionRow:
    """A ledger row from id, user name, session, op, time, decision, reason, mode, degraded reason and body.

    Raises:
        DamagedRowError: The row cannot be what this program wrote.
    """
    try:
        op = Op(row[3])
    except ValueError as error:
        raise DamagedRowError(RowKind.DECISION, row[0]) from error
    return DecisionRow(
        id=row[0],
        user=name_from_bytes(row[1]),
        session=row[2],
        op=op,
        at_ms=row[4],
        decision=row[5],
        reason=row[6],
        mode=row[7],
        degraded_reason=row[8],
        body=row[9],
    )


def register_functions(db: sqlite3.Connection) -> None:
    """Make the functions that queries use known to a connection, and have damaged text read as far as it is text.

    Functions take text as bytes (`CAST(… AS BLOB)`): one value that is no UTF-8 would otherwise fail the whole query.
    """
    db.text_factory = methodcaller("decode", "utf-8", "replace")
    db.create_function("contains_folded", 2, _contains_folded, deterministic=True)
    db.create_function("is_blank", 1, _is_blank, deterministic=True)
    db.create_function("is_text", 1, is_text, deterministic=True)
    db.create_function("is_text_list", 1, _is_text_list, deterministic=True)


def _contains_folded(text: bytes, needle: str) -> bool:
    return contains_folded(text.decode("utf-8", "replace"), needle)


def _is_blank(text: bytes) -> bool:
    return not text.decode("utf-8", "replace").strip()


def is_text(value: bytes) -> bool:
    """Whether stored bytes are UTF-8."""
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_text_list(value: bytes) -> bool:
    try:
        msgspec.json.decode(value, type=tuple[str, ...])
    except ValueError:  # msgspec's, or of text that is no UTF-8
        return False
    return True
