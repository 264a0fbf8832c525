from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread
from store_commands import DAY_MS, EMBEDDER, DrivenStore

from recalld.actors.store.packed_vectors import unpack_vectors
from recalld.daemon.storage import ledger, upkeep
from recalld.daemon.storage.connection import open_session, open_writing
from recalld.daemon.storage.files import size_bytes, wal_path
from recalld.daemon.storage.reserve import RESERVE_BYTES, RESERVE_NAME
from recalld.daemon.storage.store import SqliteStore
from recalld.daemon.storage.transactions import in_transaction
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import RememberOutcome
from recalld.models.domain.store import Checkpoint, Checkpointed, DecisionRow

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
ROUNDS = 200
BOUND_S = 30


async def test_admission_and_expiry_in_between_never_find_the_database_locked(opened: StoreOpener) -> None:
    # S07: the admission of one user, and the sweep of another's memories, at the same time.
    async with opened() as (store, driven):

        async def admit(number: int) -> None:
            command = driven.remember_command(f"Fact number {number}", user="ines")
            assert (await store.writer.remember(command)).outcome is RememberOutcome.CREATED

        async def pass_by(number: int) -> None:
            command = driven.remember_command(f"Short fact {number}", user="omar", expires_at_ms=driven.now_ms + 1)
            await store.writer.remember(command)
            await driven.expire()

        for number in range(0, ROUNDS, 10):
            async with anyio.create_task_group() as tasks:
                for each in range(number, number + 10):
                    tasks.start_soon(admit, each)
                    tasks.start_soon(pass_by, each)
        assert len(await driven.found("fact number", user="ines", limit=1_000)) == ROUNDS
        assert await driven.listed("omar") == []
        assert await store.find_damage() == ()


async def test_another_process_that_writes_in_between_is_waited_for(data_dir: Path, opened: StoreOpener) -> None:
    # S07: a second writer that commits between this one's reads and writes would fail a deferred transaction at once.
    async with opened() as (_, driven):

        def write_behind_its_back() -> None:
            with closing(sqlite3.connect(data_dir / "recalld.db", timeout=30, isolation_level=None)) as db:
                for number in range(ROUNDS):
                    in_transaction(
                        db,
                        lambda db, number=number: db.execute(
                            "INSERT OR REPLACE INTO meta VALUES ('elsewhere', CAST(? AS BLOB))", (str(number),)
                        ),
                    )

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(to_thread.run_sync, write_behind_its_back)
            for number in range(ROUNDS):
                await driven.remember(f"Fact number {number}")
        assert len(await driven.found("fact", limit=1_000)) == ROUNDS


async def test_a_cancelled_caller_does_not_split_its_write(opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        command = driven.remember_command("Prefers tea", is_embedded=True)
        with anyio.CancelScope() as scope:
            scope.cancel()
            await store.writer.remember(command)
        # Whatever is seen is whole: row, words, vectors, change number and ledger row.
        assert await driven.listed() == ["mem-0001"]
        assert await driven.found("tea") == ["mem-0001"]
        assert await store.reader.decision("dec-1") is not None
        delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=0, now_ms=driven.now_ms)
        assert len(unpack_vectors(delta.upserts[0].vectors)) == 1
        assert store.reader.seq("ines") == delta.seq > 0


async def test_a_failure_in_the_middle_of_a_write_leaves_nothing_of_it(opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        seq = store.reader.seq("ines")
        await store._session.run(
            lambda db: db.execute("CREATE TRIGGER trip BEFORE INSERT ON decisions BEGIN SELECT RAISE(ABORT, 'x'); END")
        )
        with pytest.raises(RecalldError, match="refused what was to be stored") as caught:
            await driven.remember("Prefers coffee", is_embedded=True)
        assert (caught.value.code, caught.value.retryable) == (ErrorCode.INTERNAL, False)
        await store._session.run(lambda db: db.execute("DROP TRIGGER trip"))
        assert await driven.listed() == ["mem-0001"]
        assert await driven.found("coffee") == []
        assert store.reader.seq("ines") == seq
        assert await store.find_damage() == ()


@pytest.mark.parametrize("failures", [1, 2])
async def test_a_full_disk_is_tried_once_more_after_the_log_gave_its_room_back(
    opened: StoreOpener, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    wal_bytes: list[int] = []

    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        append = ledger.append_decision

        def run_out(db: sqlite3.Connection, row: DecisionRow) -> None:
            wal_bytes.append(size_bytes(wal_path(store.path)))
            if len(wal_bytes) <= failures:
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error
            append(db, row)

        monkeypatch.setattr("recalld.daemon.storage.ledger.append_decision", run_out)
        if failures == 1:
            await driven.remember("Prefers coffee")
        else:
            with pytest.raises(RecalldError) as caught:
                await driven.remember("Prefers coffee")
            assert caught.value.code is ErrorCode.STORAGE_FULL
        assert len(wal_bytes) == 2
        assert wal_bytes[0] > wal_bytes[1] == 0
        assert len(await driven.listed()) == 3 - failures


async def test_forgetting_uses_the_reserve_of_a_full_disk_and_nothing_else_does(
    opened: StoreOpener, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    reserve = data_dir / RESERVE_NAME
    append, truncate = ledger.append_decision, upkeep.truncate_log

    def be_full() -> None:
        if reserve.exists():
            error = sqlite3.OperationalError("database or disk is full")
            error.sqlite_errorcode = sqlite3.SQLITE_FULL
            raise error

    def append_if_room(db: sqlite3.Connection, row: DecisionRow) -> None:
        be_full()
        append(db, row)

    def truncate_if_room(db: sqlite3.Connection, path: Path) -> Checkpointed:
        be_full()
        return truncate(db, path)

    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        assert reserve.stat().st_size == RESERVE_BYTES
        with monkeypatch.context() as patch:
            patch.setattr("recalld.daemon.storage.ledger.append_decision", append_if_room)
            patch.setattr("recalld.daemon.storage.forget.append_decision", append_if_room)
            patch.setattr("recalld.daemon.storage.upkeep.truncate_log", truncate_if_room)
            with pytest.raises(RecalldError) as caught:
                await driven.remember("Prefers coffee")
            assert caught.value.code is ErrorCode.STORAGE_FULL
            assert reserve.exists()
            assert (await driven.forget("mem-0001")).ids == ("mem-0001",)
        assert reserve.stat().st_size == RESERVE_BYTES  # taken again
        reserve.unlink()
        await store.writer.checkpoint(Checkpoint(now_ms=driven.now_ms, ledger_keep_ms=DAY_MS))
        assert reserve.stat().st_size == RESERVE_BYTES


async def test_a_cancelled_read_frees_its_connection_at_once(opened: StoreOpener) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT SUM(tick(i)) FROM n"
    loop = asyncio.get_running_loop()

    async with opened() as (store, driven):
        await driven.remember("Prefers tea")

        def count_for_ever(db: sqlite3.Connection, is_counting: anyio.Event) -> None:
            def tick(number: int) -> int:
                if number == 1:
                    loop.call_soon_threadsafe(is_counting.set)
                return number % 2

            db.create_function("tick", 1, tick)
            db.execute(endless).fetchone()

        for _ in range(4):  # more often than there are connections
            is_counting = anyio.Event()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(store.reader._pool.run, partial(count_for_ever, is_counting=is_counting))
                await is_counting.wait()
                tasks.cancel_scope.cancel()
        with anyio.fail_after(BOUND_S):
            assert await driven.found("tea") == ["mem-0001"]


async def test_the_log_stays_bounded_and_shrinks_once_its_reader_has_gone(data_dir: Path, opened: StoreOpener) -> None:
    # S06
    wal = data_dir / "recalld.db-wal"
    checkpoint = Checkpoint(now_ms=0, ledger_keep_ms=DAY_MS)
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        with closing(sqlite3.connect(data_dir / "recalld.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM memories").fetchone()
            for number in range(150):
                await driven.remember(f"Fact {number} " + "lorem ipsum dolor " * 40)
            pinned = await store.writer.checkpoint(checkpoint)
            assert not pinned.is_truncated
            health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
            assert health.wal_bytes == pinned.wal_bytes == wal.stat().st_size > 0
            reader.execute("COMMIT")
        released = await store.writer.checkpoint(checkpoint)
        assert (released.is_truncated, released.wal_bytes, wal.stat().st_size) == (True, 0, 0)


async def test_a_connection_that_cannot_be_opened_leaves_no_thread(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot be opened"):
        async with open_session(tmp_path / "absent.db", open_writing):
            pass
    assert not (tmp_path / "absent.db").exists()


async def test_writes_of_many_callers_at_once_all_arrive(opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        commands = [driven.remember_command(f"Fact number {number}") for number in range(50)]
        async with anyio.create_task_group() as tasks:
            for command in commands:
                tasks.start_soon(partial(store.writer.remember, command))
        assert len(await driven.listed()) == 50
