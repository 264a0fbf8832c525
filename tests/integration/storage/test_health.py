# ruff: noqa: ASYNC240 - a test has its loop for itself: blocking it holds nobody up
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import anyio
import pytest
from store_commands import EMBEDDER, DrivenStore

from recalld.daemon.storage.connection import open_reading
from recalld.daemon.storage.files import database_path
from recalld.daemon.storage.health import inspect_database
from recalld.daemon.storage.migrations import MIGRATIONS
from recalld.daemon.storage.search_schema import INDEX_TABLES
from recalld.daemon.storage.store import SqliteStore
from recalld.models.domain.errors import ErrorCode, RecalldError

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
Shell = Callable[[str], list[tuple[object, ...]]]


async def test_a_dropped_full_text_index_is_seen_and_made_anew_at_the_next_opening(
    opened: StoreOpener, shell: Shell, data_dir: Path
) -> None:
    # O06
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        shell("DROP TABLE memory_fts")
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.is_readable, health.fts_matches, health.fts_rows) == (True, False, 0)
        assert "full-text index is missing" in health.detail
        assert await store.find_damage() == ("The full-text index is missing.",)
        with pytest.raises(RecalldError) as caught:
            await driven.found("tea")
        assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        await store.rebuild_index()
        assert await driven.found("tea") == ["mem-0001"]
        shell("DROP TABLE memory_fts")
    assert not (await inspect_database(database_path(data_dir), EMBEDDER, now_ms=0)).fts_matches
    async with opened() as (store, driven):
        assert store.report.is_index_rebuilt
        assert await driven.found("tea") == ["mem-0001"]


async def test_blank_rows_are_counted_as_damage(opened: StoreOpener, shell: Shell) -> None:
    # O06
    async with opened() as (store, driven):
        for number in range(20):
            await driven.remember(f"Fact number {number}")
        shell("UPDATE memories SET text = ' ' || char(9, 10, 0x3000) WHERE id <> 'mem-0007'")
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.live, health.blank) == (20, 19)
        assert "19 memories are indexed by other words" in (await store.find_damage())[0]


async def test_rows_missing_from_the_index_and_rows_too_many_are_seen(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (store, driven):
        for number in range(3):
            await driven.remember(f"Fact number {number}")
        shell("DELETE FROM memory_fts WHERE rowid = 1")
        shell("INSERT INTO memory_fts (rowid, main, extras) VALUES (77, '1:fact', '')")
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        # As many rows as memories, and yet they do not match.
        assert (health.fts_rows, health.live, health.fts_matches) == (3, 3, False)
        assert "the full-text index lacks 1 memory; " in health.detail
        assert "still lists 1 memory that nothing may find" in health.detail
        damage = await store.find_damage()
        assert [sentence.split()[0] for sentence in damage] == ["1", "The"]
        assert await driven.found("fact number") == ["mem-0003", "mem-0002"]


async def test_an_index_that_drifted_from_its_text_is_found_by_the_deep_check(
    opened: StoreOpener, shell: Shell
) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        changes = (
            "UPDATE memory_fts SET main = '1:coffee'",
            "UPDATE memory_fts SET extras = '1:coffee'",
            "UPDATE memories SET term_count = 9",
        )
        for change in changes:
            shell(change)
            assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).fts_matches
            assert "1 memories are indexed by other words" in (await store.find_damage())[0]
            await store.rebuild_index()
            assert await store.find_damage() == ()
        # The rows still say what the memories say, but not what can be searched.
        shell("UPDATE memory_fts_content SET c0 = '1:coffee'")
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).fts_matches
        assert "full-text index is damaged" in (await store.find_damage())[-1]
        await store.rebuild_index()
        assert await store.find_damage() == ()


async def test_postings_that_are_damaged_fail_the_search_and_are_made_anew(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        shell("UPDATE memory_fts_data SET block = x'00' WHERE id > 10")
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.is_readable, health.fts_matches) == (True, False)
        assert "full-text index is damaged" in (await store.find_damage())[-1]
        with pytest.raises(RecalldError) as caught:
            await driven.found("tea")
        assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        await store.rebuild_index()
        assert await driven.found("tea") == ["mem-0001"]
        assert await store.find_damage() == ()


@pytest.mark.parametrize("table", INDEX_TABLES)
async def test_an_index_without_one_of_its_tables_is_missing_and_made_anew(
    opened: StoreOpener, shell: Shell, table: str
) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        shell(f"DROP TABLE {table}")
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.is_readable, health.fts_matches) == (True, False)
        assert f"table {table}" in health.missing
        assert "full-text index is missing" in health.detail
    async with opened() as (store, driven):
        assert store.report.is_index_rebuilt
        assert await driven.found("tea") == ["mem-0001"]
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).detail == ""


async def test_a_lost_key_of_the_word_digests_is_damage(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        shell("DELETE FROM meta WHERE key = 'fold_key'")
        assert "key of the word digests is missing" in (await store.find_damage())[0]


async def test_a_read_only_database_is_not_writable_and_still_recalled_from(opened: StoreOpener) -> None:
    # O06
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        open_writer = store._session._connector
        store._session._connector = partial(open_reading, store.path)  # as a file that may only be read
        await store._session.reopen()
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert (health.is_readable, health.is_writable) == (True, False)
        assert "read-only" in health.detail
        with pytest.raises(RecalldError, match="read-only") as caught:
            await driven.remember("Prefers coffee")
        assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        assert await driven.found("tea") == ["mem-0001"]
        store._session._connector = open_writer
        # Nobody restarts anything: the next write finds the file writable again.
        await driven.remember("Prefers coffee")
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).is_writable


async def test_a_writer_that_does_not_answer_is_not_writable(
    opened: StoreOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recalld.daemon.storage.health.PROBE_WAIT_S", 0.01)
    async with opened() as (store, driven):
        store.reader._liveness = anyio.sleep_forever
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert not health.is_writable
        assert "did not answer within 0.01 s" in health.detail


async def test_a_damaged_file_is_a_result_and_not_an_exception(opened: StoreOpener, data_dir: Path) -> None:
    async with opened() as (_, driven):
        for number in range(50):
            await driven.remember(f"Fact number {number} " + "lorem ipsum " * 50)
    file = database_path(data_dir)
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    file.write_bytes(content)
    health = await inspect_database(file, EMBEDDER, now_ms=0)
    assert not health.is_readable
    assert not health.fts_matches
    assert "restore a backup" in health.detail


async def test_a_missing_or_foreign_file_is_a_result_too(data_dir: Path) -> None:
    health = await inspect_database(database_path(data_dir), EMBEDDER, now_ms=0)
    assert not health.is_readable
    assert not data_dir.exists()
    data_dir.mkdir()
    database_path(data_dir).write_bytes(b"a diary" * 500)
    health = await inspect_database(database_path(data_dir), EMBEDDER, now_ms=0)
    assert not health.is_readable
    assert "not an SQLite database" in health.detail


async def test_inspecting_a_sound_database_reads_it_and_takes_no_lock(opened: StoreOpener, data_dir: Path) -> None:
    async with opened() as (_, driven):
        await driven.remember("Prefers tea", is_embedded=True)
        beside = await inspect_database(database_path(data_dir), EMBEDDER, now_ms=driven.now_ms)
        assert (beside.is_readable, beside.live) == (True, 1)
    health = await inspect_database(database_path(data_dir), EMBEDDER, now_ms=driven.now_ms)
    assert (health.is_readable, health.is_writable, health.live, health.fts_matches) == (True, True, 1, True)
    assert (health.users, health.schema_version, health.pending_embedding, health.detail) == (1, len(MIGRATIONS), 0, "")
    async with opened() as (_, again):
        assert await again.found("tea") == ["mem-0001"]


async def test_a_backup_is_a_whole_database_of_its_own(opened: StoreOpener, data_dir: Path, tmp_path: Path) -> None:
    copies = tmp_path / "copies"
    copies.mkdir()
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        await store.back_up(copies / "recalld.db")
        await driven.remember("Prefers coffee")
        with pytest.raises(RecalldError, match="exists") as caught:
            await store.back_up(copies / "recalld.db")
        assert caught.value.code is ErrorCode.CONFLICT
        with pytest.raises(RecalldError, match="cannot be written"):
            await store.back_up(tmp_path / "absent" / "copy.db")
    assert [path.name for path in copies.iterdir()] == ["recalld.db"]
    copies.rename(data_dir.with_name("kept"))
    for path in data_dir.iterdir():
        path.unlink()
    data_dir.rmdir()
    data_dir.with_name("kept").rename(data_dir)
    async with opened() as (store, driven):
        assert await driven.found("prefers") == ["mem-0001"]
        assert await store.find_damage() == ()
