from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path

import pytest
from store_commands import DrivenStore, StandingClock

from recalld.daemon.storage.store import SqliteStore, open_store

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
Shell = Callable[[str], list[tuple[object, ...]]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # aiosqlite knows no other


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def opened(data_dir: Path) -> StoreOpener:
    """Opens the store of the test's data directory."""

    @asynccontextmanager
    async def open_driven() -> AsyncIterator[tuple[SqliteStore, DrivenStore]]:
        async with open_store(data_dir, clock=StandingClock()) as store:
            yield store, DrivenStore(store.reader, store.writer)

    return open_driven


@pytest.fixture
def shell(data_dir: Path) -> Shell:
    """Runs a statement in the database behind the store's back, in a connection of its own."""

    def run(sql: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(data_dir / "recalld.db", isolation_level=None)) as db:
            return db.execute(sql).fetchall()

    return run


@pytest.fixture(autouse=True)
def _no_connection_outlives_its_test() -> Iterator[None]:
    yield
    left = [thread.name for thread in threading.enumerate() if "_connection_worker_thread" in thread.name]
    assert left == []
