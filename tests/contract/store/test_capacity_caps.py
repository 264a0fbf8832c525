"""Caps: judged on what a turn leaves behind, all or nothing, and told to whoever asks."""

from __future__ import annotations

import msgspec
import pytest
from admission_commands import admit, admit_one, fact, observe_one
from store_commands import DrivenStore

from recalld.models.domain.admission_store import AdmissionLimits, FactOutcome
from recalld.models.domain.facts import Disposition
from recalld.models.domain.outcomes import OutcomeResult
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.store import Remember
from recalld.models.domain.usage import Usage

pytestmark = pytest.mark.anyio

TWO = AdmissionLimits(records_max=2)


async def test_usage_counts_live_records_and_their_characters_with_separators(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Größe 42")
    await store.remember("Prefers rum", scope="work")
    await store.remember("Out of office", expires_at_ms=store.now_ms + 1_500)
    store.now_ms += 2_000
    assert await store.reader.usage("ines", "", now_ms=store.now_ms) == Usage(records=2, chars=11 + 1 + 8)
    assert await store.reader.usage("ines", "work", now_ms=store.now_ms) == Usage(records=1, chars=11)
    assert await store.reader.usage("nobody", "", now_ms=store.now_ms) == Usage(records=0, chars=0)


async def test_a_turn_over_the_cap_is_refused_as_a_whole_with_usage_and_suggestions(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    seq = store.reader.seq("ines")
    writes = (fact(store, "The user likes rum."), fact(store, "The user likes gin."))
    admitted = await admit(store, *writes, turn_id="t1", limits=TWO)
    for result in admitted.results:
        assert (result.outcome, result.reason) == (FactOutcome.REFUSED, AdmissionReason.OVER_CAPACITY)
        assert result.usage == Usage(records=1, chars=11, records_max=2, evictions=("mem-0001",))
    assert await store.listed() == ["mem-0001"]
    assert store.reader.seq("ines") == seq
    row = await store.reader.decision("dec-2")
    assert row is not None
    assert (row.decision, row.reason) == ("refused", "over_capacity")
    assert (await admit(store, turn_id="t1")).results == admitted.results


async def test_characters_are_capped_with_the_separator_between_records(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    assert (await admit_one(store, "Likes gin", limits=AdmissionLimits(chars_max=20))).outcome is FactOutcome.REFUSED
    assert (await admit_one(store, "Likes gin", limits=AdmissionLimits(chars_max=21))).outcome is FactOutcome.CREATED


async def test_a_turn_is_judged_on_its_final_state(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    await store.remember("Prefers tea")
    ending = fact(store, "No longer at Acme.", slot="employer", value="Acme", is_ending=True)
    admitted = await admit(store, fact(store, "The user likes rum."), ending, turn_id="t1", limits=TWO)
    assert [result.outcome for result in admitted.results] == [FactOutcome.CREATED, FactOutcome.CLOSED]


async def test_a_scope_is_capped_for_itself(store: DrivenStore) -> None:
    for number in range(2):
        await admit_one(store, f"The user owns bicycle {number}.", limits=TWO)
    other = await admit_one(store, "The user owns a tram.", scope="work", limits=TWO)
    assert other.outcome is FactOutcome.CREATED
    assert (await admit_one(store, "The user owns a tram.", limits=TWO)).outcome is FactOutcome.REFUSED
    assert (await admit_one(store, "Owns a tram.", user="omar", limits=TWO)).outcome is FactOutcome.CREATED


async def test_a_warning_comes_from_nine_tenths_of_a_cap_on(store: DrivenStore) -> None:
    limits = AdmissionLimits(records_max=10)
    results = [await admit_one(store, f"The user owns bicycle {number}.", limits=limits) for number in range(9)]
    assert [result.usage for result in results[:8]] == [None] * 8
    assert results[8].usage is not None
    assert (results[8].usage.records, results[8].usage.records_max) == (9, 10)


async def test_a_cap_lowered_below_usage_allows_what_does_not_grow(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    for name in ("tea", "rum", "gin"):
        await store.remember(f"Prefers {name}")
    limits = AdmissionLimits(records_max=2, chars_max=20)
    newer = await admit_one(store, "Is at Globex.", slot="employer", value="Globex", limits=limits)
    assert newer.outcome is FactOutcome.SUPERSEDED
    assert newer.usage is not None
    longer = await admit_one(store, "The user now works at Initech.", slot="employer", value="Initech", limits=limits)
    assert (longer.outcome, longer.superseded) == (FactOutcome.REFUSED, ())
    ended = await admit_one(store, "Left.", slot="employer", value="Globex", is_ending=True, limits=limits)
    assert ended.outcome is FactOutcome.CLOSED
    assert (await admit_one(store, "Prefers tea", limits=limits)).outcome is FactOutcome.DUPLICATE


async def test_what_is_only_observed_is_not_capped_and_waits_with_its_promotion(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    full = AdmissionLimits(records_max=1)
    for session in ("a", "a", "b"):
        result = await observe_one(store, "The user likes rum.", session=session, limits=full)
    assert (result.outcome, result.reason) == (FactOutcome.OBSERVED, AdmissionReason.OVER_CAPACITY)
    assert result.usage is not None
    again = await observe_one(store, "The user likes rum.", session="c", limits=TWO)
    assert again.outcome is FactOutcome.PROMOTED


async def test_a_promotion_that_does_not_fit_leaves_the_rest_of_the_turn_in_place(store: DrivenStore) -> None:
    for session in ("a", "a"):
        await observe_one(store, "The user likes rum.", session=session)
    weak = fact(store, "The user likes rum.", session="b", disposition=Disposition.OBSERVE)
    strong = fact(store, "The user likes gin.", session="b")
    limits = AdmissionLimits(records_max=1)
    admitted = await admit(store, weak, strong, session="b", turn_id="t1", limits=limits)
    assert [result.outcome for result in admitted.results] == [FactOutcome.OBSERVED, FactOutcome.CREATED]


async def test_suggestions_are_what_expires_soon_then_what_was_used_least_then_the_oldest(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers rum")
    await store.remember("Prefers gin")
    await store.remember("On call", expires_at_ms=store.now_ms + 100_000)
    shown = await store.show("mem-0001", "mem-0002")
    await store.report(shown, OutcomeResult.USED, "mem-0001")
    refused = await admit_one(store, "The user owns a tram.", limits=AdmissionLimits(records_max=4))
    assert refused.usage is not None
    assert refused.usage.evictions == ("mem-0004", "mem-0002", "mem-0003", "mem-0001")


async def test_an_explicit_save_over_a_cap_is_refused_visibly(store: DrivenStore) -> None:
    await store.remember("Prefers tea")

    def capped(text: str) -> Remember:
        command = store.remember_command(text, decision="", turn_key=f"s\x1f{text}")
        return msgspec.structs.replace(command, records_max=1)

    refused = await store.writer.remember(capped("Prefers rum"))
    assert (refused.outcome, refused.memory, refused.refusal) == (None, None, AdmissionReason.OVER_CAPACITY)
    assert refused.usage is not None
    assert refused.usage.evictions == ("mem-0001",)
    row = await store.reader.decision(refused.decision_id)
    assert row is not None
    assert (row.decision, row.reason) == ("refused", "over_capacity")
    known = await store.writer.remember(capped("Prefers tea"))
    assert (known.refusal, known.usage) == (None, Usage(records=1, chars=11, records_max=1))


async def test_a_save_that_a_tombstone_refuses_says_so(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.forget("mem-0001")
    assert (await store.remember("Prefers tea", is_explicit=False)).refusal is AdmissionReason.TOMBSTONED


async def test_an_ending_passes_where_the_rest_of_its_turn_finds_no_room(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    await store.remember("Prefers tea")
    ending = fact(store, "No longer at Acme.", slot="employer", value="Acme", is_ending=True)
    writes = (ending, fact(store, "The user is vegan."), fact(store, "The user's wife is called Anna."))
    admitted = await admit(store, *writes, turn_id="t1", limits=TWO)

    assert [each.outcome for each in admitted.results] == [
        FactOutcome.CLOSED,
        FactOutcome.REFUSED,
        FactOutcome.REFUSED,
    ]
    assert await store.listed() == ["mem-0002"]
    assert (await admit(store, turn_id="t1")).results == admitted.results
