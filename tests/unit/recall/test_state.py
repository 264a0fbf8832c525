from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest
from faulty_store import FaultyReader, Trouble
from store_commands import EMBEDDER, DrivenStore

from recalld.actors.recall import RecallState, index_load
from recalld.actors.recall.index import UserIndex
from recalld.actors.recall.sessions import SESSIONS_MAX, VISIBLE_MAX, VisibleMemories
from recalld.actors.store import InMemoryStore
from recalld.models.domain.errors import ErrorCode, RecalldError

pytestmark = pytest.mark.anyio


class Pulling:
    """A state over a store that can be slow, and a task group that does its pulling."""

    def __init__(self) -> None:
        store = InMemoryStore(fold_key=b"0123456789abcdef")
        self.trouble = Trouble()
        self.reader = FaultyReader(store.reader, self.trouble)
        self.driven = DrivenStore(store.reader, store.writer)
        self.state = RecallState()
        self.spawned = 0

    async def index(self, tasks: anyio.abc.TaskGroup, embedder_key: str = EMBEDDER, dims: int = 4) -> UserIndex:
        def spawn(work: Callable[[], Awaitable[None]]) -> None:
            self.spawned += 1
            tasks.start_soon(work)

        return await self.state.index(
            self.reader, "ines", embedder_key=embedder_key, dims=dims, now_ms=self.driven.now_ms, spawn=spawn
        )

    @property
    def pulls(self) -> int:
        return self.trouble.calls.get("index_delta", 0)


async def test_an_unchanged_store_costs_no_pull_and_a_change_costs_one() -> None:
    pulling = Pulling()
    async with anyio.create_task_group() as tasks:
        await pulling.driven.remember("Ines prefers tea", is_embedded=True)
        first = await pulling.index(tasks)
        assert await pulling.index(tasks) is first
        assert pulling.pulls == 1
        await pulling.driven.remember("The office is in Bern", is_embedded=True)
        second = await pulling.index(tasks)
        assert pulling.pulls == 2
        assert second.counts(None, pulling.driven.now_ms).live == 2


async def test_recalls_that_come_together_share_one_pull() -> None:
    pulling = Pulling()
    pulling.trouble.delay_s = 1.0
    await pulling.driven.remember("Ines prefers tea", is_embedded=True)
    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(pulling.index, tasks)
    assert pulling.pulls == 1


async def test_a_pull_goes_on_when_the_recall_that_began_it_has_left() -> None:
    pulling = Pulling()
    pulling.trouble.delay_s = 1.0
    await pulling.driven.remember("Ines prefers tea", is_embedded=True)
    async with anyio.create_task_group() as tasks:
        with anyio.move_on_after(0.1):
            await pulling.index(tasks)
        assert pulling.state.index_bytes == 0
        await anyio.sleep(1.0)
        assert pulling.state.index_bytes > 0


async def test_a_large_load_lets_others_run_and_is_whole_or_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_load, "PART", 3)
    pulling = Pulling()
    for number in range(10):
        await pulling.driven.remember(f"Fact number {number}", is_embedded=True)
    async with anyio.create_task_group() as actor:
        actor.start_soon(pulling.index, actor)
        while pulling.pulls == 0:
            await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        assert pulling.state.index_bytes == 0  # in the middle of the load
        actor.cancel_scope.cancel()
    async with anyio.create_task_group() as tasks:
        index = await pulling.index(tasks)
        assert index.counts(None, pulling.driven.now_ms).live == 10
        await pulling.driven.remember("One more", is_embedded=True)
        assert (await pulling.index(tasks)).counts(None, pulling.driven.now_ms).live == 11


async def test_a_pull_that_died_with_its_actor_is_begun_anew() -> None:
    pulling = Pulling()
    pulling.trouble.delay_s = 1.0
    await pulling.driven.remember("Ines prefers tea", is_embedded=True)
    async with anyio.create_task_group() as actor:
        actor.start_soon(pulling.index, actor)
        await anyio.sleep(0.1)
        actor.cancel_scope.cancel()
    async with anyio.create_task_group() as tasks:
        assert (await pulling.index(tasks)).counts(None, pulling.driven.now_ms).live == 1


async def test_an_unreadable_store_fails_everybody_who_waits_and_is_tried_again() -> None:
    pulling = Pulling()
    await pulling.driven.remember("Ines prefers tea", is_embedded=True)
    failures: list[ErrorCode] = []

    async with anyio.create_task_group() as tasks:

        async def ask() -> None:
            try:
                await pulling.index(tasks)
            except RecalldError as error:
                failures.append(error.code)

        pulling.trouble.delay_s, pulling.trouble.code = 0.1, ErrorCode.STORAGE_UNAVAILABLE
        async with anyio.create_task_group() as askers:
            for _ in range(3):
                askers.start_soon(ask)
        pulling.trouble.code = None
        assert (await pulling.index(tasks)).counts(None, pulling.driven.now_ms).live == 1
    assert failures == [ErrorCode.STORAGE_UNAVAILABLE] * 3


async def test_another_embedder_gets_an_index_of_its_own_with_nothing_of_the_old_one() -> None:  # R18
    pulling = Pulling()
    await pulling.driven.remember("Ines prefers tea", is_embedded=True)
    async with anyio.create_task_group() as tasks:
        assert (await pulling.index(tasks)).counts(None, pulling.driven.now_ms).pending == 0
        same_dims = await pulling.index(tasks, embedder_key="another")
        assert same_dims.counts(None, pulling.driven.now_ms).pending == 1
        assert (await pulling.index(tasks, embedder_key="wider", dims=8)).dims == 8


async def test_a_dropped_index_is_loaded_again() -> None:
    pulling = Pulling()
    await pulling.driven.remember("Ines prefers tea", is_embedded=True)
    async with anyio.create_task_group() as tasks:
        await pulling.index(tasks)
        pulling.state.drop_index()
        assert pulling.state.index_bytes == 0
        assert (await pulling.index(tasks)).counts(None, pulling.driven.now_ms).live == 1


def test_sessions_are_apart_bounded_and_reset() -> None:
    visible = VisibleMemories()
    visible.mark("one", ("a", "b"))
    visible.mark("", ("a",))
    assert visible.visible("one") == {"a", "b"}
    assert visible.visible("") == visible.visible("two") == frozenset()
    visible.reset("one")
    assert visible.visible("one") == frozenset()


def test_the_least_recently_used_session_and_the_oldest_id_are_forgotten_first() -> None:
    visible = VisibleMemories()
    visible.mark("first", ("a",))
    visible.mark("second", ("b",))
    visible.visible("first")
    for number in range(SESSIONS_MAX - 1):
        visible.mark(f"s{number}", ("c",))
    assert visible.visible("first") == {"a"}
    assert visible.visible("second") == frozenset()
    visible.mark("long", tuple(f"m{number}" for number in range(VISIBLE_MAX + 1)))
    assert len(visible.visible("long")) == VISIBLE_MAX
    assert "m0" not in visible.visible("long")
