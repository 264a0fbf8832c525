"""When a memory is from: when it was said, and not when its turn was delivered."""

from __future__ import annotations

import pytest
from admission_commands import admit, answer, fact, proposals_of
from store_commands import DAY_MS, DrivenStore

from recalld.models.domain.admission_store import FactResult
from recalld.models.domain.facts import Disposition

pytestmark = pytest.mark.anyio

TEA = "The user likes tea."
START_MS = 1_789_999_000_000


async def said(store: DrivenStore, days_ago: int, disposition: Disposition, session: str = "s") -> FactResult:
    write = fact(store, TEA, session=session, disposition=disposition, at_ms=START_MS - days_ago * DAY_MS)
    admitted = await admit(store, write, session=session)
    return admitted.results[0]


async def test_a_memory_is_from_when_it_was_said_and_never_from_the_future(store: DrivenStore) -> None:
    result = await said(store, 13, Disposition.RECORD)
    assert result.memory is not None
    assert result.memory.created_at_ms == START_MS - 13 * DAY_MS
    stored = await store.reader.memories("ines", (result.memory.id,))
    assert stored[result.memory.id].created_at_ms == START_MS - 13 * DAY_MS


async def test_a_moment_to_come_is_taken_for_now(store: DrivenStore) -> None:
    result = await said(store, -2, Disposition.RECORD)
    assert result.memory is not None
    assert result.memory.created_at_ms == store.now_ms


async def test_what_is_promoted_is_from_when_it_was_first_said(store: DrivenStore) -> None:
    await said(store, 5, Disposition.OBSERVE, "a")
    await said(store, 9, Disposition.OBSERVE, "b")
    result = await said(store, 1, Disposition.OBSERVE, "c")
    assert result.memory is not None
    assert result.memory.created_at_ms == START_MS - 9 * DAY_MS


async def test_what_is_confirmed_is_from_when_it_was_said_and_not_from_the_yes(store: DrivenStore) -> None:
    await said(store, 3, Disposition.PROPOSE)
    [proposal] = await proposals_of(store)
    confirmed = await answer(store, proposal.id)
    assert confirmed.result is not None
    assert confirmed.result.memory is not None
    assert confirmed.result.memory.created_at_ms == START_MS - 3 * DAY_MS
