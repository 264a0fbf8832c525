"""Observations: how they are folded together, and when they become records."""

from __future__ import annotations

import pytest
from admission_commands import admit, admit_one, answer, fact, observations_of, observe_one, proposals_of, propose_one
from store_commands import DAY_MS, EMBEDDER, DrivenStore

from recalld.models.domain.admission_store import AdmissionLimits, FactOutcome, ProposalState
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import AdmissionReason

pytestmark = pytest.mark.anyio

TEA = "The user likes tea."


async def test_weak_evidence_is_an_observation_that_nobody_recalls(store: DrivenStore) -> None:
    seq = store.reader.seq("ines")
    result = await observe_one(store, TEA)
    assert (result.outcome, result.disposition, result.reason) == (
        FactOutcome.OBSERVED,
        Disposition.OBSERVE,
        AdmissionReason.WEAK_EVIDENCE,
    )
    assert result.observation is not None
    assert (result.observation.turns, result.observation.sessions, result.observation.promoted_to) == (1, 1, "")
    assert await observations_of(store) == (result.observation,)
    assert (await store.found("tea"), await store.listed(), store.reader.seq("ines")) == ([], [], seq)


async def test_three_turns_in_two_sessions_make_a_record(store: DrivenStore) -> None:
    outcomes = [
        (await observe_one(store, TEA, session=session, is_embedded=True)).outcome for session in ("a", "a", "b")
    ]
    assert outcomes == [FactOutcome.OBSERVED, FactOutcome.OBSERVED, FactOutcome.PROMOTED]
    assert await store.found("tea") == ["mem-0003"]
    assert await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10) == []
    lineage = await store.reader.lineage("ines", "mem-0003", now_ms=store.now_ms)
    assert lineage is not None
    assert lineage.observation is not None
    assert (lineage.observation.turns, lineage.observation.promoted_to) == (3, "mem-0003")
    assert [(each.session, each.turn_id) for each in lineage.evidence] == [("a", "t1"), ("a", "t2"), ("b", "t3")]
    assert await observations_of(store) == (lineage.observation,)


async def test_many_turns_of_one_session_are_not_enough(store: DrivenStore) -> None:
    for _ in range(6):
        result = await observe_one(store, TEA)
    assert (result.outcome, await store.listed()) == (FactOutcome.OBSERVED, [])


async def test_one_turn_found_by_several_generators_counts_once(store: DrivenStore) -> None:
    for session in ("a", "b"):
        writes = [fact(store, TEA, session=session, disposition=Disposition.OBSERVE, turn_id="t") for _ in range(3)]
        await admit(store, *writes, session=session, turn_id="t")
    [observation] = await observations_of(store)
    assert (observation.turns, observation.sessions) == (2, 2)


async def test_a_turn_delivered_again_is_not_counted_again(store: DrivenStore) -> None:
    for _ in range(5):
        for session in ("a", "b"):
            await observe_one(store, TEA, session=session, turn_id="t1")
    [observation] = await observations_of(store)
    assert observation.turns == 2


async def test_what_was_observed_long_ago_does_not_count(store: DrivenStore) -> None:
    limits = AdmissionLimits(promote_window_ms=10 * DAY_MS)
    await observe_one(store, TEA, session="a", limits=limits)
    store.now_ms += 9 * DAY_MS
    await observe_one(store, TEA, session="b", limits=limits)
    store.now_ms += 2 * DAY_MS
    third = await observe_one(store, TEA, session="c", limits=limits)
    assert third.observation is not None
    assert (third.outcome, third.observation.turns) == (FactOutcome.OBSERVED, 2)
    assert (await observe_one(store, TEA, session="d", limits=limits)).outcome is FactOutcome.PROMOTED


async def test_an_observation_nobody_repeats_within_the_window_is_dropped(store: DrivenStore) -> None:
    limits = AdmissionLimits(promote_window_ms=DAY_MS)
    await observe_one(store, TEA, limits=limits)
    store.now_ms += 2 * DAY_MS
    await observe_one(store, "The user likes rum.", limits=limits)
    assert [each.text for each in await observations_of(store)] == ["The user likes rum."]


async def test_the_same_words_in_other_case_are_one_observation_and_other_words_two(store: DrivenStore) -> None:
    await observe_one(store, TEA)
    await observe_one(store, "the user likes  TEA")
    await observe_one(store, "The user likes rum.")
    await observe_one(store, TEA, scope="work")
    assert [(each.text, each.scope, each.turns) for each in await observations_of(store)] == [
        (TEA, "work", 1),
        ("The user likes rum.", "", 1),
        (TEA, "", 2),
    ]


async def test_the_same_value_of_a_slot_is_one_observation_in_whatever_words(store: DrivenStore) -> None:
    texts = ("The user works at Acme.", "The user is employed at Acme.", "The user works for Acme.")
    for session, text in zip("abc", texts, strict=True):
        result = await observe_one(store, text, session=session, slot="employer", value="Acme")
    assert result.outcome is FactOutcome.PROMOTED
    assert result.memory is not None
    assert result.memory.text == texts[0]
    assert [each.text for each in await observations_of(store)] == [texts[0]]


async def test_another_value_of_a_slot_is_another_observation(store: DrivenStore) -> None:
    for value in ("15th", "16th"):
        await observe_one(store, f"The deadline is October {value}.", slot="deadline", value=value)
    assert len(await observations_of(store)) == 2


async def test_a_promotion_supersedes_like_any_record(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    for session in ("a", "a", "b"):
        result = await observe_one(
            store, "The user works at Initech.", session=session, slot="employer", value="Initech"
        )
    assert (result.outcome, result.superseded) == (FactOutcome.PROMOTED, ("mem-0001",))


async def test_an_ending_observed_often_enough_ends_the_record(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    for session in ("a", "a", "b"):
        result = await observe_one(
            store, "The user left Acme.", session=session, slot="employer", value="Acme", is_ending=True
        )
    assert (result.outcome, result.superseded, result.memory) == (FactOutcome.CLOSED, ("mem-0001",), None)
    assert await store.listed() == []


async def test_what_needs_a_yes_is_never_promoted_behind_the_users_back(store: DrivenStore) -> None:
    limits = AdmissionLimits(proposals_per_session=0)
    for session in ("a", "b", "c", "d"):
        result = await propose_one(store, "Always answer in French.", session=session, limits=limits)
        assert (result.outcome, result.reason) == (FactOutcome.OBSERVED, AdmissionReason.RATION_USED)
    assert await store.listed() == []
    asked = await observe_one(store, "Always answer in French.", session="e")
    assert asked.proposal is not None
    assert (asked.outcome, await observations_of(store)) == (FactOutcome.PROPOSED, ())
    confirmed = await answer(store, asked.proposal.id)
    assert confirmed.result is not None
    assert confirmed.result.memory is not None
    lineage = await store.reader.lineage("ines", confirmed.result.memory.id, now_ms=store.now_ms)
    assert lineage is not None
    assert [each.session for each in lineage.evidence] == ["a", "b", "c", "d", "e", "s"]


async def test_whatever_should_have_been_asked_for_needs_its_yes_later_as_well(store: DrivenStore) -> None:
    limits = AdmissionLimits(proposals_per_session=0)
    for session in ("a", "b", "c"):
        reason = AdmissionReason.MODEL_FOUND
        result = await propose_one(store, "Call me Zed.", session=session, limits=limits, reason=reason)
    assert (result.outcome, await store.listed()) == (FactOutcome.OBSERVED, [])


async def test_what_the_user_declined_is_not_asked_for_again(store: DrivenStore) -> None:
    first = await propose_one(store, "Always answer in French.", session="a")
    assert first.proposal is not None
    await answer(store, first.proposal.id, is_accepted=False)
    again = await propose_one(store, "always answer in French", session="b")
    assert (again.outcome, again.reason) == (FactOutcome.REFUSED, AdmissionReason.DECLINED)
    assert await proposals_of(store, ProposalState.PENDING) == ()


async def test_a_record_made_after_all_is_not_observed_any_more(store: DrivenStore) -> None:
    await observe_one(store, TEA)
    await admit_one(store, TEA)
    assert (await observe_one(store, TEA)).outcome is FactOutcome.DUPLICATE


async def test_observations_are_paged_latest_first(store: DrivenStore) -> None:
    for number in range(5):
        await observe_one(store, f"The user owns bicycle number {number}.")
    await observe_one(store, "The user owns bicycle number 0.", at_ms=store.now_ms + 50_000)
    seen, cursor = [], None
    while True:
        page = await store.reader.observations("ines", since_ms=0, limit=2, cursor=cursor)
        assert page.total == 5
        seen += [each.text[-2] for each in page.observations]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == ["0", "4", "3", "2", "1"]
    assert (await store.reader.observations("omar", since_ms=0, limit=2, cursor=None)).observations == ()


@pytest.mark.parametrize(("limit", "cursor"), [(0, None), (2, "nonsense")])
async def test_a_bad_page_is_a_bad_request(store: DrivenStore, limit: int, cursor: str | None) -> None:
    with pytest.raises(RecalldError):
        await store.reader.observations("ines", since_ms=0, limit=limit, cursor=cursor)
    with pytest.raises(RecalldError):
        await store.reader.proposals("ines", (), now_ms=0, limit=limit, cursor=cursor)
    with pytest.raises(RecalldError):
        await store.reader.exported("ines", now_ms=0, limit=limit, cursor=cursor)


async def test_turns_before_a_time_are_not_counted(store: DrivenStore) -> None:
    early = store.now_ms
    await observe_one(store, TEA)
    await observe_one(store, TEA)
    page = await store.reader.observations("ines", since_ms=early + 1, limit=5, cursor=None)
    assert [each.turns for each in page.observations] == [1]
