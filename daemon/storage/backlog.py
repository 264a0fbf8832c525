"""What waits for people, and how full memories are: read for all users at once."""

from __future__ import annotations

import sqlite3
from typing import Final

import msgspec

from recalld.daemon.storage.rows import LIVE

# Only constant text is joined into the statements below; every value is a parameter.
_PROPOSALS: Final = """
    SELECT COUNT(*) FILTER (WHERE expires_at_ms > :now_ms),
    MIN(created_at_ms) FILTER (WHERE expires_at_ms > :now_ms),
    COUNT(*) FILTER (WHERE expires_at_ms <= :now_ms AND expires_at_ms > :since_ms)
    FROM proposals WHERE state = 'pending'
"""
_OBSERVATIONS: Final = "SELECT COUNT(*), MIN(first_at_ms) FROM observations WHERE promoted_to = ''"
_ASKS: Final = f"SELECT COUNT(*), COUNT(*) FILTER (WHERE m.asks = '[]') FROM memories AS m WHERE {LIVE}"  # noqa: S608 - constant text
_FULLEST: Final = f"""
    SELECT COUNT(*), COALESCE(SUM(LENGTH(m.text)), 0) FROM memories AS m WHERE {LIVE} GROUP BY m.user_no, m.scope
"""  # noqa: S608 - constant text


class ProposalBacklog(msgspec.Struct, frozen=True, kw_only=True):
    """Proposals without an answer.

    Attributes:
        waiting: How many still wait.
        oldest_at_ms: When the first of those was made, Unix epoch milliseconds; None: none waits.
        unseen: How many expired lately without an answer.
    """

    waiting: int = 0
    oldest_at_ms: int | None = None
    unseen: int = 0


class ObservationBacklog(msgspec.Struct, frozen=True, kw_only=True):
    """Observations that are no records yet, and when the first of them was made."""

    waiting: int = 0
    oldest_at_ms: int | None = None


class AskCoverage(msgspec.Struct, frozen=True, kw_only=True):
    """Live records, and how many of them say no question that they answer."""

    live: int = 0
    without_asks: int = 0


def proposal_backlog(db: sqlite3.Connection, *, now_ms: int, since_ms: int) -> ProposalBacklog:
    """Proposals without an answer, of all users; of expired ones those that expired after `since_ms`."""
    waiting, oldest_at_ms, unseen = db.execute(_PROPOSALS, {"now_ms": now_ms, "since_ms": since_ms}).fetchone()
    return ProposalBacklog(waiting=waiting, oldest_at_ms=oldest_at_ms, unseen=unseen)


def observation_backlog(db: sqlite3.Connection) -> ObservationBacklog:
    """Observations of all users."""
    waiting, oldest_at_ms = db.execute(_OBSERVATIONS).fetchone()
    return ObservationBacklog(waiting=waiting, oldest_at_ms=oldest_at_ms)


def ask_coverage(db: sqlite3.Connection, *, now_ms: int) -> AskCoverage:
    """How many live records of all users carry no asks."""
    live, without_asks = db.execute(_ASKS, {"now_ms": now_ms}).fetchone()
    return AskCoverage(live=live, without_asks=without_asks)


def scope_sizes(db: sqlite3.Connection, *, now_ms: int) -> tuple[tuple[int, int], ...]:
    """Live records and their characters, without separators, of each scope of each user. Reads every length."""
    rows: list[tuple[int, int]] = db.execute(_FULLEST, {"now_ms": now_ms}).fetchall()
    return tuple(rows)
