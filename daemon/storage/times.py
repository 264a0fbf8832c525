"""Memories by time: whether one lies in some windows, and the newest that do.

A memory has two times, when it was made and when it last changed; it lies in a window when either does.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.daemon.storage.rows import IN_SCOPE, LIVE, MEMORY_COLUMNS, sound_memories
from recalld.daemon.storage.users import find_user
from recalld.models.domain.records import Memory
from recalld.models.domain.time_window import TimeWindow

_EARLIEST_MS: Final = -(2**63)
_LATEST_MS: Final = 2**63 - 1

IN_WINDOWS: Final = """
    (:windows IS NULL OR EXISTS (
        SELECT 1 FROM json_each(:windows) AS w
        WHERE (m.created_at_ms >= w.value ->> 0 AND m.created_at_ms < w.value ->> 1)
        OR (m.updated_at_ms >= w.value ->> 0 AND m.updated_at_ms < w.value ->> 1)
    ))
"""
"""A condition on `memories AS m`: it lies in one of the windows; all of them when `:windows` is NULL."""

_WITHIN: Final = f"""
    SELECT {MEMORY_COLUMNS} FROM (
        SELECT memory_no, MAX(at_ms) AS at_ms FROM ({{arms}}) GROUP BY memory_no
    ) AS found JOIN memories AS m USING (memory_no)
    ORDER BY found.at_ms DESC, m.id DESC LIMIT :limit
"""  # noqa: S608 - only constants are joined; every value is a parameter
_ARM: Final = f"""
    SELECT * FROM (
        SELECT m.memory_no, m.{{column}} AS at_ms FROM memories AS m
        WHERE m.user_no = :user_no AND m.{{column}} >= :start_{{place}} AND m.{{column}} < :end_{{place}}
        AND {LIVE} AND {IN_SCOPE} ORDER BY m.{{column}} DESC, m.id DESC LIMIT :limit
    )
"""  # noqa: S608 - as above


def windows_parameter(windows: Sequence[TimeWindow]) -> str | None:
    """The windows as `IN_WINDOWS` takes them; None for no restriction."""
    return msgspec.json.encode([_bounds(window) for window in windows]).decode() if windows else None


def find_within(
    db: sqlite3.Connection, user: str, windows: Sequence[TimeWindow], *, now_ms: int, limit: int, scope: str | None
) -> list[Memory]:
    """Live memories that lie in any of the windows, newest first by the later of their times that does.

    Each window is walked from its end through an index and left after `limit` rows, so that a window of years costs no
    more than a day. Damaged ones are left out.
    """
    user_no = find_user(db, user)
    if user_no is None or not windows or limit <= 0:
        return []
    parameters: dict[str, str | int | None] = {"user_no": user_no, "now_ms": now_ms, "scope": scope, "limit": limit}
    arms = []
    for place, window in enumerate(windows):
        parameters[f"start_{place}"], parameters[f"end_{place}"] = _bounds(window)
        arms += [_ARM.format(column=column, place=place) for column in ("created_at_ms", "updated_at_ms")]
    rows = db.execute(_WITHIN.format(arms=" UNION ALL ".join(arms)), parameters).fetchall()
    return list(sound_memories(rows, user))


def _bounds(window: TimeWindow) -> tuple[int, int]:
    return (
        _EARLIEST_MS if window.start_ms is None else window.start_ms,
        _LATEST_MS if window.end_ms is None else window.end_ms,
    )
