"""Forgetting by words reaches what never became a memory: turns that wait, observations, proposals, quotes."""

from __future__ import annotations

import pytest
from admission_commands import (
    admit_one,
    observations_of,
    observe_one,
    open_decision,
    proposals_of,
    propose_one,
)
from store_commands import DrivenStore

from recalld.models.domain.extraction import AppendPending, PendingTurn, SettlePending
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import Forget, NoteCounts

pytestmark = pytest.mark.anyio

SAID = "Well, our Quibblenaut runs on gas."
WORDS = ("quibblenaut",)


async def append(store: DrivenStore, turn_id: str, text: str, user: str = "ines") -> None:
    turn = PendingTurn(session="s", turn_id=turn_id, text=text, at_ms=store.now_ms, added_at_ms=store.now_ms)
    assert await store.writer.append_pending(AppendPending(user=user, turn=turn, pending_max=10))


async def forget(store: DrivenStore, *memory_ids: str, words: tuple[str, ...] = WORDS) -> NoteCounts:
    command = Forget(
        user="ines",
        memory_ids=memory_ids,
        words=words,
        now_ms=store.now_ms,
        is_hard=True,
        decision=open_decision(store, "ines", "", Op.FORGET),
    )
    return (await store.writer.forget(command)).notes


async def test_waiting_turns_observations_and_proposals_with_the_words_go_and_are_counted(store: DrivenStore) -> None:
    await append(store, "t1", SAID)
    await append(store, "t2", SAID.upper())
    await append(store, "t3", "We moved to BigQuery.")
    await append(store, "t1", SAID, user="tom")
    aside = (await store.reader.pending_turns("ines", limit=9))[1].number
    await store.writer.settle_pending(SettlePending(user="ines", set_aside=(aside,)))
    await observe_one(store, "The user heats with a boiler.", quote=SAID)
    await observe_one(store, "The user likes tea.")
    await propose_one(store, "Always ask about the Quibblenaut.")
    expected = NoteCounts(pending_turns=2, observations=1, proposals=1)

    assert await store.reader.notes_with("ines", WORDS) == expected
    assert await forget(store) == expected

    assert [each.turn_id for each in await store.reader.pending_turns("ines", limit=9)] == ["t3"]
    assert (await store.reader.pending_counts("ines")).set_aside == 0
    assert (await store.reader.pending_counts("tom")).waiting == 1
    assert [each.text for each in await observations_of(store)] == ["The user likes tea."]
    assert await proposals_of(store) == ()
    assert await store.reader.notes_with("ines", WORDS) == NoteCounts()


async def test_every_word_must_be_there(store: DrivenStore) -> None:
    await append(store, "t1", SAID)

    assert await forget(store, words=("quibblenaut", "oil")) == NoteCounts()
    assert (await store.reader.pending_counts("ines")).waiting == 1


async def test_a_memory_that_stays_loses_a_quote_with_the_words(store: DrivenStore) -> None:
    kept = await admit_one(store, "The user lives in Porto.", quote=f"I live in Porto. {SAID}")
    assert kept.memory is not None

    await forget(store)

    lineage = await store.reader.lineage("ines", kept.memory.id, now_ms=store.now_ms)
    assert lineage is not None
    assert [each.quote for each in lineage.evidence] == [""]


async def test_forgetting_by_ids_alone_seeks_no_words(store: DrivenStore) -> None:
    await append(store, "t1", SAID)
    await observe_one(store, "The user owns a Quibblenaut.")

    assert await forget(store, "mem-unknown", words=()) == NoteCounts()
    assert await store.reader.notes_with("ines", ()) == NoteCounts()
    assert (await store.reader.pending_counts("ines")).waiting == 1
