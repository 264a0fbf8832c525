from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

import anyio
import anyio.abc
import numpy as np
import pytest
from faulty_store import FaultyReader, Trouble
from store_commands import EMBEDDER, DrivenStore

from recalld.actors.recall import RecallState, state
from recalld.actors.recall.index import Cosines, UserIndex, VectorSearch
from recalld.actors.store import InMemoryStore, memory_reader
from recalld.actors.store.packed_vectors import pack_vectors
from recalld.actors.text_work import ImmediateTextWork, ThreadedTextWork
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, IndexPage, TextVector

pytestmark = pytest.mark.anyio
T = TypeVar("T")
DIMS = 4
QUERY = np.array([1, 0, 0, 0], dtype=np.float32)


class Loading:
    """A state over a store whose pages are small."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, page: int = 3) -> None:
        monkeypatch.setattr(memory_reader, "INDEX_PAGE_MAX", page)
        store = InMemoryStore(fold_key=b"0123456789abcdef")
        self.trouble = Trouble()
        self.reader = FaultyReader(store.reader, self.trouble)
        self.driven = DrivenStore(store.reader, store.writer)
        self.state = RecallState()

    async def index(self) -> UserIndex:
        async with anyio.create_task_group() as tasks:

            def spawn(work: Callable[[], Awaitable[None]]) -> None:
                tasks.start_soon(work)

            now_ms = self.driven.now_ms
            return await self.state.index(
                self.reader, "ines", embedder_key=EMBEDDER, dims=DIMS, now_ms=now_ms, spawn=spawn
            )

    def begin(self, tasks: anyio.abc.TaskGroup) -> None:
        self.state.begin_loading(
            self.reader,
            "ines",
            embedder_key=EMBEDDER,
            dims=DIMS,
            now_ms=self.driven.now_ms,
            spawn=tasks.start_soon,
        )

    def live(self, index: UserIndex) -> int:
        return index.counts(None, self.driven.now_ms).live


async def test_a_whole_load_reads_page_after_page(monkeypatch: pytest.MonkeyPatch) -> None:
    loading = Loading(monkeypatch)
    for number in range(10):
        await loading.driven.remember(f"Fact number {number}", is_embedded=True)
    index = await loading.index()
    assert loading.live(index) == 10
    assert loading.trouble.calls["index_page"] == 3
    assert index.counts(None, loading.driven.now_ms).pending == 0


async def test_what_is_forgotten_or_stored_while_pages_are_read_is_right_after_the_next_delta(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loading = Loading(monkeypatch)
    for number in range(7):
        await loading.driven.remember(f"Fact number {number}", is_embedded=True)
    loading.trouble.slow_s["index_page"] = 1.0
    async with anyio.create_task_group() as tasks:

        async def change_meanwhile() -> None:
            await anyio.sleep(0.5)
            await loading.driven.forget("mem-0001", "mem-0006")
            await loading.driven.remember("One more", is_embedded=True)

        tasks.start_soon(change_meanwhile)
        await loading.index()
    assert loading.live(await loading.index()) == 6


async def test_a_page_that_cannot_be_read_fails_the_load_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    loading = Loading(monkeypatch)
    for number in range(7):
        await loading.driven.remember(f"Fact number {number}", is_embedded=True)

    async def unreadable(*_args: object, **_options: object) -> IndexPage:
        raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, "scripted")

    with monkeypatch.context() as patched:
        patched.setattr(loading.reader, "index_page", unreadable)
        with pytest.RaisesGroup(pytest.RaisesExc(RecalldError, match="scripted")):  # of the test's own task group
            await loading.index()
    assert loading.state.index_bytes == 0
    assert loading.live(await loading.index()) == 7


async def test_an_index_that_is_mostly_nobodys_rows_is_loaded_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recalld.actors.recall.index._WASTED_MIN", 2)
    loading = Loading(monkeypatch)
    for number in range(9):
        await loading.driven.remember(f"Fact number {number}", is_embedded=True)
    first = await loading.index()
    await loading.driven.forget(*(f"mem-{number:04}" for number in range(1, 8)))
    assert (await loading.index()).is_wasteful
    await loading.driven.remember("One more", is_embedded=True)
    anew = await loading.index()
    assert anew is not first
    assert (loading.live(anew), anew.rows) == (3, 3)


class HeldThread(ImmediateTextWork):
    """A thread that is done when it is let go."""

    def __init__(self) -> None:
        self.let_go = anyio.Event()

    async def run_apart(self, work: Callable[[], T]) -> T:
        await self.let_go.wait()
        return work()


SEARCH = VectorSearch(query=QUERY, question=QUERY, scope=None, now_ms=0, limit=5)


async def test_an_index_is_not_changed_while_it_is_searched_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "ROWS_AT_ONCE", 0)
    loading, thread = Loading(monkeypatch), HeldThread()
    await loading.driven.remember("Prefers tea", is_embedded=True)
    index = await loading.index()
    found: list[list[Cosines]] = []

    async def search_apart() -> None:
        found.append(await loading.state.search(index, SEARCH, thread))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(search_apart)
        await loading.driven.remember("Prefers coffee", is_embedded=True)
        tasks.start_soon(loading.index)
        await anyio.sleep(1.0)
        assert index.rows == 1
        thread.let_go.set()
    assert [len(each) for each in found] == [1]
    assert index.rows == 2


async def test_a_small_index_is_searched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loading = Loading(monkeypatch)
    await loading.driven.remember("Prefers tea", is_embedded=True)
    index = await loading.index()
    # The thread is never let go.
    assert len(await loading.state.search(index, SEARCH, HeldThread())) == 1


def test_a_large_search_leaves_the_event_loops_thread() -> None:
    work = partial(ThreadedTextWork().run_apart, threading.get_ident)
    assert anyio.run(work) != threading.get_ident()


async def test_a_load_that_was_begun_early_is_the_one_that_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    loading = Loading(monkeypatch)
    await loading.driven.remember("Prefers tea", is_embedded=True)
    loading.trouble.slow_s["index_delta"] = 1.0
    async with anyio.create_task_group() as tasks:
        loading.begin(tasks)
        await anyio.sleep(0.9)
        with anyio.fail_after(0.2):
            index = await loading.index()
        loading.begin(tasks)
    assert loading.live(index) == 1
    assert loading.trouble.calls["index_delta"] == 1


async def test_a_load_that_was_begun_early_and_failed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    loading = Loading(monkeypatch)
    await loading.driven.remember("Prefers tea", is_embedded=True)
    loading.trouble.code = ErrorCode.STORAGE_UNAVAILABLE
    async with anyio.create_task_group() as tasks:
        loading.begin(tasks)
    loading.trouble.code = None
    assert loading.live(await loading.index()) == 1


async def test_a_large_index_finds_in_two_threads_what_a_small_one_finds_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    index = UserIndex("embedder", DIMS)
    index.apply(IndexDelta(is_complete=True, seq=1, upserts=tuple(map(_memory, range(40))), removed=()))
    at_once = await RecallState().search(index, SEARCH, ThreadedTextWork())
    monkeypatch.setattr(state, "ROWS_AT_ONCE", 0)
    apart = await RecallState().search(index, SEARCH, ImmediateTextWork())
    assert apart == at_once
    assert 5 < len(at_once) < 40


def _memory(number: int) -> EmbeddedMemory:
    """A memory whose record, cue and ask lie in directions of their own."""
    vectors = np.random.default_rng(number).standard_normal((len(VectorRole), DIMS)).astype("<f2")
    return EmbeddedMemory(
        memory_id=f"mem-{number:02}",
        revision=1,
        scope="",
        expires_at_ms=None,
        has_asks=True,
        vectors=pack_vectors(
            [
                TextVector(role=role, ordinal=0, data=vector.tobytes())
                for role, vector in zip(VectorRole, vectors, strict=True)
            ]
        ),
    )
