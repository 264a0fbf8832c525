from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from actor_system import DIMS, System, running_system
from numpy.typing import NDArray

from recalld.actors.recall.language_memo import LanguageMemo
from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.reasons import DropReason
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.policy.preselection import CONSIDERED_MAX, MARGIN

pytestmark = pytest.mark.anyio

LIMITS = RecallSettings(vector_limit=100)
QUERY = "Which kettle whistles?"


def alike(_text: str, _is_query: bool) -> NDArray[np.float32]:  # noqa: FBT001 - the fake's signature
    """Every text is as near to every other one as can be."""
    vector = np.zeros(DIMS, dtype=np.float32)
    vector[0] = 1.0
    return vector


async def test_of_many_that_are_near_no_more_are_read_than_a_gate_can_look_at() -> None:
    async with running_system(System(), recall=LIMITS) as system:
        system.embedder.vector = alike
        for number in range(90):
            await system.store_text("ines", f"Unrelated statement number{number}")
        outcome = await system.recall("ines", QUERY)
    reasons = Counter(item.reason for item in outcome.dropped)
    assert reasons[DropReason.OUTRANKED] == 90 - CONSIDERED_MAX - MARGIN
    assert len(outcome.items) + len(outcome.dropped) == 90
    coverage = outcome.coverage
    assert (coverage.searched, coverage.skipped_unreadable) == (90, 0)


async def test_what_shares_a_word_is_read_however_many_are_as_near() -> None:
    async with running_system(System(), recall=LIMITS) as system:
        system.embedder.vector = alike
        wanted = await system.store_text("ines", "The red kettle whistles")
        for number in range(90):
            await system.store_text("ines", f"Unrelated statement number{number}")
        outcome = await system.recall("ines", QUERY)
    assert wanted in [item.memory.id for item in outcome.items]


async def test_a_search_on_purpose_reads_all_that_is_near() -> None:
    async with running_system(System(), recall=LIMITS) as system:
        system.embedder.vector = alike
        for number in range(90):
            await system.store_text("ines", f"Unrelated statement number{number}")
        outcome = await system.recall("ines", QUERY, is_search=True)
    assert DropReason.OUTRANKED not in {item.reason for item in outcome.dropped}


def test_the_language_of_a_memory_is_remembered_for_each_revision() -> None:
    memo = LanguageMemo()
    english, german = "The kettle is in the kitchen", "Der Kessel ist in der Küche und nicht im Bad"
    assert memo.is_english(memory(english, revision=1))
    assert not memo.is_english(memory(german, revision=2))
    assert memo.is_english(memory(german, revision=1))
    memo.clear()
    assert not memo.is_english(memory(german, revision=1))


def memory(text: str, *, revision: int) -> Memory:
    return Memory(
        id="mem_1",
        user="ines",
        text=text,
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=revision,
    )
