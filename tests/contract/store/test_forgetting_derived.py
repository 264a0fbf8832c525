"""Forgetting reaches everything that was derived from what is forgotten, and nothing else."""

from __future__ import annotations

import pytest
from admission_commands import (
    admit,
    admit_one,
    answer,
    fact,
    observations_of,
    observe_one,
    proposals_of,
    propose_one,
)
from store_commands import EMBEDDER, DrivenStore

from recalld.models.domain.admission_store import AdmissionLimits, FactOutcome
from recalld.models.domain.user_data import PurgeUser

pytestmark = pytest.mark.anyio

CANARY = "The user keeps a canary called Quetzalmoss."
QUOTE = "my canary is called Quetzalmoss"


async def quotes(store: DrivenStore, memory_id: str) -> list[str]:
    lineage = await store.reader.lineage("ines", memory_id, now_ms=store.now_ms)
    assert lineage is not None
    return [each.quote for each in lineage.evidence]


async def everything(store: DrivenStore, user: str = "ines") -> str:
    """All that an export shows of a user."""
    pages, cursor = [], None
    while True:
        page = await store.reader.exported(user, now_ms=store.now_ms, limit=1, cursor=cursor)
        pages.append(repr(page))
        cursor = page.cursor
        if cursor is None:
            return "\n".join(pages)


@pytest.mark.parametrize("is_hard", [False, True])
async def test_no_word_of_a_forgotten_memory_is_left_anywhere(store: DrivenStore, *, is_hard: bool) -> None:
    # S05: by promotion, by confirmation and by evidence.
    for session in ("a", "a", "b"):
        promoted = await observe_one(store, CANARY, session=session, quote=QUOTE, slot="pet", value="Quetzalmoss")
    assert promoted.memory is not None
    await propose_one(store, "Ask the user about Quetzalmoss.", slot="pet", value="Quetzalmoss", session="c")
    await observe_one(store, "The user's pet is Quetzalmoss.", scope="home", slot="pet", value="Quetzalmoss")
    await admit_one(store, "The user lives in Porto.", quote=f"I live in Porto and {QUOTE}")
    assert "Quetzalmoss" in await everything(store)
    await store.forget(promoted.memory.id, is_hard=is_hard)
    assert "Quetzalmoss" not in await everything(store)
    assert (await observations_of(store), await proposals_of(store)) == ((), ())
    assert await store.reader.slot_holders("ines", "", "pet", now_ms=store.now_ms) == ()
    assert await store.found("Quetzalmoss canary") == []


async def test_a_confirmed_record_takes_its_proposal_with_it(store: DrivenStore) -> None:
    proposed = await propose_one(store, CANARY)
    assert proposed.proposal is not None
    confirmed = await answer(store, proposed.proposal.id, edited_text="The user keeps a bird.")
    assert confirmed.result is not None
    assert confirmed.result.memory is not None
    await store.forget(confirmed.result.memory.id)
    assert await proposals_of(store) == ()


async def test_what_says_the_same_and_waits_goes_with_it(store: DrivenStore) -> None:
    await observe_one(store, "the user keeps a canary called QUETZALMOSS")
    await observe_one(store, "The user likes rum.")
    await store.remember(CANARY)
    await store.forget("mem-0003")
    assert [each.text for each in await observations_of(store)] == ["The user likes rum."]


async def test_a_sentence_that_speaks_for_two_facts_is_blanked_for_both(store: DrivenStore) -> None:
    sentence = "I work at Acme and live in Porto"
    writes = [
        fact(store, text, quote=sentence, turn_id="t1")
        for text in ("The user works at Acme.", "The user lives in Porto.")
    ]
    await admit(store, *writes, turn_id="t1")
    await admit_one(store, "The user likes rum.", quote="I like rum")
    await store.forget("mem-0001")
    assert await quotes(store, "mem-0002") == [""]
    assert await quotes(store, "mem-0003") == ["I like rum"]


async def test_each_record_of_a_chain_is_forgotten_for_itself(store: DrivenStore) -> None:
    for employer in ("Globex", "Initech", "Hooli"):
        await admit_one(store, f"The user works at {employer}.", slot="employer", value=employer)
    forgotten = await store.forget("mem-0002")
    assert forgotten.ids == ("mem-0002",)
    first = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    last = await store.reader.lineage("ines", "mem-0003", now_ms=store.now_ms)
    assert first is not None
    assert last is not None
    assert (first.superseded_by, last.supersedes) == (None, ())
    assert (first.memory.text, last.memory.text) == ("The user works at Globex.", "The user works at Hooli.")


async def test_a_superseded_record_can_be_forgotten_and_leaves_a_tombstone(store: DrivenStore) -> None:
    await admit_one(store, "The user works at Globex.", slot="employer", value="Globex")
    await admit_one(store, "The user works at Hooli.", slot="employer", value="Hooli")
    forgotten = await store.forget("mem-0001")
    assert (forgotten.ids, forgotten.tombstones) == (("mem-0001",), 1)
    again = await admit_one(store, "The user works at Globex.", slot="employer", value="Globex")
    assert again.outcome is FactOutcome.REFUSED
    assert await store.listed() == ["mem-0002"]


async def test_other_users_keep_what_they_have(store: DrivenStore) -> None:
    await store.remember(CANARY)
    await admit_one(store, CANARY, user="omar", quote=QUOTE)
    await store.forget("mem-0001", is_hard=True)
    assert "Quetzalmoss" in await everything(store, "omar")


@pytest.mark.parametrize("is_purge", [False, True])
async def test_a_purge_of_one_memory_takes_the_turn_that_led_to_it(store: DrivenStore, *, is_purge: bool) -> None:
    writes = [fact(store, text, turn_id="t1") for text in ("The user likes rum.", CANARY)]
    await admit(store, *writes, turn_id="t1")
    await store.forget("mem-0002", is_purge=is_purge, is_hard=not is_purge)
    again = await admit(store, fact(store, "The user likes gin."), turn_id="t1")
    assert again.is_repeat is not is_purge
    assert (await store.reader.decision("dec-1") is None) is is_purge


async def test_a_purged_user_is_gone_with_everything_and_can_start_anew(store: DrivenStore) -> None:
    user = "omar"
    for session in ("a", "a", "b"):
        await observe_one(store, CANARY, session=session)  # of another user
    await store.remember("Prefers tea", user=user, is_embedded=True, turn_key="s\x1f1")
    await store.remember("Prefers rum", user=user)
    await store.forget("mem-0005", user=user)
    proposed = await propose_one(store, "Call me Zed.", user=user, limits=AdmissionLimits())
    assert proposed.proposal is not None
    await admit_one(store, "Works at Acme.", user=user, slot="employer", value="Acme")
    await admit_one(store, "Works at Hooli.", user=user, slot="employer", value="Hooli")
    before = store.reader.seq(user)
    purged = await store.writer.purge_user(PurgeUser(user=user))
    assert (purged.memories, purged.is_erasure_pending) == (4, False)
    assert (await store.listed(user), await proposals_of(store, user=user)) == ([], ())
    assert await everything(store, user) == await everything(store, "nobody")
    assert await store.reader.erasable(user, [f"mem-{number:04}" for number in range(1, 10)]) == {}
    counts = await store.reader.counts(user, EMBEDDER, now_ms=store.now_ms)
    assert (counts.live, counts.superseded, counts.tombstones) == (0, 0, 0)
    rows = [await store.reader.decision(f"dec-{number}") for number in range(1, store.decisions + 1)]
    assert {row.user for row in rows if row is not None} == {"ines"}
    after = store.reader.seq(user)
    assert after > before
    delta = await store.reader.index_delta(user, EMBEDDER, since_seq=before, now_ms=store.now_ms)
    assert (delta.is_complete, delta.upserts, delta.seq) == (True, (), after)
    assert len(await store.listed()) == 1
    again = await store.remember("Prefers rum", user=user, is_explicit=False, turn_key="s\x1f1")
    assert again.memory is not None
    assert await store.found("rum", user=user) == [again.memory.id]


async def test_purging_a_user_who_is_not_there_does_nothing(store: DrivenStore) -> None:
    purged = await store.writer.purge_user(PurgeUser(user="nobody"))
    assert (purged.memories, store.reader.seq("nobody")) == (0, 0)
