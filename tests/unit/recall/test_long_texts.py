"""What a long text costs is paid by threads, and counted in characters rather than in seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
import pytest
from actor_system import System, running_system

from recalld.actors.recall.state import RecallState, memory_chars
from recalld.actors.text_work import LONG_CHARS, THREADS_MAX, ImmediateTextWork, ThreadedTextWork
from recalld.models.domain.admission import Speaker
from recalld.models.domain.reasons import RecallReason
from recalld.models.domain.records import MEMORY_CHARS_MAX
from recalld.models.policy.query_reading import QueryReading, read_query

T = TypeVar("T")

PASTE = "The deploy key lives in the vault. " * 1_900


class CountingTextWork:
    """Runs everything at once, and notes how many characters were announced and where it ran."""

    def __init__(self) -> None:
        self.chars: list[int] = []

    async def run(self, work: Callable[[], T], *, chars: int) -> T:
        self.chars.append(chars)
        return work()

    async def run_apart(self, work: Callable[[], T]) -> T:
        return work()


@pytest.mark.anyio
async def test_a_long_turn_is_announced_with_its_length_before_it_is_read() -> None:
    system = System(text_work=CountingTextWork())
    async with running_system(system):
        await system.store_text("ines", "The deploy key lives in the vault")
        await system.recall("ines", PASTE)
        assert len(PASTE) in system.text_work.chars
        system.text_work.chars.clear()
        await system.observe("ines", PASTE, turn_id="1")
        await system.observe("ines", PASTE, turn_id="2", speaker=Speaker.ASSISTANT)
    assert system.text_work.chars == [len(PASTE)]  # what an assistant says is not read at all


@pytest.mark.anyio
async def test_long_memories_that_are_compared_by_words_are_announced_once() -> None:
    system = System(text_work=CountingTextWork(), missing={"embedder"})
    async with running_system(system):
        for number in range(3):
            await system.store_text("ines", f"{number} " + "The deploy key lives in the vault. " * 200)
        await system.recall("ines", "where does the deploy key live?")
        assert max(system.text_work.chars) > 3 * 6_000
        system.text_work.chars.clear()
        await system.recall("ines", "where does the deploy key live now?")
    assert max(system.text_work.chars) < 100


@pytest.mark.anyio
@pytest.mark.parametrize("is_search", [False, True])
async def test_a_turn_that_is_not_read_in_time_is_an_error_in_time(*, is_search: bool) -> None:
    class Never(ImmediateTextWork):
        async def run(self, work: Callable[[], T], *, chars: int) -> T:
            if chars >= LONG_CHARS:
                await anyio.sleep(60.0)
            return work()

    system = System(text_work=Never())
    async with running_system(system):
        started_s = system.now_s()
        outcome = await system.recall("ines", PASTE, is_search=is_search)
        assert system.now_s() - started_s < 0.3
        assert outcome.reason is RecallReason.ENVELOPE_EXCEEDED
        assert (await system.recall("ines", "where does the deploy key live?")).reason is RecallReason.NOTHING_STORED


def test_short_texts_are_read_at_once_and_long_ones_in_a_few_threads() -> None:
    own = threading.get_ident()
    running, most, lock = 0, 0, threading.Lock()
    gate = threading.Barrier(THREADS_MAX)

    def work() -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        gate.wait(10.0)
        with lock:
            running -= 1
        return threading.get_ident()

    async def read() -> list[int]:
        text_work = ThreadedTextWork()
        threads = [await text_work.run(threading.get_ident, chars=LONG_CHARS - 1)]

        async def read_long() -> None:
            threads.append(await text_work.run(work, chars=LONG_CHARS))

        async with anyio.create_task_group() as tasks:
            for _ in range(3 * THREADS_MAX):
                tasks.start_soon(read_long)
        return threads

    first, *others = anyio.run(read)
    assert first == own
    assert own not in others
    assert most == THREADS_MAX


def test_a_thread_gives_the_same_reading() -> None:
    async def read() -> QueryReading:
        return await ThreadedTextWork().run(partial(read_query, PASTE, is_search=False), chars=len(PASTE))

    assert anyio.run(read) == read_query(PASTE, is_search=False)


def test_no_part_of_a_reading_is_much_longer_than_its_cap() -> None:
    for text in (PASTE, "\ufdfa" * 65_536, "1+" * 32_768, "\u0130" * 65_536):
        reading = read_query(text, is_search=True)
        assert len(reading.terms) <= 12
        assert reading.own_text == ""
        plain = read_query(text[: MEMORY_CHARS_MAX // 2], is_search=False)
        assert len(plain.own_text) <= 6 * MEMORY_CHARS_MAX


@pytest.mark.anyio
async def test_stems_are_learned_once_for_each_revision() -> None:
    system = System()
    async with running_system(system):
        memory = (await system.remember("ines", "The deploy key lives in the vault", cues=("deploy",))).memory
    state, work = RecallState(), CountingTextWork()
    await state.learn_stems([memory], work)
    await state.learn_stems([memory], work)
    assert work.chars == [memory_chars(memory), 0]
    assert "vault" in state.stems_of(memory)
