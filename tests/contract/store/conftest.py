from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from store_commands import DrivenStore, StandingClock

from recalld.actors.store import InMemoryStore
from recalld.daemon.storage.store import open_store

SECRET = b"k" * 32
Opener = Callable[[Path], AbstractAsyncContextManager[DrivenStore]]


@asynccontextmanager
async def open_sqlite(data_dir: Path) -> AsyncIterator[DrivenStore]:
    async with open_store(data_dir, clock=StandingClock(), new_secret=lambda count: SECRET[:count]) as store:
        yield DrivenStore(store.reader, store.writer)
        assert await store.find_damage() == ()


@asynccontextmanager
async def open_in_memory(data_dir: Path) -> AsyncIterator[DrivenStore]:
    store = InMemoryStore(fold_key=SECRET)
    yield DrivenStore(store.reader, store.writer)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # aiosqlite knows no other


OPENERS: dict[str, Opener] = {"sqlite": open_sqlite, "memory": open_in_memory}


@pytest.fixture
def openers() -> dict[str, Opener]:
    """How to open each implementation."""
    return OPENERS


@pytest.fixture(params=OPENERS)
async def store(request: pytest.FixtureRequest, tmp_path: Path, anyio_backend: str) -> AsyncIterator[DrivenStore]:
    """An empty store of each implementation."""
    async with OPENERS[request.param](tmp_path / "data") as driven:
        yield driven
