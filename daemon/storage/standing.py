"""The standing block in the database: what a person decided, and which memories may stand."""

from __future__ import annotations

import sqlite3
from typing import Final

from recalld.actors.store.outcome_rules import no_such_memory, set_decision
from recalld.daemon.storage.ledger import append_decision
from recalld.daemon.storage.memories import find_by_id
from recalld.daemon.storage.rows import LIVE, MEMORY_COLUMNS, MemoryRow, sound_memories
from recalld.daemon.storage.users import find_user
from recalld.models.domain.facts import Generator
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.standing import (
    STANDING_KINDS,
    SetStanding,
    StandingAction,
    StandingCandidate,
    StandingCandidates,
    StandingChoice,
    StandingSet,
)
from recalld.models.policy.standing.block import choice_after, holds_after

_KINDS: Final = ", ".join(f"'{kind.value}'" for kind in sorted(STANDING_KINDS))
# Only constant text is joined into the statement; every value is a parameter. The limit comes before the counting.
_CANDIDATES: Final = f"""
    WITH promoted AS (
        SELECT DISTINCT promoted_to AS id FROM observations WHERE user_no = :user_no AND promoted_to <> ''
    ), standing AS (
        SELECT m.*, c.choice, c.at_ms AS chosen_at_ms, COUNT(*) OVER () AS found FROM memories AS m
        LEFT JOIN standing_choices AS c ON c.user_no = m.user_no AND c.memory_id = m.id
        WHERE m.user_no = :user_no AND {LIVE} AND m.scope IN ('', :scope)
        AND (m.kind IN ({_KINDS}) OR c.choice IN ('pinned', 'demoted'))
        ORDER BY c.choice IS NOT 'pinned', m.created_at_ms DESC, m.id DESC LIMIT :limit
    )
    SELECT {MEMORY_COLUMNS}, m.choice, m.found,
        MAX( -- a turn that led to several facts names the first; those before evidence was kept have none
            (SELECT COUNT(*) FROM turns AS t WHERE t.user_no = m.user_no AND t.memory_id = m.id),
            (SELECT COUNT(*) FROM evidence AS e WHERE e.user_no = m.user_no AND e.holder_id = m.id AND e.turn_id <> '')
        ),
        (SELECT GROUP_CONCAT(DISTINCT e.generator) FROM evidence AS e
            WHERE e.user_no = m.user_no AND e.holder_id = m.id),
        m.id IN (SELECT id FROM promoted),
        COALESCE(SUM(o.result = 'used'), 0), COALESCE(SUM(o.result = 'ignored'), 0),
        COALESCE(SUM(o.result = 'harmful'), 0), COALESCE(SUM(o.result = 'missed'), 0)
    FROM standing AS m LEFT JOIN outcomes AS o ON o.user_no = m.user_no AND o.memory_id = m.id
        AND (m.choice IS NOT 'restored' OR o.recorded_at_ms > m.chosen_at_ms) -- what came before a restoring is past
    GROUP BY m.memory_no ORDER BY m.choice IS NOT 'pinned', m.created_at_ms DESC, m.id DESC
"""  # noqa: S608 - constant text

_Row = tuple[*MemoryRow, str | None, int, int, str | None, int, int, int, int, int]
_MEMORY_CELLS: Final = 13


def set_standing(db: sqlite3.Connection, command: SetStanding) -> StandingSet:
    """Note what a person decided, with its ledger row.

    Raises:
        RecalldError: `NOT_FOUND` for a memory of this user that is not live, or not there.
        DamagedRowError: It is stored in a damaged row.
    """
    user_no = find_user(db, command.user)
    stored = None if user_no is None else find_by_id(db, command.user, user_no, command.memory_id)
    if stored is None or not (stored.is_indexed and stored.memory.is_live(command.now_ms)):
        raise no_such_memory(command.memory_id)
    key = (stored.user_no, command.memory_id)
    before = _choice(db, key)
    by_kind = stored.memory.kind in STANDING_KINDS
    reports, counted = _reports(db, key)
    choice = choice_after(command.action, before, by_kind=by_kind, has_reports=reports > 0)
    is_fresh_start = command.action is StandingAction.RESTORE and counted > 0
    is_changed = choice is not before or (choice is StandingChoice.RESTORED and is_fresh_start)
    if choice is None:
        db.execute("DELETE FROM standing_choices WHERE user_no = ? AND memory_id = ?", key)
    elif is_changed:
        db.execute("INSERT OR REPLACE INTO standing_choices VALUES (?, ?, ?, ?)", (*key, choice.value, command.now_ms))
    decision = set_decision(command, is_changed=is_changed)
    append_decision(db, decision)
    return StandingSet(
        choice=choice,
        is_standing=holds_after(choice, by_kind=by_kind),
        is_changed=is_changed,
        decision_id=decision.id,
    )


def standing_candidates(
    db: sqlite3.Connection, user: str, scope: str, *, now_ms: int, limit: int
) -> StandingCandidates:
    """Live memories of the scope and the global one that may stand, pinned ones first, then the newest.

    Damaged ones are left out. Costs one walk over the user's live memories, and the reports on those that may stand.
    """
    parameters = {"user_no": find_user(db, user), "now_ms": now_ms, "scope": scope, "limit": max(limit, 0)}
    rows: list[_Row] = db.execute(_CANDIDATES, parameters).fetchall()
    found = rows[0][14] if rows else 0
    return StandingCandidates(
        candidates=tuple(candidate for row in rows for candidate in _candidates(user, row)), unread=found - len(rows)
    )


def _candidates(user: str, row: _Row) -> list[StandingCandidate]:
    """The candidate of a row; none when its memory is damaged."""
    choice, _, turns, found_by, is_promoted, used, ignored, harmful, missed = row[_MEMORY_CELLS:]
    return [
        StandingCandidate(
            memory=memory,
            tally=OutcomeTally(used=used, ignored=ignored, harmful=harmful, missed=missed),
            turns=turns,
            found_by=frozenset(map(Generator, found_by.split(",") if found_by else ())),
            is_promoted=bool(is_promoted),
            choice=None if choice is None else StandingChoice(choice),
        )
        for memory in sound_memories((row[:_MEMORY_CELLS],), user)
    ]


def _reports(db: sqlite3.Connection, key: tuple[int, str]) -> tuple[int, int]:
    """How many reports there are on a memory, and how many of them count: those since it was restored."""
    row: tuple[int, int] = db.execute(
        "SELECT COUNT(*), COALESCE(SUM(c.at_ms IS NULL OR o.recorded_at_ms > c.at_ms), 0) FROM outcomes AS o"
        " LEFT JOIN standing_choices AS c"
        " ON c.user_no = o.user_no AND c.memory_id = o.memory_id AND c.choice = 'restored'"
        " WHERE o.user_no = ? AND o.memory_id = ?",
        key,
    ).fetchone()
    return row


def _choice(db: sqlite3.Connection, key: tuple[int, str]) -> StandingChoice | None:
    row: tuple[str] | None = db.execute(
        "SELECT choice FROM standing_choices WHERE user_no = ? AND memory_id = ?", key
    ).fetchone()
    return None if row is None else StandingChoice(row[0])
