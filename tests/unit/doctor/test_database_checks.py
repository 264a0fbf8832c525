"""Damage in the database shows with the daemon down, and looking never changes it."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Settings
from recalld.daemon.doctor import database, files
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.holders import processes_with_open
from recalld.daemon.doctor.result import Status
from recalld.daemon.storage.meta import audited_at_ms, note_audit
from recalld.daemon.storage.space import Shortage
from recalld.models.domain.position import Position
from recalld.models.domain.store import StoreHealth, vector_bytes_of
from recalld.models.inference.manifest import MODELS
from recalld.protocol.replies import HealthReport

MakeContext = Callable[..., DoctorContext]
MakeStore = Callable[[int], Path]

ALL = (
    database.check_identity_and_schema,
    database.check_writable,
    database.check_memories,
    database.check_index,
    database.check_embeddings,
    database.check_write_ahead_log,
    database.check_integrity,
)


def change(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)


def test_a_sound_store_passes_or_notes_what_waits(store: MakeStore, make_context: MakeContext) -> None:
    store(3)
    findings = [check(make_context()) for check in ALL]
    assert [finding.status for finding in findings] == [
        Status.PASS,
        Status.PASS,
        Status.PASS,
        Status.PASS,
        Status.INFO,  # three memories wait to be embedded
        Status.PASS,
        Status.PASS,
    ]
    assert "3 of 3 memories not embedded yet" in findings[4].seen


def test_an_empty_store_is_healthy(store: MakeStore, make_context: MakeContext) -> None:
    store(0)
    findings = [check(make_context()) for check in ALL]
    assert {finding.status for finding in findings} <= {Status.PASS, Status.INFO}
    assert "nothing stored yet" in findings[2].seen


def test_no_store_at_all_is_not_checked_rather_than_passed(make_context: MakeContext) -> None:
    for check in ALL:
        finding = check(make_context())
        assert (finding.status, finding.is_checked) == (Status.INFO, False)


def test_no_store_under_a_running_daemon_fails(make_context: MakeContext, healthy: HealthReport) -> None:
    finding = database.check_memories(make_context(Live(health=healthy)))
    assert finding.status is Status.FAIL


def test_a_dropped_full_text_index_fails(store: MakeStore, make_context: MakeContext) -> None:
    change(store(3), "DROP TABLE memory_fts")  # O06
    finding = database.check_index(make_context())
    assert finding.status is Status.FAIL
    assert "--rebuild-index" in finding.remedy
    assert database.check_integrity(make_context()).status is Status.FAIL


def test_an_index_that_lacks_rows_fails_and_can_be_made_anew(store: MakeStore, make_context: MakeContext) -> None:
    path = store(3)
    change(path, "DELETE FROM memory_fts WHERE rowid = 2")
    assert database.check_index(make_context()).status is Status.FAIL
    database.rebuild_full_text_index(path.parent)
    assert database.check_index(make_context()).status is Status.PASS
    assert database.check_integrity(make_context()).status is Status.PASS


def test_only_the_deep_check_sees_an_index_that_says_other_words(store: MakeStore, make_context: MakeContext) -> None:
    path = store(3)
    change(path, "UPDATE memories SET text = 'Something else entirely.' WHERE memory_no = 2")
    assert database.check_index(make_context()).status is Status.PASS
    finding = database.check_integrity(make_context())
    assert finding.status is Status.FAIL
    assert "other words" in finding.seen


@pytest.mark.parametrize(
    ("blank", "status"), [(0, Status.PASS), (1, Status.WARN), (5, Status.WARN), (6, Status.FAIL), (99, Status.FAIL)]
)
def test_blank_rows_are_damage(store: MakeStore, make_context: MakeContext, blank: int, status: Status) -> None:
    blanked = "UPDATE memories SET text = '  ' WHERE memory_no <= %d"  # O06
    change(store(100), blanked % blank)
    assert database.check_memories(make_context()).status is status


def test_rows_of_another_embedder_need_re_embedding(store: MakeStore, make_context: MakeContext) -> None:
    change(  # R18
        store(3),
        "INSERT INTO embeddings SELECT memory_no, 'another', 1, 0, x'0000', x'00' FROM memories",
    )
    finding = database.check_embeddings(make_context())
    assert finding.status is Status.WARN
    assert "3 rows need re-embedding" in finding.seen


def test_rows_of_the_configured_embedder_pass(store: MakeStore, make_context: MakeContext, settings: Settings) -> None:
    key = make_context().database.embedder_key  # hexadecimal, so it needs no quoting
    data = "01" * vector_bytes_of(MODELS[settings.models.embedder].dims)
    insert = "INSERT INTO embeddings SELECT memory_no, '%s', 1, 0, x'0000', x'%s' FROM memories"
    change(store(2), insert % (key, data))
    assert database.check_embeddings(make_context()).status is Status.PASS


def test_a_file_that_is_no_database_fails(make_context: MakeContext, store: MakeStore) -> None:
    path = store(1)
    path.write_bytes(b"not a database, though as long as one" * 200)
    assert database.check_identity_and_schema(make_context()).status is Status.FAIL
    for check in (database.check_memories, database.check_index, database.check_embeddings):
        assert check(make_context()).status in {Status.FAIL, Status.INFO}
        assert check(make_context()).status is not Status.PASS


def test_a_database_of_a_newer_version_fails_and_stays_as_it_is(store: MakeStore, make_context: MakeContext) -> None:
    path = store(1)
    change(path, "INSERT INTO migrations VALUES (999, 'from the future', 0)")
    finding = database.check_identity_and_schema(make_context())
    assert finding.status is Status.FAIL
    assert "999" in finding.seen


def test_a_database_of_another_program_fails(store: MakeStore, make_context: MakeContext) -> None:
    change(store(1), "PRAGMA application_id = 1")
    assert database.check_identity_and_schema(make_context()).status is Status.FAIL


def test_a_database_that_cannot_be_written_fails(make_context: MakeContext, store: MakeStore) -> None:
    store(1)
    context = make_context()
    health = msgspec.structs.replace(context.database.health, is_writable=False, detail="not permitted")  # O06
    assert database.judge_writable(context, health).status is Status.FAIL


def test_a_full_disk_is_met_with_a_remedy_that_speaks_of_room_and_not_of_rights(
    make_context: MakeContext, store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(1)
    context = make_context()
    health = msgspec.structs.replace(context.database.health, is_writable=False, detail="no room is left")
    assert "0700" in database.judge_writable(context, health).remedy
    monkeypatch.setattr(database, "find_shortage", lambda _path: Shortage(detail="no room is left"))
    finding = database.judge_writable(context, health)
    assert (finding.status, finding.seen) == (Status.FAIL, "no room is left")
    assert "free some space" in finding.remedy
    assert "0700" not in finding.remedy


_INSPECT_AS_NOBODY = """
import os, sys
from functools import partial
from pathlib import Path
import anyio
from recalld.daemon.storage.health import inspect_database
inspect = partial(anyio.run, partial(inspect_database, Path(sys.argv[1]), "key", now_ms=0))
inspect()  # loads everything while this account may still read it
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
health = inspect()
print(health.is_readable, health.is_writable)
"""


def test_a_read_only_database_is_seen_by_the_account_that_cannot_write_it(store: MakeStore) -> None:
    with tempfile.TemporaryDirectory() as folder:  # O06; not below tmp_path, which only its owner may enter
        path = Path(shutil.copy(store(1), folder))
        change(path, "PRAGMA journal_mode = DELETE")
        path.chmod(0o444)
        path.parent.chmod(0o555)
        out = subprocess.run(
            [sys.executable, "-c", _INSPECT_AS_NOBODY, str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        path.parent.chmod(0o755)
    assert out.stdout == "True False\n", out.stderr


def test_looking_changes_no_byte_of_the_database(store: MakeStore, make_context: MakeContext) -> None:
    path = store(5)
    before = path.read_bytes()
    for check in ALL[:-1]:
        check(make_context())
    assert path.read_bytes() == before


def test_a_log_that_grew_too_long_is_a_warning_that_names_who_holds_it(
    store: MakeStore, make_context: MakeContext
) -> None:
    path = store(1)
    context = make_context()
    grown = msgspec.structs.replace(context.database.health, wal_bytes=1 << 30)
    with path.open("rb"):
        finding = database.judge_write_ahead_log(context, grown)
        assert os.getpid() in processes_with_open(path)
    assert finding.status is Status.WARN
    assert f"(pid {os.getpid()})" in finding.seen
    assert os.getpid() not in processes_with_open(path)
    assert database.judge_write_ahead_log(context, grown).status is Status.WARN


def test_a_database_that_this_account_may_not_see_is_not_checked(
    make_context: MakeContext, healthy: HealthReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_named: object) -> os.stat_result:
        raise PermissionError(13, "Permission denied")

    down, up = make_context(), make_context(Live(health=healthy))
    monkeypatch.setattr(Path, "stat", refuse)
    assert database.check_memories(down).status is Status.WARN
    assert database.check_memories(up).status is Status.INFO
    assert not database.check_memories(up).is_checked


def test_an_unreadable_database_leaves_nothing_passed(make_context: MakeContext) -> None:
    context = make_context()
    unreadable = StoreHealth(
        is_readable=False,
        is_writable=True,
        schema_version=0,
        users=0,
        live=0,
        blank=0,
        fts_rows=0,
        fts_matches=False,
        pending_embedding=0,
        other_embedder=0,
        db_bytes=0,
        wal_bytes=0,
        detail="locked",
    )
    for judge in (database.judge_memories, database.judge_index, database.judge_embeddings):
        assert not judge(context, unreadable).is_checked


def test_memories_that_cannot_be_read_fail_with_their_ids_and_a_remedy(
    store: MakeStore, make_context: MakeContext
) -> None:
    change(store(30), "UPDATE memories SET cues = 'x' WHERE memory_no > 2")
    finding = database.check_memories(make_context())
    assert finding.status is Status.FAIL
    assert "28 of the memories cannot be read" in finding.seen
    assert "mem_0002, mem_0003" in finding.seen
    assert "recalld forget --hard mem_0002" in finding.remedy


@pytest.mark.parametrize("table", ["tombstones", "changes", "turns", "decisions", "users", "embeddings", "meta"])
def test_a_lost_table_fails_wherever_it_matters(store: MakeStore, make_context: MakeContext, table: str) -> None:
    change(store(3), f"DROP TABLE {table}")
    context = make_context()
    finding = database.check_identity_and_schema(context)
    assert finding.status is Status.FAIL
    assert f"table {table}" in finding.seen
    assert "restore a backup" in finding.remedy
    assert database.check_writable(context).status is not Status.PASS


def test_a_lost_table_of_the_index_is_made_anew_by_the_doctor(store: MakeStore, make_context: MakeContext) -> None:
    path = store(3)
    change(path, "DROP TABLE memory_fts")
    assert "--rebuild-index" in database.check_identity_and_schema(make_context()).remedy
    database.rebuild_full_text_index(path.parent)
    assert database.check_identity_and_schema(make_context()).status is Status.PASS


def test_vectors_of_another_length_wait_to_be_made_again(store: MakeStore, make_context: MakeContext) -> None:
    key = make_context().database.embedder_key  # hexadecimal, so it needs no quoting
    insert = "INSERT INTO embeddings SELECT memory_no, '%s', 1, 0, x'0000', x'3c003c00' FROM memories"
    change(store(2), insert % key)
    assert "2 of 2 memories not embedded yet" in database.check_embeddings(make_context()).seen


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("absent"))


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("put", [_pipe, _dangling_link, _loop, Path.mkdir])
def test_what_is_no_file_fails_at_once_and_hangs_nobody(
    store: MakeStore, make_context: MakeContext, put: Callable[[Path], None]
) -> None:
    path = store(1)
    path.unlink()
    put(path)
    for check in (*ALL, files.check_database_files):
        finding = check(make_context())
        assert finding.status is Status.FAIL
        assert "recalld.db" in finding.seen


def at_position(settings: Settings, position: Position, **changed: bool) -> Settings:
    admission = msgspec.structs.replace(settings.admission, position=position, **changed)
    return msgspec.structs.replace(settings, admission=admission)


def audited(path: Path, at_ms: int) -> None:
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        note_audit(db, at_ms)


@pytest.mark.parametrize(
    ("position", "status"),
    [(Position.STRICT, Status.PASS), (Position.BALANCED, Status.WARN), (Position.OPEN, Status.FAIL)],
)
def test_a_position_that_is_not_earned_is_a_warning_or_no_start_at_all(
    store: MakeStore, make_context: MakeContext, settings: Settings, position: Position, status: Status
) -> None:
    store(1)
    finding = database.check_position(make_context(settings=at_position(settings, position)))
    assert finding.status is status
    if status is not Status.PASS:
        assert "nobody has audited the records yet" in finding.seen
        assert 'set admission.position to "strict"' in finding.remedy
    assert ("does not start" in finding.seen) is (status is Status.FAIL)


@pytest.mark.parametrize("position", [Position.BALANCED, Position.OPEN])
def test_a_recent_audit_earns_a_position_and_an_old_one_does_not(
    store: MakeStore, make_context: MakeContext, settings: Settings, position: Position
) -> None:
    path = store(1)
    now_ms = SystemClock().now_ms()
    audited(path, now_ms - 86_400_000)
    assert database.check_position(make_context(settings=at_position(settings, position))).status is Status.PASS
    no_rules = make_context(settings=at_position(settings, position, rules=False))
    assert "do not close older ones" in database.check_position(no_rules).seen
    audited(path, now_ms - 8 * 86_400_000)
    assert "8 days ago" in database.check_position(make_context(settings=at_position(settings, position))).seen


def test_an_audit_that_nobody_can_read_is_none(store: MakeStore) -> None:
    path = store(1)
    change(path, "INSERT INTO meta VALUES ('audited_at_ms', CAST('soon' AS BLOB))")
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert audited_at_ms(db) is None
