"""Turns that wait for a language model: put there, read in order, and removed once something became of them."""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.actors.store.forgetting_rules import Reach
from recalld.daemon.storage.rows import json_from_texts, name_from_bytes, texts_from_json
from recalld.daemon.storage.users import ensure_user, find_user
from recalld.models.domain.extraction import AppendPending, PendingCounts, PendingTurn, SettlePending

_COLUMNS: Final = (
    "number, session, turn_id, text, at_ms, time_zone, scope, client, injected, added_at_ms, group_no, failures"
)
_KEY_SEPARATOR: Final = "\x1f"
_Cells = tuple[int, str, str, str, int, str, str, str, str, int, int, int]


def append_pending(db: sqlite3.Connection, command: AppendPending) -> bool:
    """Put a turn there; False when it waits already, was decided about before, or too many wait."""
    turn, user_no = command.turn, ensure_user(db, command.user)
    is_known = db.execute(
        "SELECT 1 FROM turns WHERE user_no = ? AND turn_key = ?",
        (user_no, f"{turn.session}{_KEY_SEPARATOR}{turn.turn_id}"),
    ).fetchone()
    count: tuple[int] = db.execute("SELECT COUNT(*) FROM pending_turns WHERE user_no = ?", (user_no,)).fetchone()
    if is_known is not None:
        return False
    if count[0] >= command.pending_max:
        _note_overflow(db, user_no, turn)
        return False
    made = db.execute(
        "INSERT INTO pending_turns (user_no, session, turn_id, text, at_ms, time_zone, scope, client, injected,"
        " added_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            user_no,
            turn.session,
            turn.turn_id,
            turn.text,
            turn.at_ms,
            turn.time_zone,
            turn.scope,
            turn.client,
            json_from_texts(turn.injected),
            turn.added_at_ms,
        ),
    )
    return made.rowcount == 1


def _note_overflow(db: sqlite3.Connection, user_no: int, turn: PendingTurn) -> None:
    """Count a turn that finds no room; one that waits already, delivered again, is not lost."""
    waits = db.execute(
        "SELECT 1 FROM pending_turns WHERE user_no = ? AND session = ? AND turn_id = ?",
        (user_no, turn.session, turn.turn_id),
    ).fetchone()
    if waits is None:
        db.execute(
            "INSERT INTO pending_expiries (user_no, expired, overflowed) VALUES (?, 0, 1)"
            " ON CONFLICT DO UPDATE SET overflowed = overflowed + 1",
            (user_no,),
        )


def settle_pending(db: sqlite3.Connection, command: SettlePending) -> PendingCounts:
    """Note what became of turns; how many are left."""
    user_no = find_user(db, command.user)
    if user_no is None:
        return PendingCounts()
    _remove(db, user_no, command.read)
    expired = _remove(db, user_no, command.expired)
    if expired:
        db.execute(
            "INSERT INTO pending_expiries (user_no, expired) VALUES (?1, ?2)"
            " ON CONFLICT DO UPDATE SET expired = expired + ?2",
            (user_no, expired),
        )
    db.executemany(
        "UPDATE pending_turns SET group_no = ?, failures = ? WHERE user_no = ? AND number = ?",
        [(each.group, each.failures, user_no, each.number) for each in command.failed],
    )
    db.executemany(
        "UPDATE pending_turns SET is_set_aside = 1, failures = failures + 1 WHERE user_no = ? AND number = ?",
        [(user_no, number) for number in command.set_aside],
    )
    db.execute(
        "UPDATE pending_turns SET is_set_aside = 0, group_no = number WHERE number IN (SELECT number FROM pending_turns"
        " WHERE user_no = ? AND is_set_aside = 1 ORDER BY failures, number LIMIT ?)",
        (user_no, command.retried),
    )
    return pending_counts(db, command.user)


def pending_turns(db: sqlite3.Connection, user: str, *, limit: int) -> tuple[PendingTurn, ...]:
    """Turns that wait and were not set aside, in order of arrival."""
    rows: list[_Cells] = db.execute(
        f"SELECT {_COLUMNS} FROM pending_turns WHERE user_no = ? AND is_set_aside = 0 ORDER BY number LIMIT ?",  # noqa: S608 - constant text
        (find_user(db, user), limit),
    ).fetchall()
    return tuple(map(_turn, rows))


def pending_users(db: sqlite3.Connection) -> tuple[str, ...]:
    """Users with turns that wait and were not set aside, by the age of their oldest."""
    rows: list[tuple[bytes]] = db.execute(
        "SELECT name FROM users JOIN pending_turns USING (user_no) WHERE is_set_aside = 0"
        " GROUP BY user_no ORDER BY MIN(number)"
    ).fetchall()
    return tuple(name_from_bytes(name) for (name,) in rows)


def pending_counts(db: sqlite3.Connection, user: str | None) -> PendingCounts:
    """How many turns wait, of one user or (None) of all."""
    user_no = -1 if user is None else find_user(db, user)
    row: tuple[int, int, int | None] = db.execute(
        "SELECT COUNT(*) FILTER (WHERE is_set_aside = 0), COUNT(*) FILTER (WHERE is_set_aside = 1),"
        " MIN(added_at_ms) FILTER (WHERE is_set_aside = 0) FROM pending_turns WHERE ?1 = -1 OR user_no = ?1",
        (user_no,),
    ).fetchone()
    lost: tuple[int, int] = db.execute(
        "SELECT COALESCE(SUM(expired), 0), COALESCE(SUM(overflowed), 0) FROM pending_expiries"
        " WHERE ?1 = -1 OR user_no = ?1",
        (user_no,),
    ).fetchone()
    return PendingCounts(waiting=row[0], set_aside=row[1], expired=lost[0], overflowed=lost[1], oldest_at_ms=row[2])


def forget_pending(db: sqlite3.Connection, user_no: int, reach: Reach) -> None:
    """Remove turns that speak for a memory, or repeat its words; while its evidence is still there."""
    spoke = db.execute(
        "SELECT session, turn_id FROM evidence WHERE user_no = ? AND holder_id = ?", (user_no, reach.memory_id)
    ).fetchall()
    rows: list[tuple[int, str, str, str]] = db.execute(
        "SELECT number, session, turn_id, text FROM pending_turns WHERE user_no = ?", (user_no,)
    ).fetchall()
    gone = [number for number, session, turn_id, text in rows if (session, turn_id) in spoke or reach.holds_quote(text)]
    _remove(db, user_no, tuple(gone))


def _remove(db: sqlite3.Connection, user_no: int, numbers: tuple[int, ...]) -> int:
    """Remove turns; how many of them were there."""
    return sum(
        db.execute("DELETE FROM pending_turns WHERE user_no = ? AND number = ?", (user_no, number)).rowcount
        for number in numbers
    )


def _turn(cells: _Cells) -> PendingTurn:
    number, session, turn_id, text, at_ms, time_zone, scope, client, injected, added_at_ms, group, failures = cells
    return PendingTurn(
        number=number,
        session=session,
        turn_id=turn_id,
        text=text,
        at_ms=at_ms,
        time_zone=time_zone,
        scope=scope,
        client=client,
        injected=texts_from_json(injected),
        added_at_ms=added_at_ms,
        group=group,
        failures=failures,
    )
