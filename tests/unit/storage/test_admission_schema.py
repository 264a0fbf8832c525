"""The write path's tables: an older database gets them, and no table of a user is left out when the user goes."""

from __future__ import annotations

import sqlite3

import pytest

from recalld.actors.store import slot_settling
from recalld.daemon.storage import admission, forget
from recalld.daemon.storage.changes import ChangeNotes
from recalld.daemon.storage.errors import DamagedRowError
from recalld.daemon.storage.memories import insert_memory
from recalld.daemon.storage.migrations import MIGRATIONS, MigrationContext, migrate
from recalld.daemon.storage.noted_facts import find_observation, find_proposal
from recalld.daemon.storage.rows import register_functions
from recalld.daemon.storage.search_rows import prepare_index
from recalld.daemon.storage.transactions import in_transaction
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.admission_store import AdmitTurn, Evidence, FactWrite, TurnAdmitted
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus, NewMemory
from recalld.models.domain.store import DecisionRow
from recalld.models.domain.user_data import PurgeUser

NOW_MS = 1_790_000_000_000
CONTEXT = MigrationContext(now_ms=0, secret=b"s" * 32)
BEFORE = 8
"""The schema version without these tables."""


def stored(db: sqlite3.Connection, number: int, text: str) -> None:
    memory = Memory(
        id=f"mem-{number}",
        user="ines",
        text=text,
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=NOW_MS + number,
        updated_at_ms=NOW_MS + number,
        expires_at_ms=None,
        revision=1,
    )
    insert_memory(db, ensure_user(db, "ines"), memory, text.encode())


def older_database(db: sqlite3.Connection, *texts: str) -> None:
    """A database as it was before, with memories, and then brought up to date."""
    register_functions(db)
    migrate(db, CONTEXT, MIGRATIONS[:BEFORE])
    prepare_index(db)
    for number, text in enumerate(texts, start=1):
        stored(db, number, text)
    migrate(db, CONTEXT)


def end(db: sqlite3.Connection, value: str, number: int = 1) -> TurnAdmitted:
    write = FactWrite(
        memory=NewMemory(user="ines", text="ended"),
        memory_id=f"mem-e{number}",
        note_id=f"note-{number}",
        disposition=Disposition.RECORD,
        slot="employer",
        value=value,
        is_ending=True,
        evidence=Evidence(
            at_ms=NOW_MS, generator=Generator.RULE, rule="r", reason=AdmissionReason.CORRECTION, turn_id="t"
        ),
    )
    command = AdmitTurn(
        user="ines",
        session="s",
        now_ms=NOW_MS,
        writes=(write,),
        decision=DecisionRow(
            id=f"dec-{number}", user="ines", session="s", op=Op.OBSERVE, at_ms=NOW_MS, decision="", reason=""
        ),
    )
    return in_transaction(db, lambda db: admission.admit_turn(db, ChangeNotes(db), command))


def unread(db: sqlite3.Connection) -> int:
    count: int = db.execute("SELECT COUNT(*) FROM memories WHERE has_slots_read = 0").fetchone()[0]
    return count


def test_memories_of_an_older_database_are_read_for_slots_when_one_matters(db: sqlite3.Connection) -> None:
    # A08: "Works at Acme" was saved before anybody noted slots.
    older_database(db, "Prefers tea", "Works at Acme", "Works at Acme as a data engineer")
    assert unread(db) == 3
    assert end(db, "Acme").results[0].superseded == ("mem-2", "mem-3")
    assert unread(db) == 0


def test_so_many_older_memories_are_read_at_once_and_the_rest_next_time(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slot_settling, "UNREAD_MAX", 2)
    older_database(db, "Works at Acme", "Prefers tea", "Prefers rum")
    assert end(db, "Acme").results[0].superseded == ()
    assert unread(db) == 1
    assert end(db, "Acme", 2).results[0].superseded == ("mem-1",)


def test_every_table_of_a_user_is_emptied_by_a_purge(db: sqlite3.Connection) -> None:
    older_database(db, "Works at Acme")
    end(db, "Acme")
    tables = {
        name
        for (name,) in db.execute(
            "SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c"
            " WHERE m.type = 'table' AND c.name = 'user_no'"
        )
    }
    purged = in_transaction(db, lambda db: forget.purge_user(db, ChangeNotes(db), PurgeUser(user="ines")))
    assert purged.memories == 1
    rows = {table: db.execute(f"SELECT 1 FROM {table}").fetchone() for table in tables}  # noqa: S608 - names of tables
    assert set(rows.values()) == {None}
    assert set(forget.TABLES_OF_USER) == tables


def test_a_damaged_observation_or_proposal_says_so(db: sqlite3.Connection) -> None:
    older_database(db)
    user_no = ensure_user(db, "ines")
    db.execute("INSERT INTO observations VALUES (?, 'obs-1', '', x'', '', '', '', 1, 1, '', ?)", (user_no, b"{broken"))
    db.execute(
        "INSERT INTO proposals VALUES (?, 'obs-2', 's', '', x'', 'nonsense', 'pending', 1, 9, '', '', '', x'7b7d')",
        (user_no,),
    )
    with pytest.raises(DamagedRowError, match="the observation obs-1"):
        find_observation(db, user_no, "obs-1")
    with pytest.raises(DamagedRowError, match="the proposal obs-2"):
        find_proposal(db, user_no, "obs-2")
