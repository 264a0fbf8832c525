"""A statement that fails in the middle of a write leaves nothing of it, whichever statement it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from recalld.daemon.storage import admission, remember
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.migrations import MigrationContext, migrate
from recalld.daemon.storage.rows import register_functions
from recalld.daemon.storage.search_rows import prepare_index
from recalld.daemon.storage.transactions import in_transaction
from recalld.models.domain.admission_store import (
    AdmissionLimits,
    AdmitTurn,
    Confirm,
    Confirmed,
    Evidence,
    FactWrite,
    TurnAdmitted,
)
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import NewMemory
from recalld.models.domain.store import DecisionRow, Remember, Remembered

NOW_MS = 1_790_000_000_000
LIMITS = AdmissionLimits(promote_after=1, promote_sessions=1, records_max=9)
Write = Callable[[sqlite3.Connection, ChangeNotes], TurnAdmitted | Confirmed | Remembered]


class FailingConnection(sqlite3.Connection):
    """A connection whose statement of a given number fails."""

    left: int | None = None

    def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
        self._count(sql)
        return super().execute(sql, parameters)  # type: ignore[arg-type]

    def executemany(self, sql: str, parameters: object, /) -> sqlite3.Cursor:
        self._count(sql)
        return super().executemany(sql, parameters)  # type: ignore[arg-type]

    def _count(self, sql: str) -> None:
        if self.left is None or sql in {"BEGIN IMMEDIATE", "ROLLBACK"}:
            return
        if self.left == 0:
            message = "scripted: disk I/O error"
            raise sqlite3.OperationalError(message)
        self.left -= 1


@pytest.fixture
def db() -> Iterator[FailingConnection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None, factory=FailingConnection)) as connection:
        register_functions(connection)
        connection.execute("PRAGMA foreign_keys = ON")
        migrate(connection, MigrationContext(now_ms=0, secret=b"s" * 32))
        prepare_index(connection)
        yield connection


def decision(number: int) -> DecisionRow:
    return DecisionRow(
        id=f"dec-{number}", user="ines", session="s", op=Op.OBSERVE, at_ms=NOW_MS, decision="", reason=""
    )


def a_fact(number: int, text: str, disposition: Disposition, **slot: str) -> FactWrite:
    return FactWrite(
        memory=NewMemory(user="ines", text=text),
        memory_id=f"mem-{number}",
        note_id=f"note-{number}",
        disposition=disposition,
        evidence=Evidence(
            session="s",
            turn_id=f"t{number}",
            at_ms=NOW_MS,
            generator=Generator.MODEL,
            rule="r",
            reason=AdmissionReason.MODEL_FOUND,
            quote="as said",
        ),
        **slot,
    )


def saved(db: sqlite3.Connection, notes: ChangeNotes) -> Remembered:
    command = Remember(
        memory=NewMemory(user="ines", text="Works at Acme"), memory_id="mem-0", now_ms=NOW_MS, decision=decision(0)
    )
    return remember.remember(db, notes, command)


def proposed(db: sqlite3.Connection, notes: ChangeNotes) -> TurnAdmitted:
    write = a_fact(7, "Call me Zed.", Disposition.PROPOSE)
    command = AdmitTurn(user="ines", session="s", now_ms=NOW_MS, writes=(write,), decision=decision(7))
    return admission.admit_turn(db, notes, command)


def admitted(db: sqlite3.Connection, notes: ChangeNotes) -> TurnAdmitted:
    command = AdmitTurn(
        user="ines",
        session="s",
        turn_key="s\x1ft1",
        now_ms=NOW_MS + 1,
        writes=(
            a_fact(1, "The user works at Initech.", Disposition.RECORD, slot="employer", value="Initech"),
            a_fact(2, "The user likes tea.", Disposition.OBSERVE),
            a_fact(3, "Use metric units.", Disposition.PROPOSE),
            a_fact(4, "the user likes  tea", Disposition.RECORD),
        ),
        limits=LIMITS,
        decision=decision(1),
    )
    return admission.admit_turn(db, notes, command)


def confirmed(db: sqlite3.Connection, notes: ChangeNotes) -> Confirmed:
    command = Confirm(
        user="ines",
        proposal_id="note-7",
        is_accepted=True,
        now_ms=NOW_MS + 1,
        memory_id="mem-8",
        limits=LIMITS,
        decision=decision(8),
    )
    return admission.confirm(db, notes, command)


def saved_newer(db: sqlite3.Connection, notes: ChangeNotes) -> Remembered:
    command = Remember(
        memory=NewMemory(user="ines", text="Works at Globex"),
        memory_id="mem-9",
        now_ms=NOW_MS + 1,
        turn_key="s\x1ft9",
        records_max=9,
        decision=decision(9),
    )
    return remember.remember(db, notes, command)


def written(db: sqlite3.Connection, write: Write) -> TurnAdmitted | Confirmed | Remembered:
    return in_transaction(db, lambda db: write(db, ChangeNotes(db)))


def dump(db: sqlite3.Connection) -> list[str]:
    return list(db.iterdump())


@pytest.mark.parametrize("write", [admitted, confirmed, saved_newer])
def test_whichever_statement_fails_nothing_is_stored_and_trying_again_works(
    db: FailingConnection, write: Write
) -> None:
    written(db, saved)
    written(db, proposed)
    before = dump(db)
    failures = 0
    while True:
        db.left = failures
        try:
            answer = written(db, write)
        except sqlite3.OperationalError:
            db.left = None
            assert dump(db) == before
            failures += 1
        else:
            break
    db.left = None
    assert failures > 20
    assert dump(db) != before
    match answer:
        case TurnAdmitted(results=results):
            assert [result.outcome for result in results] == ["superseded", "promoted", "observed", "duplicate"]
        case Confirmed(result=result):
            assert result is not None
            assert result.outcome == "created"
        case Remembered(superseded=superseded):
            assert superseded == ("mem-0",)
