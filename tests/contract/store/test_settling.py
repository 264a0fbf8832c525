"""Observations that a person settles: records before enough turns say so, or nothing any more."""

from __future__ import annotations

import pytest
from admission_commands import observations_of, observe_one, settle
from store_commands import DrivenStore

from recalld.models.domain.admission_store import AdmissionLimits, FactOutcome, Observation
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MemorySource

pytestmark = pytest.mark.anyio

RUM = "The user likes rum."


async def observed(store: DrivenStore, text: str = RUM, generator: Generator = Generator.JUDGE) -> Observation:
    result = await observe_one(store, text, quote="rum please", generator=generator)
    assert result.observation is not None
    return result.observation


async def code_of(store: DrivenStore, observation_id: str, *, is_accepted: bool = True, approver: str = "cli") -> str:
    with pytest.raises(RecalldError) as caught:
        await settle(store, observation_id, is_accepted=is_accepted, approver=approver)
    return caught.value.code


async def test_a_yes_makes_a_record_that_knows_the_turns_and_the_person_behind_it(store: DrivenStore) -> None:
    observation = await observed(store)
    settled = await settle(store, observation.id)
    assert settled.result is not None
    assert settled.result.memory is not None
    memory = settled.result.memory
    assert (settled.result.outcome, memory.text, memory.source) == (FactOutcome.CREATED, RUM, MemorySource.CONFIRMED)
    assert settled.observation.promoted_to == memory.id
    lineage = await store.reader.lineage("ines", memory.id, now_ms=store.now_ms)
    assert lineage is not None
    assert lineage.observation is not None
    assert lineage.observation.id == observation.id
    assert [(each.generator, each.quote) for each in lineage.evidence] == [
        (Generator.JUDGE, "rum please"),
        (Generator.CONFIRMED, ""),
    ]
    assert await store.listed() == [memory.id]


async def test_a_yes_with_other_words_stores_those(store: DrivenStore) -> None:
    observation = await observed(store)
    settled = await settle(store, observation.id, edited_text="The user likes old rum.")
    assert settled.result is not None
    assert settled.result.memory is not None
    assert settled.result.memory.text == "The user likes old rum."


async def test_a_no_takes_the_observation_away_and_its_words_do_not_come_back(store: DrivenStore) -> None:
    observation = await observed(store)
    settled = await settle(store, observation.id, is_accepted=False)
    assert (settled.observation.text, settled.result) == (RUM, None)
    assert (await observations_of(store), await store.listed()) == ((), [])
    again = await observe_one(store, RUM, session="later")
    assert (again.outcome, again.reason) == (FactOutcome.REFUSED, AdmissionReason.TOMBSTONED)
    row = await store.reader.decision("dec-2")
    assert row is not None
    assert row.decision == "rejected"


async def test_an_explicit_save_brings_back_what_was_turned_down(store: DrivenStore) -> None:
    observation = await observed(store)
    await settle(store, observation.id, is_accepted=False)
    saved = await store.remember(RUM)
    assert await store.listed() == [saved.memory.id if saved.memory is not None else ""]


async def test_a_yes_to_an_end_closes_what_is_stored_or_where_nothing_is_waits_no_more(store: DrivenStore) -> None:
    for _ in range(2):
        noted = await observe_one(store, "Left Acme.", slot="employer", value="Acme", is_ending=True)
        assert noted.observation is not None
        settled = await settle(store, noted.observation.id)
        assert settled.result is not None
        assert (settled.result.outcome, settled.result.superseded) == (FactOutcome.CLOSED, ())
        assert await observations_of(store) == ()
    await store.remember("Works at Acme")
    noted = await observe_one(store, "Left Acme.", slot="employer", value="Acme", is_ending=True)
    assert noted.observation is not None
    closed = await settle(store, noted.observation.id)
    assert closed.result is not None
    assert (len(closed.result.superseded), await store.listed()) == (1, [])


async def test_a_second_yes_changes_nothing_and_a_no_to_a_record_is_a_conflict(store: DrivenStore) -> None:
    observation = await observed(store)
    first = await settle(store, observation.id)
    again = await settle(store, observation.id)
    assert again.is_repeat
    assert again.result is not None
    assert first.result is not None
    assert again.result.memory == first.result.memory
    assert await code_of(store, observation.id, is_accepted=False) == ErrorCode.CONFLICT


async def test_an_observation_that_is_not_there_is_not_found(store: DrivenStore) -> None:
    assert await code_of(store, "note-0009") == ErrorCode.NOT_FOUND


async def test_a_client_cannot_vouch_for_what_its_own_model_found(store: DrivenStore) -> None:
    observation = await observed(store, generator=Generator.MODEL)
    assert await code_of(store, observation.id, approver="rule") == ErrorCode.FORBIDDEN
    settled = await settle(store, observation.id, approver="cli")
    assert settled.result is not None


async def test_a_yes_that_does_not_fit_the_caps_leaves_the_observation_waiting(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    observation = await observed(store)
    settled = await settle(store, observation.id, limits=AdmissionLimits(records_max=1))
    assert settled.result is not None
    assert (settled.result.outcome, settled.result.reason) == (FactOutcome.REFUSED, AdmissionReason.OVER_CAPACITY)
    assert [each.id for each in await observations_of(store)] == [observation.id]


async def test_a_second_yes_says_that_a_person_confirmed_it_and_a_yes_counts_as_no_turn(store: DrivenStore) -> None:
    observation = await observed(store)
    first = await settle(store, observation.id)
    again = await settle(store, observation.id)
    assert again.result is not None
    assert first.result is not None
    assert (again.is_repeat, again.result.reason) == (True, AdmissionReason.CONFIRMED)
    assert again.result.memory == first.result.memory
    assert (again.observation.turns, again.observation.sessions) == (1, 1)


async def test_an_edited_text_stands_with_the_yes_as_the_users_words(store: DrivenStore) -> None:
    observation = await observed(store)
    settled = await settle(store, observation.id, edited_text="The user likes old rum.")
    assert settled.result is not None
    assert settled.result.memory is not None
    lineage = await store.reader.lineage("ines", settled.result.memory.id, now_ms=store.now_ms)
    assert lineage is not None
    quotes = [each.quote for each in lineage.evidence if each.generator is Generator.CONFIRMED]
    assert quotes == ["The user likes old rum."]


async def test_the_same_words_again_are_a_repeat_and_other_words_a_conflict(store: DrivenStore) -> None:
    observation = await observed(store)
    first = await settle(store, observation.id, edited_text="The user likes old rum.")
    again = await settle(store, observation.id, edited_text="the user likes old rum")
    assert (again.is_repeat, again.result and again.result.memory) == (True, first.result and first.result.memory)
    with pytest.raises(RecalldError, match=r"observation_id: .* other words") as caught:
        await settle(store, observation.id, edited_text="The user likes gin.")
    assert caught.value.code == ErrorCode.CONFLICT
