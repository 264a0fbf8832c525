"""What somebody else did to the database: seen, named, and no reason for anything else to fail."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from pathlib import Path

import pytest
from store_commands import EMBEDDER, OTHER_EMBEDDER, DrivenStore, StandingClock

from recalld.daemon.storage.errors import DatabaseRefusedError
from recalld.daemon.storage.files import database_path
from recalld.daemon.storage.health import inspect_database
from recalld.daemon.storage.store import SqliteStore, open_store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import RememberOutcome
from recalld.models.domain.store import ListFilter

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
Shell = Callable[[str], list[tuple[object, ...]]]

CHANGES = {
    "cues": "UPDATE memories SET cues = 'x' WHERE id = 'mem-0001'",
    "cues of another type": "UPDATE memories SET cues = '{}' WHERE id = 'mem-0001'",
    "asks": "UPDATE memories SET asks = '[1]' WHERE id = 'mem-0001'",
    "kind": "UPDATE memories SET kind = 'weird' WHERE id = 'mem-0001'",
    "source": "UPDATE memories SET source = 'weird' WHERE id = 'mem-0001'",
    "status": "PRAGMA ignore_check_constraints = ON; UPDATE memories SET status = 'weird' WHERE id = 'mem-0001'",
}


@pytest.fixture(params=CHANGES)
def damage(request: pytest.FixtureRequest, data_dir: Path) -> Callable[[], None]:
    """Damages the first memory."""

    def change() -> None:
        with closing(sqlite3.connect(database_path(data_dir), isolation_level=None)) as db:
            db.executescript(CHANGES[request.param])

    return change


async def store_three(driven: DrivenStore) -> None:
    for name in ("tea", "coffee"):
        await driven.remember(f"Prefers {name}")
    await driven.remember("Prefers water", user="omar")


async def test_a_damaged_memory_is_left_out_and_named_and_hides_no_other(
    opened: StoreOpener, damage: Callable[[], None]
) -> None:
    async with opened() as (store, driven):
        await store_three(driven)
        damage()
        assert await driven.listed() == ["mem-0002"]
        assert list(await store.reader.memories("ines", ("mem-0001", "mem-0002"))) == ["mem-0002"]
        assert await store.reader.memory("ines", "mem-0001") is None
        waiting = await store.reader.pending(EMBEDDER, now_ms=driven.now_ms, limit=1)
        assert [each.memory.id for each in waiting] == ["mem-0002"]
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.is_readable, health.damaged, health.damaged_ids) == (True, 1, ("mem-0001",))
        assert "1 memory cannot be read: mem-0001" in health.detail


async def test_a_page_that_ends_at_a_damaged_memory_goes_on_behind_it(
    opened: StoreOpener, damage: Callable[[], None]
) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        driven.now_ms -= 5_000  # older, and so listed later
        await driven.remember("Prefers coffee")
        damage()
        first = await store.reader.list_memories("ines", ListFilter(), now_ms=driven.now_ms, limit=1, cursor=None)
        assert first.memories == ()
        second = await store.reader.list_memories(
            "ines", ListFilter(), now_ms=driven.now_ms, limit=1, cursor=first.cursor
        )
        assert [memory.id for memory in second.memories] == ["mem-0002"]


async def test_a_write_that_meets_a_damaged_memory_fails_alone(opened: StoreOpener, damage: Callable[[], None]) -> None:
    async with opened() as (_, driven):
        await store_three(driven)
        damage()
        with pytest.raises(RecalldError, match="mem-0001 is damaged") as caught:
            await driven.remember("Prefers tea")
        assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        assert (await driven.remember("Prefers milk")).outcome is RememberOutcome.CREATED
        assert (await driven.remember("Prefers tea", user="omar")).outcome is RememberOutcome.CREATED


@pytest.mark.parametrize("way", ["plain", "hard", "purge"])
async def test_a_damaged_memory_can_be_forgotten_and_its_index_is_whole_again(
    opened: StoreOpener, damage: Callable[[], None], way: str
) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea", cues=("drinks",))
        await driven.remember("Prefers coffee")
        damage()
        assert list(await store.reader.erasable("ines", ("mem-0001",))) == ["mem-0001"]
        gone = await driven.forget("mem-0001", is_hard=way == "hard", is_purge=way == "purge")
        assert gone.ids == ("mem-0001",)
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.damaged, health.fts_matches, health.detail) == (0, True, "")
        assert await store.find_damage() == ()
        assert await driven.found("drinks tea") == []
        assert (await driven.remember("Prefers tea")).outcome is RememberOutcome.CREATED


async def test_a_damaged_memory_expires_and_keeps_no_other_from_it(
    opened: StoreOpener, damage: Callable[[], None]
) -> None:
    async with opened() as (store, driven):
        for name in ("tea", "coffee"):
            await driven.remember(f"Prefers {name}", expires_at_ms=driven.now_ms + 5_000)
        damage()
        driven.now_ms += 10_000
        assert (await driven.expire()).count == 2
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).fts_matches
        assert await driven.found("prefers") == []


async def test_a_store_with_a_damaged_memory_opens_and_its_index_can_be_made_anew(
    opened: StoreOpener, damage: Callable[[], None], shell: Shell
) -> None:
    async with opened() as (_, driven):
        await store_three(driven)
    damage()
    shell("UPDATE meta SET value = x'00' WHERE key = 'search_recipe'")
    async with opened() as (store, driven):
        assert store.report.is_index_rebuilt
        assert await driven.listed() == ["mem-0002"]
        assert await driven.found("prefers tea") == ["mem-0002"]
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.fts_matches, health.fts_rows, health.damaged) == (True, 3, 1)
        assert await store.rebuild_index() == 1
        assert not any("index" in sentence for sentence in await store.find_damage())


async def test_text_that_is_no_unicode_is_named_and_fails_no_query(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (store, driven):
        await store_three(driven)
        shell("UPDATE memories SET text = CAST(x'ff20746561' AS TEXT) WHERE id = 'mem-0001'")
        assert await driven.listed(what=ListFilter(contains="coffee")) == ["mem-0002"]
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.is_readable, health.damaged_ids) == (True, ("mem-0001",))


async def test_memories_of_a_user_without_a_name_are_named(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (store, driven):
        await store_three(driven)
        shell("UPDATE users SET name = x'ff' WHERE name = CAST('omar' AS BLOB)")
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert health.damaged_ids == ("mem-0003",)
        waiting = await store.reader.pending(EMBEDDER, now_ms=driven.now_ms, limit=10)
        assert [each.memory.id for each in waiting] == ["mem-0001", "mem-0002"]
        assert (await driven.expire()).count == 0


async def test_a_damaged_turn_or_decision_fails_what_asks_for_it_and_nothing_else(
    opened: StoreOpener, shell: Shell
) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea", turn_key="s\x1f1")
        shell("UPDATE turns SET reason = 'weird'")
        shell("UPDATE decisions SET op = 'weird'")
        for asked in (driven.remember("Prefers tea", turn_key="s\x1f1"), store.reader.decision("dec-1")):
            with pytest.raises(RecalldError, match="damaged") as caught:
                await asked
            assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        assert (await driven.remember("Prefers milk", turn_key="s\x1f2")).outcome is RememberOutcome.CREATED


async def test_an_unforeseen_failure_inside_a_transaction_is_answered_and_the_writer_goes_on(
    opened: StoreOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> bytes:
        raise KeyError

    async with opened() as (_, driven):
        with monkeypatch.context() as patch:
            patch.setattr("recalld.daemon.storage.ledger.append_decision", fail)
            with pytest.raises(RecalldError, match="KeyError") as caught:
                await driven.remember("Prefers tea")
        assert caught.value.code is ErrorCode.INTERNAL
        assert await driven.listed() == []
        assert (await driven.remember("Prefers tea")).outcome is RememberOutcome.CREATED


LOST_WHILE_RUNNING = ("tombstones", "changes", "turns", "decisions", "embeddings", "users", "memories", "memory_fts")


@pytest.mark.parametrize("table", LOST_WHILE_RUNNING)
async def test_a_table_that_is_lost_while_running_shows_in_health(
    opened: StoreOpener, shell: Shell, data_dir: Path, table: str
) -> None:
    async with opened() as (store, driven):
        await store_three(driven)
        shell(f"DROP TABLE {table}")
        beside = await inspect_database(database_path(data_dir), EMBEDDER, now_ms=driven.now_ms)
        for health in (await store.reader.health(EMBEDDER, now_ms=driven.now_ms), beside):
            assert f"table {table}" in health.detail
            assert not (health.is_readable and health.is_writable)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("DROP INDEX memories_by_words", "index memories_by_words"),
        (
            "CREATE TRIGGER trip BEFORE INSERT ON memories BEGIN SELECT RAISE(ABORT, 'constraint failed'); END",
            "trigger trip",
        ),
        ("ALTER TABLE turns ADD COLUMN more TEXT", "table turns"),
        ("DELETE FROM meta WHERE key = 'fold_key'", "key of the word digests"),
    ],
)
async def test_a_changed_schema_shows_in_health(opened: StoreOpener, shell: Shell, change: str, named: str) -> None:
    async with opened() as (store, driven):
        await store_three(driven)
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).missing == ()
        shell(change)
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert health.missing == (named,)
        assert not health.is_writable


async def test_without_its_key_a_running_store_answers_and_does_not_fall(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (_, driven):
        await store_three(driven)
        shell("DELETE FROM meta")
        for _ in range(2):
            with pytest.raises(RecalldError, match="restore a backup") as caught:
                await driven.remember("Prefers milk")
            assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        assert await driven.listed() == ["mem-0002", "mem-0001"]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM meta",
        "DROP TABLE meta",
        "DROP TABLE migrations",
        "DELETE FROM migrations",
        "DROP TABLE tombstones",
        "DROP TABLE users",
        "DROP TABLE embeddings",
    ],
)
async def test_what_cannot_be_made_anew_is_refused_at_opening_and_nothing_is_put_in_its_place(
    opened: StoreOpener, shell: Shell, change: str
) -> None:
    async with opened() as (_, driven):
        await store_three(driven)
    shell(change)
    before = shell("SELECT name FROM sqlite_schema ORDER BY name")
    with pytest.raises(DatabaseRefusedError, match="restore a backup"):
        async with opened():
            pass
    assert shell("SELECT name FROM sqlite_schema ORDER BY name") == before


async def test_a_lost_index_is_made_anew_at_opening(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (_, driven):
        await store_three(driven)
    shell("DROP INDEX memories_by_words")
    async with opened() as (store, driven):
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).missing == ()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE embeddings SET data = x'0000'",
        "UPDATE embeddings SET data = x'3c003c003c003c00'",
        "UPDATE embeddings SET data = x''",
        "UPDATE embeddings SET data = x'01000100010001000000000000000000'",
        "UPDATE embeddings SET layout = x''",
        "UPDATE embeddings SET is_waiting = 1",
        "UPDATE embeddings SET revision = 7",
    ],
)
async def test_vectors_that_cannot_be_right_wait_to_be_made_again(data_dir: Path, shell: Shell, change: str) -> None:
    async with open_store(data_dir, clock=StandingClock(), vector_bytes=8) as store:
        driven = DrivenStore(store.reader, store.writer)
        await driven.remember("Prefers tea", cues=("drinks",), is_embedded=True)
        assert await store.reader.pending(EMBEDDER, now_ms=driven.now_ms, limit=10) == []
    # A running daemon looks only at what it changed itself; the next one looks at everything once.
    shell(change)
    async with open_store(data_dir, clock=StandingClock(), vector_bytes=8) as store:
        driven.reader, driven.writer = store.reader, store.writer
        waiting = await store.reader.pending(EMBEDDER, now_ms=driven.now_ms, limit=10)
        assert [each.memory.id for each in waiting] == ["mem-0001"]
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.pending_embedding, health.other_embedder) == (1, 0)
        assert (await store.reader.health(OTHER_EMBEDDER, now_ms=driven.now_ms)).other_embedder == 1
        assert (await store.reader.counts("ines", EMBEDDER, now_ms=driven.now_ms)).pending_embedding == 1
        await driven.embed("mem-0001")
        assert await store.reader.pending(EMBEDDER, now_ms=driven.now_ms, limit=10) == []
