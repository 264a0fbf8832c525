"""Long memories are cut once for each revision, and not on the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec
import pytest
from actor_system import System, running_system
from gateway_harness import make_memory

from recalld.actors.recall.passage_memo import PASSAGES_OF_MAX, PassageMemo
from recalld.models.domain.records import Memory, NewMemory
from recalld.models.policy.passages import PASSAGE_TOKENS_MAX, is_surely_whole, split_passages

T = TypeVar("T")

LONG = "The grey valve of the harbour station is closed at night. " * 100

pytestmark = pytest.mark.anyio


def memory(memory_id: str, text: str) -> Memory:
    return make_memory(memory_id, NewMemory(user="ines", text=text))


class CountingTextWork:
    """Runs everything at once, and notes how many characters were announced."""

    def __init__(self) -> None:
        self.chars: list[int] = []

    async def run(self, work: Callable[[], T], *, chars: int) -> T:
        self.chars.append(chars)
        return work()

    async def run_apart(self, work: Callable[[], T]) -> T:
        return work()


async def test_passages_are_cut_once_for_each_revision() -> None:
    memo, work = PassageMemo(), CountingTextWork()
    long = memory("mem_1", LONG)
    assert await memo.learn([long], work) == {long.id: split_passages(LONG)}
    assert await memo.learn([long], work) == {long.id: split_passages(LONG)}
    assert work.chars == [len(LONG)]
    await memo.learn([msgspec.structs.replace(long, revision=long.revision + 1)], work)
    memo.clear()
    await memo.learn([long], work)
    assert work.chars == [len(LONG)] * 3


async def test_a_short_memory_is_neither_cut_nor_remembered() -> None:
    memo, work = PassageMemo(), CountingTextWork()
    long = memory("mem_long", LONG)
    await memo.learn([long], work)
    for number in range(2 * PASSAGES_OF_MAX):
        short = memory(f"mem_{number}", f"{number}")
        assert await memo.learn([short], work) == {short.id: (short.text,)}
    await memo.learn([long], work)
    assert work.chars == [len(LONG)]


async def test_a_recall_leaves_the_cutting_of_long_memories_to_threads_once() -> None:
    system = System(text_work=CountingTextWork())
    async with running_system(system):
        for number in range(3):
            await system.store_text("ines", f"Harbour station {number}. {LONG}")
        system.text_work.chars.clear()
        await system.recall("ines", "when is the grey valve of the harbour station closed?")
        assert max(system.text_work.chars) >= 3 * len(LONG)
        system.text_work.chars.clear()
        await system.recall("ines", "is the grey valve of the harbour station closed now?")
    assert max(system.text_work.chars) < 100


def test_what_is_surely_whole_is_never_cut() -> None:
    for text in ("1" * PASSAGE_TOKENS_MAX, "\U0001f600" * PASSAGE_TOKENS_MAX, "a " * (PASSAGE_TOKENS_MAX // 2)):
        assert is_surely_whole(text)
        assert split_passages(text) == (text,)
