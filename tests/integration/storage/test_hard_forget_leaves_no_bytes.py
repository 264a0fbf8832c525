from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest
from store_commands import DAY_MS, DrivenStore

from recalld.daemon.storage.store import SqliteStore
from recalld.models.domain.store import Checkpoint

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]

CANARIES = (b"zanzibarcanary", b"quetzalcue", b"okapiask", b"zanzibarcanari", b"okapiquery")


def traces(data_dir: Path) -> set[tuple[str, bytes]]:
    """Which canaries lie in which file, in any case."""
    return {
        (path.name, canary) for path in data_dir.iterdir() for canary in CANARIES if canary in path.read_bytes().lower()
    }


async def store_canary(driven: DrivenStore, neighbours: int = 30) -> str:
    """A memory whose every text holds a canary, among neighbours in several segments of the index."""
    for number in range(neighbours):
        await driven.remember(f"Neighbour number {number} likes tea")
    canary = await driven.remember(
        "The ZanzibarCanary sings at noon",
        cues=("quetzalcue",),
        asks=("Who is okapiask?",),
        is_embedded=True,
        turn_key="s\x1f1",
        body=b'{"query":"okapiquery about The ZanzibarCanary sings at noon"}',
    )
    for number in range(neighbours):
        await driven.remember(f"Later neighbour number {number} likes coffee")
    assert canary.memory is not None
    return canary.memory.id


@pytest.mark.parametrize("is_checkpointed", [False, True])
async def test_no_canary_stays_in_any_file(data_dir: Path, opened: StoreOpener, *, is_checkpointed: bool) -> None:
    # S05
    async with opened() as (store, driven):
        memory_id = await store_canary(driven)
        assert {canary for _, canary in traces(data_dir)} >= set(CANARIES[:3])
        if is_checkpointed:
            await store.writer.checkpoint(Checkpoint(now_ms=driven.now_ms, ledger_keep_ms=DAY_MS))
        assert not (await driven.forget(memory_id, is_hard=True)).is_erasure_pending
        assert traces(data_dir) == set()
        assert await store.find_damage() == ()
        assert len(await driven.listed()) == 60
    assert traces(data_dir) == set()


async def test_a_hard_forget_after_a_plain_one_removes_what_the_plain_one_left(
    data_dir: Path, opened: StoreOpener
) -> None:
    async with opened() as (_, driven):
        memory_id = await store_canary(driven)
        await driven.forget(memory_id)
        assert traces(data_dir) != set()  # in the log and in older segments of the index
        assert (await driven.forget(memory_id, is_hard=True)).ids == (memory_id,)
        assert (await driven.forget(memory_id, is_hard=True)).ids == ()
        assert traces(data_dir) == set()


async def test_a_plain_forget_leaves_no_words_in_any_row(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.forget(await store_canary(driven))
        with closing(sqlite3.connect(data_dir / "recalld.db")) as db:
            dump = "\n".join(line for line in db.iterdump() if "memory_fts_data" not in line).lower()
        assert [canary for canary in CANARIES if canary.decode() in dump] == []


async def test_a_hard_purge_leaves_no_canary_and_no_user(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.remember("The ZanzibarCanary sings", user="probe-okapiask", cues=("quetzalcue",))
        await driven.forget("mem-0001", user="probe-okapiask", is_purge=True, is_hard=True)
        assert traces(data_dir) == set()


async def test_what_a_reader_held_up_is_scrubbed_by_the_next_checkpoint(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        memory_id = await store_canary(driven, neighbours=2)
        with closing(sqlite3.connect(data_dir / "recalld.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM memories").fetchone()
            forgotten = await driven.forget(memory_id, is_hard=True)
            assert (forgotten.ids, forgotten.is_erasure_pending) == ((memory_id,), True)
            assert await driven.found("zanzibarcanary") == []
            assert traces(data_dir) != set()
            checkpointed = await store.writer.checkpoint(Checkpoint(now_ms=driven.now_ms, ledger_keep_ms=DAY_MS))
            assert not checkpointed.is_truncated
            assert not (await store.writer.truncate_log()).is_truncated
            reader.execute("COMMIT")
        truncated = await store.writer.truncate_log()
        assert (truncated.is_truncated, truncated.wal_bytes) == (True, 0)
        assert traces(data_dir) == set()
