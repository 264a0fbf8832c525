# ruff: noqa: ASYNC240 - a test has its loop for itself: blocking it holds nobody up
from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, closing, contextmanager
from pathlib import Path

import anyio
import pytest
from store_commands import EMBEDDER, DrivenStore, StandingClock

from recalld.daemon.storage import ledger
from recalld.daemon.storage.errors import AlreadyRunningError, DatabaseRefusedError
from recalld.daemon.storage.health import inspect_database
from recalld.daemon.storage.lock import hold_lock
from recalld.daemon.storage.store import SqliteStore, open_store
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.store import DecisionRow

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
Shell = Callable[[str], list[tuple[object, ...]]]
WORKER = Path(__file__).with_name("store_worker.py")


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_what_was_stored_is_there_after_reopening(opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        assert (store.report.is_new, store.report.is_index_rebuilt) == (True, False)
        await driven.remember("Prefers tea", is_embedded=True)
        seq = store.reader.seq("ines")
    async with opened() as (store, driven):
        assert (store.report.is_new, store.report.migrations, store.report.is_index_rebuilt) == (False, (), False)
        assert store.reader.seq("ines") == 0  # this process has not looked yet
        assert await store.reader.load_seq("ines") == seq
        assert await driven.found("tea") == ["mem-0001"]


async def test_forgotten_words_stay_refused_after_reopening(opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.remember("Prefers tea")
        await driven.forget("mem-0001", is_hard=True)
    async with opened() as (_, driven):
        driven.memories, driven.decisions = 10, 10
        assert (await driven.remember("Prefers tea", is_explicit=False)).outcome is None


@pytest.mark.parametrize("mask", [0o000, 0o022])
async def test_all_files_are_private_whatever_the_umask(data_dir: Path, opened: StoreOpener, mask: int) -> None:
    # X05
    with umask(mask):
        async with opened() as (store, driven):
            await driven.remember("Prefers tea")
            await store.back_up(data_dir.parent / "copy.db")
            names = sorted(path.name for path in data_dir.iterdir())
            assert names == ["recalld.db", "recalld.db-shm", "recalld.db-wal", "recalld.lock", "recalld.reserve"]
            assert {path.name: mode(path) for path in data_dir.iterdir()} == dict.fromkeys(names, 0o600)
            assert mode(data_dir) == 0o700
            assert mode(data_dir.parent / "copy.db") == 0o600


async def test_a_directory_and_files_open_to_others_are_closed_to_them(data_dir: Path, opened: StoreOpener) -> None:
    async with opened():
        pass
    data_dir.chmod(0o777)
    (data_dir / "recalld.db").chmod(0o666)
    async with opened() as (_, driven):
        await driven.remember("Prefers tea")
        assert mode(data_dir) == 0o700
        assert mode(data_dir / "recalld.db") == mode(data_dir / "recalld.db-wal") == 0o600


async def test_a_second_store_on_the_same_directory_is_refused_and_harms_nothing(opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.remember("Prefers tea")
        with pytest.raises(AlreadyRunningError, match="already running") as caught:
            async with opened():
                pass
        assert caught.value.code is ErrorCode.CONFLICT
        assert await driven.found("tea") == ["mem-0001"]
    async with opened() as (_, driven):
        assert await driven.found("tea") == ["mem-0001"]


def test_the_lock_ends_with_its_process_however_that_ends(data_dir: Path) -> None:
    data_dir.mkdir()
    holder = (
        "import sys, pathlib; from recalld.daemon.storage.lock import hold_lock\n"
        "with hold_lock(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, data_dir], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(AlreadyRunningError), hold_lock(data_dir):
            pass
        process.kill()
        process.wait()
        with hold_lock(data_dir):
            pass


@pytest.mark.parametrize(
    ("content", "remedy"),
    [(b"", "empty"), (b"This is a diary, not a database. " * 200, "not an SQLite database"), (b"x", "database")],
)
async def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(
    data_dir: Path, opened: StoreOpener, content: bytes, remedy: str
) -> None:
    data_dir.mkdir()
    file = data_dir / "recalld.db"
    file.write_bytes(content)
    with pytest.raises(RecalldError, match=remedy) as caught:
        async with opened():
            pass
    assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
    assert file.read_bytes() == content


async def test_a_database_of_another_program_is_refused_and_left_as_it_is(data_dir: Path, opened: StoreOpener) -> None:
    data_dir.mkdir()
    with closing(sqlite3.connect(data_dir / "recalld.db")) as db:
        db.execute("CREATE TABLE photos (name TEXT)")
    before = (data_dir / "recalld.db").read_bytes()
    with pytest.raises(DatabaseRefusedError, match="another program"):
        async with opened():
            pass
    assert (data_dir / "recalld.db").read_bytes() == before


async def test_a_newer_schema_is_refused_and_left_as_it_is(data_dir: Path, opened: StoreOpener, shell: Shell) -> None:
    async with opened():
        pass
    shell("INSERT INTO migrations VALUES (999, 'from the future', 0)")
    before = (data_dir / "recalld.db").read_bytes()
    with pytest.raises(DatabaseRefusedError, match="schema version 999"):
        async with opened():
            pass
    assert (data_dir / "recalld.db").read_bytes() == before


async def test_no_new_database_is_made_beside_a_log_without_its_database(data_dir: Path, opened: StoreOpener) -> None:
    data_dir.mkdir()
    (data_dir / "recalld.db-wal").write_bytes(b"somebody's last transactions")
    with pytest.raises(DatabaseRefusedError, match="write-ahead log"):
        async with opened():
            pass
    assert not (data_dir / "recalld.db").exists()
    assert (data_dir / "recalld.db-wal").read_bytes() == b"somebody's last transactions"


async def test_a_directory_in_the_databases_place_is_refused(data_dir: Path, opened: StoreOpener) -> None:
    (data_dir / "recalld.db").mkdir(parents=True)
    with pytest.raises(DatabaseRefusedError, match="regular file"):
        async with opened():
            pass


async def test_a_data_directory_that_cannot_be_made_is_an_operating_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RecalldError, match="data directory") as caught:
        async with open_store(tmp_path / "file" / "data", clock=StandingClock()):
            pass
    assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE


async def test_a_half_made_database_of_a_crash_is_made_anew(data_dir: Path, opened: StoreOpener) -> None:
    data_dir.mkdir()
    (data_dir / "recalld.db.new").write_bytes(b"half a data")
    (data_dir / "recalld.db.new-journal").write_bytes(b"half a journal")
    async with opened() as (store, driven):
        assert store.report.is_new
        await driven.remember("Prefers tea")
    assert sorted(path.name for path in data_dir.iterdir()) == ["recalld.db", "recalld.lock", "recalld.reserve"]


async def test_a_closed_store_answers_with_an_operating_error(opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.remember("Prefers tea")
    with pytest.raises(RecalldError) as caught:
        await driven.remember("Prefers coffee")
    assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
    with pytest.raises(RecalldError):
        await driven.listed()


async def test_opening_in_a_cancelled_task_leaves_nothing_open(data_dir: Path, opened: StoreOpener) -> None:
    async with opened():
        pass
    with anyio.move_on_after(0):
        async with opened():
            await anyio.sleep_forever()
    with hold_lock(data_dir):
        pass


async def test_an_index_made_by_another_recipe_is_made_anew(opened: StoreOpener, shell: Shell) -> None:
    async with opened() as (_, driven):
        await driven.remember("Prefers tea", cues=("drinks",))
    shell("UPDATE meta SET value = x'00' WHERE key = 'search_recipe'")
    async with opened() as (store, driven):
        assert store.report.is_index_rebuilt
        assert await driven.found("drinks") == ["mem-0001"]
        assert await store.find_damage() == ()


def put_pipe(place: Path) -> None:
    os.mkfifo(place)


def put_dangling_link(place: Path) -> None:
    place.symlink_to(place.with_name("not there"))


def put_loop(place: Path) -> None:
    place.symlink_to(place)


def put_device(place: Path) -> None:
    place.symlink_to("/dev/null")


@pytest.mark.parametrize("put", [put_pipe, put_dangling_link, put_loop, put_device, Path.mkdir])
@pytest.mark.parametrize("name", ["recalld.db", "recalld.db-wal", "recalld.db-shm", "recalld.db-journal"])
async def test_what_is_no_file_is_refused_at_once_and_stays(
    data_dir: Path, opened: StoreOpener, put: Callable[[Path], None], name: str
) -> None:
    if name != "recalld.db":
        async with opened():
            pass
    else:
        data_dir.mkdir()
    put(data_dir / name)
    before = (data_dir / name).lstat().st_ino, (data_dir / name).lstat().st_mode
    with pytest.raises(DatabaseRefusedError, match=name):
        async with opened():
            pass
    assert ((data_dir / name).lstat().st_ino, (data_dir / name).lstat().st_mode) == before
    health = await inspect_database(data_dir / "recalld.db", EMBEDDER, now_ms=0)
    assert not health.is_readable


async def test_a_database_behind_a_link_is_used_where_it_lies(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        await driven.remember("Prefers tea")
    elsewhere = data_dir.with_name("elsewhere.db")
    (data_dir / "recalld.db").rename(elsewhere)
    (data_dir / "recalld.db").symlink_to(elsewhere)
    async with opened() as (store, driven):
        assert store.path == elsewhere
        assert await driven.found("tea") == ["mem-0001"]
        driven.memories, driven.decisions = 10, 10
        await driven.remember("Prefers coffee")
        assert (await store.reader.health(EMBEDDER, now_ms=driven.now_ms)).wal_bytes > 0
    assert (data_dir / "recalld.db").is_symlink()


async def test_a_damaged_file_is_refused_as_one_that_no_restart_mends(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        for number in range(20):
            await driven.remember(f"Fact number {number}")
    file = data_dir / "recalld.db"
    for content in (b"garbage" * 3_000, file.read_bytes()[:4096] + b"\xa5" * 40_000, file.read_bytes()[:100]):
        file.write_bytes(content)
        with pytest.raises(DatabaseRefusedError):
            async with opened():
                pass


async def test_a_second_process_is_kept_out_even_when_the_lock_file_was_removed(
    data_dir: Path, opened: StoreOpener
) -> None:
    async with opened() as (_, driven):
        (data_dir / "recalld.lock").unlink()
        second = await anyio.run_process([sys.executable, WORKER, "write", data_dir], check=False)
        assert b"AlreadyRunningError" in second.stderr
        await driven.remember("Prefers tea")
    async with opened() as (_, driven):
        assert await driven.found("tea") == ["mem-0001"]


@pytest.mark.parametrize("name", ["recalld.db", "recalld.db-wal", "recalld.db-shm"])
@pytest.mark.parametrize("is_replaced", [False, True])
async def test_nothing_is_acknowledged_into_a_file_that_is_no_longer_there(
    data_dir: Path, opened: StoreOpener, name: str, *, is_replaced: bool
) -> None:
    aside = data_dir.with_name("aside")
    async with opened() as (store, driven):
        await driven.remember("Prefers tea")
        (data_dir / name).rename(aside)
        if is_replaced:
            (data_dir / name).write_bytes(aside.read_bytes())
        with pytest.raises(RecalldError, match="while in use") as caught:
            await driven.remember("Prefers coffee")
        assert caught.value.code is ErrorCode.STORAGE_UNAVAILABLE
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        assert not health.is_writable
        assert "while in use" in health.detail
        assert await driven.found("tea") == ["mem-0001"]
        (data_dir / name).unlink(missing_ok=True)
        aside.rename(data_dir / name)
        await driven.remember("Prefers milk")
    async with opened() as (_, driven):
        assert await driven.found("prefers") == ["mem-0003", "mem-0001"]


async def test_a_file_that_vanishes_during_a_write_takes_its_acknowledgement_along(
    data_dir: Path, opened: StoreOpener, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = ledger.append_decision

    def vanish(db: sqlite3.Connection, row: DecisionRow) -> None:
        append(db, row)
        (data_dir / "recalld.db").rename(data_dir.with_name("aside"))

    async with opened() as (_, driven):
        monkeypatch.setattr("recalld.daemon.storage.ledger.append_decision", vanish)
        with pytest.raises(RecalldError, match="removed while in use"):
            await driven.remember("Prefers tea")


async def test_trouble_with_writing_is_told_once_and_so_is_its_end(data_dir: Path) -> None:
    told: list[ErrorCode | None] = []
    async with open_store(
        data_dir, clock=StandingClock(), on_trouble=lambda error: told.append(error and error.code)
    ) as store:
        driven = DrivenStore(store.reader, store.writer)
        await driven.remember("Prefers tea")
        (data_dir / "recalld.db").rename(data_dir.with_name("aside"))
        for _ in range(3):
            with pytest.raises(RecalldError):
                await driven.remember("Prefers coffee")
        data_dir.with_name("aside").rename(data_dir / "recalld.db")
        with pytest.raises(RecalldError):  # the fault of the request, which is none of the store's
            await driven.remember("Prefers juice", memory_id="mem-0001")
        await driven.remember("Prefers milk")
        await driven.remember("Prefers water")
    assert told == [ErrorCode.STORAGE_UNAVAILABLE, None]
