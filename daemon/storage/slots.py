"""What memories state values of: rows of the table `memory_slots`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from recalld.daemon.storage.admission_rows import SLOT_COLUMNS, SlotRow, slot_from_row
from recalld.daemon.storage.rows import LIVE, MEMORY_COLUMNS, MemoryRow, sound_memories
from recalld.models.domain.admission_store import SlotHolder, SlotValue
from recalld.models.domain.records import Memory

_MEMORY_CELLS: Final = 13
# Only constant text is joined into the statements below; every value is a parameter.
_HOLDERS: Final = f"""
    SELECT {MEMORY_COLUMNS}, {SLOT_COLUMNS} FROM memory_slots AS s CROSS JOIN memories AS m USING (memory_no)
    WHERE s.user_no = :user_no AND s.slot = :slot AND s.subject = :subject AND m.scope = :scope AND {LIVE}
    ORDER BY m.created_at_ms, m.id, s.place
"""  # noqa: S608 - constant text
_OF_MEMORY: Final = f"""
    SELECT {SLOT_COLUMNS} FROM memories AS m JOIN memory_slots AS s USING (memory_no)
    WHERE m.id = ? AND m.user_no = ? ORDER BY s.place
"""  # noqa: S608 - constant text
_UNREAD: Final = f"""
    SELECT {MEMORY_COLUMNS} FROM memories AS m WHERE m.user_no = :user_no AND m.has_slots_read = 0 AND {LIVE}
    ORDER BY m.created_at_ms DESC, m.id DESC LIMIT :limit
"""  # noqa: S608 - constant text


def holders(
    db: sqlite3.Connection, user: str, user_no: int | None, scope: str, name: tuple[str, str], *, now_ms: int
) -> tuple[SlotHolder, ...]:
    """Live memories of a scope that hold a slot, by slot and subject, oldest first; damaged ones are left out."""
    slot, subject = name
    parameters = {"user_no": user_no, "slot": slot, "subject": subject, "scope": scope, "now_ms": now_ms}
    rows: Iterable[tuple[*MemoryRow, *SlotRow]] = db.execute(_HOLDERS, parameters)
    return tuple(
        SlotHolder(memory=memory, value=slot_from_row(row[_MEMORY_CELLS:]))
        for row in rows
        for memory in sound_memories((row[:_MEMORY_CELLS],), user)
    )


def slots_of(db: sqlite3.Connection, user_no: int | None, memory_id: str) -> tuple[SlotValue, ...]:
    """What a memory states values of."""
    rows: list[SlotRow] = db.execute(_OF_MEMORY, (memory_id, user_no)).fetchall()
    return tuple(map(slot_from_row, rows))


def put_slots(db: sqlite3.Connection, user_no: int, memory_id: str, slots: Sequence[SlotValue]) -> None:
    """Note what a memory states values of, in place of what was noted."""
    row: tuple[int] = db.execute(
        "UPDATE memories SET has_slots_read = 1 WHERE id = ? AND user_no = ? RETURNING memory_no", (memory_id, user_no)
    ).fetchone()
    db.execute("DELETE FROM memory_slots WHERE memory_no = ?", row)
    db.executemany(
        "INSERT INTO memory_slots (memory_no, place, user_no, slot, subject, value, is_single_valued)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (row[0], place, user_no, each.slot, each.subject, each.value, each.is_single_valued)
            for place, each in enumerate(slots)
        ],
    )


def unread(db: sqlite3.Connection, user: str, user_no: int, *, now_ms: int, limit: int) -> tuple[Memory, ...]:
    """Live memories of which nobody noted what they state values of, newest first; damaged ones are left out."""
    rows: list[MemoryRow] = db.execute(_UNREAD, {"user_no": user_no, "now_ms": now_ms, "limit": limit}).fetchall()
    return tuple(sound_memories(rows, user))
