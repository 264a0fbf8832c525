"""Decisions that are kept for an audit: written, listed, marked, counted, and taken away with what they are about."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from recalld.actors.store.forgetting_rules import Reach, Sought
from recalld.daemon.storage.users import find_user
from recalld.models.domain.audit_samples import (
    AppendSamples,
    MarkSample,
    Sample,
    SampleAnswer,
    SampleGroup,
    SampleKind,
    SamplePage,
)
from recalld.models.domain.errors import ErrorCode, RecalldError

_COLUMNS: Final = (
    "id, kind, decision_id, memory_id, text, probability, relevance, reason, at_ms, answer, marked_at_ms, marked_by"
)
_Cells = tuple[str, str, str, str, str, float, float | None, str, int, str, int, str]
# A decision that a purge took out of the ledger, or a memory that was forgotten meanwhile, leaves no sample behind.
_APPEND: Final = f"""
    INSERT INTO audit_samples ({_COLUMNS}, user_no)
    SELECT :id, :kind, :decision_id, :memory_id, :text, :probability, :relevance, :reason, :at_ms, '', 0, '', :user_no
    WHERE EXISTS (SELECT 1 FROM decisions WHERE id = :decision_id AND user_no = :user_no)
        AND (:memory_id = '' OR EXISTS (
            SELECT 1 FROM memories WHERE user_no = :user_no AND id = :memory_id AND status <> 'forgotten'
        ))
    ON CONFLICT (id) DO NOTHING
"""  # noqa: S608 - constant text
_TRIM: Final = """
    DELETE FROM audit_samples WHERE user_no = ?1 AND id IN (
        SELECT id FROM audit_samples WHERE user_no = ?1 ORDER BY at_ms DESC, id DESC LIMIT -1 OFFSET ?2
    )
"""
_WANTED: Final = """
    FROM audit_samples
    WHERE user_no = :user_no AND kind IN (SELECT value FROM json_each(:kinds)) AND (answer <> '') = :is_marked
        AND (:is_marked OR CASE kind WHEN 'record' THEN memory_id <> '' ELSE text <> '' END)
"""


def append_samples(db: sqlite3.Connection, command: AppendSamples) -> int:
    """Keep samples, in the caller's transaction, and let the user's oldest go; returns how many were kept."""
    user_no = find_user(db, command.user)
    if user_no is None:
        return 0
    kept = 0
    for sample in command.samples:
        values = {
            "id": sample.id,
            "user_no": user_no,
            "kind": sample.kind.value,
            "decision_id": sample.decision_id,
            "memory_id": sample.memory_id,
            "text": sample.text,
            "probability": sample.probability,
            "relevance": sample.relevance,
            "reason": sample.reason,
            "at_ms": sample.at_ms,
        }
        kept += db.execute(_APPEND, values).rowcount
    db.execute(_TRIM, (user_no, command.rows_max))
    return kept


def mark_sample(db: sqlite3.Connection, command: MarkSample) -> None:
    """Note what somebody says of a sample.

    Raises:
        RecalldError: `NOT_FOUND`.
    """
    user_no = find_user(db, command.user)
    mark = ("", 0, "") if command.answer is None else (command.answer.value, command.at_ms, command.by)
    changed = db.execute(
        "UPDATE audit_samples SET answer = ?, marked_at_ms = ?, marked_by = ? WHERE id = ? AND user_no = ?",
        (*mark, command.sample_id, user_no),
    ).rowcount
    if not changed:
        raise no_sample(command.sample_id)


def no_sample(sample_id: str) -> RecalldError:
    """What a mark on a sample is told that is not there."""
    message = f"sample_id: there is no sample {sample_id!r} of this user; it may be too old, or was forgotten"
    return RecalldError(ErrorCode.NOT_FOUND, message)


def find_samples(
    db: sqlite3.Connection, user: str, kinds: Sequence[SampleKind], *, is_marked: bool, limit: int
) -> SamplePage:
    """The newest samples of some kinds that are marked, or that are not and can be judged."""
    user_no = find_user(db, user)
    if user_no is None:
        return SamplePage()
    wanted = {
        "user_no": user_no,
        "kinds": "[" + ",".join(f'"{kind.value}"' for kind in kinds) + "]",
        "is_marked": int(is_marked),
        "limit": limit,
    }
    rows: list[_Cells] = db.execute(
        f"SELECT {_COLUMNS} {_WANTED} ORDER BY at_ms DESC, id LIMIT :limit",
        wanted,
    ).fetchall()
    total: int = db.execute(f"SELECT COUNT(*) {_WANTED}", wanted).fetchone()[0]
    return SamplePage(samples=tuple(map(_sample, rows)), left=total - len(rows))


def count_samples(db: sqlite3.Connection, user: str | None, *, since_ms: int) -> tuple[SampleGroup, ...]:
    """Samples since a time, of a user or (None) of all, by kind and probability."""
    user_no = -1 if user is None else find_user(db, user)
    rows = db.execute(
        "SELECT kind, probability, COUNT(*),"
        " SUM(answer = 'yes'), SUM(answer = 'no'), SUM(answer = 'unsure'), MIN(at_ms)"
        " FROM audit_samples WHERE at_ms >= ?2 AND (?1 = -1 OR user_no = ?1) GROUP BY kind, probability ORDER BY 1, 2",
        (user_no, since_ms),
    )
    return tuple(
        SampleGroup(
            kind=SampleKind(kind), probability=chance, sampled=sampled, yes=yes, no=no, unsure=unsure, first_at_ms=first
        )
        for kind, chance, sampled, yes, no, unsure, first in rows
    )


def forget_samples(db: sqlite3.Connection, user_no: int, reach: Reach) -> None:
    """Blank what names a memory or repeats its words; that something was sampled, and the mark, stay as figures."""
    db.execute(
        "UPDATE audit_samples SET memory_id = '', text = '' WHERE user_no = ? AND memory_id = ?",
        (user_no, reach.memory_id),
    )
    _blank(db, [(id_,) for id_, text in _texts(db, user_no) if reach.holds_quote(text)])


def forget_sought(db: sqlite3.Connection, user_no: int, sought: Sought) -> None:
    """Blank turns that hold the words by which a person has things forgotten."""
    _blank(db, [(id_,) for id_, text in _texts(db, user_no) if sought.is_in(text)])


def trim_samples(db: sqlite3.Connection, before_ms: int) -> None:
    """Drop samples of decisions made before a time, inside the caller's transaction."""
    db.execute("DELETE FROM audit_samples WHERE at_ms < ?", (before_ms,))


def _texts(db: sqlite3.Connection, user_no: int) -> list[tuple[str, str]]:
    return db.execute("SELECT id, text FROM audit_samples WHERE user_no = ? AND text <> ''", (user_no,)).fetchall()


def _blank(db: sqlite3.Connection, ids: Sequence[tuple[str]]) -> None:
    db.executemany("UPDATE audit_samples SET text = '' WHERE id = ?", ids)


def _sample(cells: _Cells) -> Sample:
    id_, kind, decision_id, memory_id, text, probability, relevance, reason, at_ms, answer, marked_at_ms, by = cells
    return Sample(
        id=id_,
        kind=SampleKind(kind),
        decision_id=decision_id,
        memory_id=memory_id,
        text=text,
        probability=probability,
        relevance=relevance,
        reason=reason,
        at_ms=at_ms,
        answer=SampleAnswer(answer) if answer else None,
        marked_at_ms=marked_at_ms,
        marked_by=by,
    )
