"""Proposals: asked for seldom, answered once, and never by whoever made them."""

from __future__ import annotations

import pytest
from admission_commands import admit, admit_one, answer, fact, observations_of, proposals_of, propose_one
from store_commands import DAY_MS, DrivenStore

from recalld.models.domain.admission_store import AdmissionLimits, FactOutcome, Proposal, ProposalState
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MemorySource

pytestmark = pytest.mark.anyio

FRENCH = "Always answer in French."


async def proposed(
    store: DrivenStore,
    text: str = FRENCH,
    *,
    session: str = "s",
    proposer: str = "agent",
    limits: AdmissionLimits | None = None,
) -> Proposal:
    result = await propose_one(store, text, session=session, proposer=proposer, limits=limits, quote="en français")
    assert (result.outcome, result.disposition) == (FactOutcome.PROPOSED, Disposition.PROPOSE)
    assert result.proposal is not None
    return result.proposal


async def code_of_answer(store: DrivenStore, proposal_id: str = "", **options: object) -> ErrorCode:
    with pytest.raises(RecalldError) as caught:
        await answer(store, proposal_id, **options)  # type: ignore[arg-type]
    return caught.value.code


async def test_a_proposal_waits_and_is_no_record(store: DrivenStore) -> None:
    proposal = await proposed(store)
    assert (proposal.state, proposal.text, proposal.proposer) == (ProposalState.PENDING, FRENCH, "agent")
    assert proposal.expires_at_ms - proposal.created_at_ms == 7 * DAY_MS
    assert (await proposals_of(store), await store.listed(), await observations_of(store)) == ((proposal,), [], ())


async def test_a_yes_makes_a_record_that_knows_where_it_came_from(store: DrivenStore) -> None:
    proposal = await proposed(store)
    confirmed = await answer(store, proposal.id)
    assert (confirmed.proposal.state, confirmed.is_repeat) == (ProposalState.ACCEPTED, False)
    result = confirmed.result
    assert result is not None
    assert result.memory is not None
    assert (result.outcome, result.reason) == (FactOutcome.CREATED, AdmissionReason.CONFIRMED)
    assert (result.memory.text, result.memory.source) == (FRENCH, MemorySource.CONFIRMED)
    lineage = await store.reader.lineage("ines", result.memory.id, now_ms=store.now_ms)
    assert lineage is not None
    assert lineage.proposal == confirmed.proposal
    assert [(each.generator, each.quote) for each in lineage.evidence] == [
        (Generator.MODEL, "en français"),
        (Generator.CONFIRMED, ""),
    ]


async def test_a_no_makes_no_record(store: DrivenStore) -> None:
    proposal = await proposed(store)
    declined = await answer(store, proposal.id, is_accepted=False)
    assert (declined.proposal.state, declined.result) == (ProposalState.REJECTED, None)
    assert await store.listed() == []
    row = await store.reader.decision("dec-2")
    assert row is not None
    assert row.decision == "rejected"


async def test_a_yes_without_an_id_answers_the_latest_that_waits_in_the_session(store: DrivenStore) -> None:
    limits = AdmissionLimits(proposals_per_session=5)
    await proposed(store, "Use metric units.", limits=limits)
    latest = await proposed(store, limits=limits)
    await proposed(store, "Call me Dana.", session="other", limits=limits)
    confirmed = await answer(store)
    assert confirmed.proposal.id == latest.id
    assert (await answer(store)).proposal.text == "Use metric units."
    assert await code_of_answer(store) is ErrorCode.NOT_FOUND


async def test_the_same_answer_twice_changes_nothing(store: DrivenStore) -> None:
    proposal = await proposed(store)
    first = await answer(store, proposal.id)
    seq = store.reader.seq("ines")
    again = await answer(store, proposal.id)
    assert (again.is_repeat, again.proposal) == (True, first.proposal)
    assert again.result is not None
    assert first.result is not None
    assert again.result.memory == first.result.memory
    assert store.reader.seq("ines") == seq
    assert (await answer(store, proposal.id, edited_text="always answer in French")).is_repeat


async def test_another_answer_than_before_is_a_conflict(store: DrivenStore) -> None:
    proposal = await proposed(store)
    await answer(store, proposal.id)
    assert await code_of_answer(store, proposal.id, edited_text="Always answer in German.") is ErrorCode.CONFLICT
    assert await code_of_answer(store, proposal.id, is_accepted=False) is ErrorCode.CONFLICT
    declined = await proposed(store, "Use metric units.", session="other")
    await answer(store, declined.id, is_accepted=False)
    assert (await answer(store, declined.id, is_accepted=False)).is_repeat
    assert await code_of_answer(store, declined.id) is ErrorCode.CONFLICT


async def test_an_edited_yes_stores_the_edited_words(store: DrivenStore) -> None:
    proposal = await proposed(store)
    edited = "Always answer in German."
    confirmed = await answer(store, proposal.id, edited_text=edited)
    assert confirmed.result is not None
    assert confirmed.result.memory is not None
    assert (confirmed.result.memory.text, confirmed.proposal.accepted_text) == (edited, edited)
    assert (await answer(store, proposal.id, edited_text=edited)).is_repeat
    assert await code_of_answer(store, proposal.id) is ErrorCode.CONFLICT


async def test_edited_words_bring_their_own_slot(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    result = await propose_one(store, "The user works at Globex.", slot="employer", value="Globex")
    assert result.proposal is not None
    confirmed = await answer(store, result.proposal.id, edited_text="The user works at Initech.")
    assert confirmed.result is not None
    assert confirmed.result.superseded == ("mem-0001",)
    [holder] = await store.reader.slot_holders("ines", "", "employer", now_ms=store.now_ms)
    assert holder.value.value == "Initech"


async def test_the_proposer_cannot_approve_its_own_proposal(store: DrivenStore) -> None:
    proposal = await proposed(store, proposer="agent")
    assert await code_of_answer(store, proposal.id, approver="agent") is ErrorCode.FORBIDDEN
    assert await code_of_answer(store, approver="agent") is ErrorCode.FORBIDDEN
    assert [each.state for each in await proposals_of(store)] == [ProposalState.PENDING]
    assert (await answer(store, proposal.id, approver="cli")).proposal.state is ProposalState.ACCEPTED
    assert await code_of_answer(store, proposal.id, approver="agent") is ErrorCode.FORBIDDEN


async def test_what_a_client_brought_as_an_observation_it_cannot_approve_later(store: DrivenStore) -> None:
    limits = AdmissionLimits(proposals_per_session=0)
    for session in ("a", "b"):
        await propose_one(store, FRENCH, session=session, proposer="agent", limits=limits)
    asked = await proposed(store, session="c", proposer="")
    assert (asked.proposer, await observations_of(store)) == ("agent", ())
    assert await code_of_answer(store, asked.id, approver="agent") is ErrorCode.FORBIDDEN
    confirmed = await answer(store, asked.id)
    lineage = await store.reader.lineage("ines", confirmed.proposal.memory_id, now_ms=store.now_ms)
    assert lineage is not None
    assert [each.session for each in lineage.evidence] == ["a", "b", "c", "s"]


async def test_an_ending_that_is_confirmed_closes_the_record_and_says_so_again(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    result = await propose_one(store, "The user left Acme.", slot="employer", value="Acme", is_ending=True)
    assert result.proposal is not None
    confirmed = await answer(store, result.proposal.id)
    assert confirmed.result is not None
    assert (confirmed.result.outcome, confirmed.result.superseded) == (FactOutcome.CLOSED, ("mem-0001",))
    again = await answer(store, result.proposal.id)
    assert again.result is not None
    assert (again.is_repeat, again.result.outcome) == (True, FactOutcome.CLOSED)


async def test_the_proposer_may_withdraw_its_proposal(store: DrivenStore) -> None:
    proposal = await proposed(store, proposer="agent")
    declined = await answer(store, proposal.id, approver="agent", is_accepted=False)
    assert declined.proposal.state is ProposalState.REJECTED


async def test_what_the_daemons_own_rules_proposed_anybody_may_approve(store: DrivenStore) -> None:
    proposal = await proposed(store, proposer="")
    assert (await answer(store, proposal.id, approver="")).proposal.state is ProposalState.ACCEPTED


async def test_a_late_answer_is_told_so_and_changes_nothing(store: DrivenStore) -> None:
    proposal = await proposed(store)
    store.now_ms = proposal.expires_at_ms - 1_000
    late = await answer(store, proposal.id)
    assert (late.proposal.state, late.result) == (ProposalState.EXPIRED, None)
    assert await store.listed() == []
    assert await code_of_answer(store) is ErrorCode.NOT_FOUND
    assert await proposals_of(store, ProposalState.PENDING) == ()
    assert [each.id for each in await proposals_of(store, ProposalState.EXPIRED)] == [proposal.id]


async def test_an_answer_in_the_last_moment_counts(store: DrivenStore) -> None:
    proposal = await proposed(store)
    store.now_ms = proposal.expires_at_ms - 1_001
    assert (await answer(store, proposal.id)).proposal.state is ProposalState.ACCEPTED


async def test_an_unknown_or_foreign_id_is_not_found(store: DrivenStore) -> None:
    proposal = await proposed(store)
    assert await code_of_answer(store, "note-9999") is ErrorCode.NOT_FOUND
    assert await code_of_answer(store, proposal.id, user="omar") is ErrorCode.NOT_FOUND


async def test_a_session_is_asked_once_and_the_rest_is_observed(store: DrivenStore) -> None:
    await proposed(store)
    second = await propose_one(store, "Use metric units.")
    assert (second.outcome, second.reason) == (FactOutcome.OBSERVED, AdmissionReason.RATION_USED)
    assert (await propose_one(store, "Use metric units.", session="other")).outcome is FactOutcome.PROPOSED


async def test_an_answer_does_not_give_the_ration_back(store: DrivenStore) -> None:
    await answer(store, (await proposed(store)).id)
    assert (await propose_one(store, "Use metric units.")).outcome is FactOutcome.OBSERVED


async def test_a_session_that_starts_anew_has_its_ration_again(store: DrivenStore) -> None:

    await proposed(store)
    write = fact(store, "Use metric units.", disposition=Disposition.PROPOSE)
    admitted = await admit(store, write, turn_id="t9", ration_since_ms=store.now_ms + 1)
    assert admitted.results[0].outcome is FactOutcome.PROPOSED


async def test_the_queue_is_bounded(store: DrivenStore) -> None:
    limits = AdmissionLimits(proposals_max=2)
    for session in ("a", "b"):
        await proposed(store, f"Answer in style {session}.", session=session, limits=limits)
    third = await propose_one(store, FRENCH, session="c", limits=limits)
    assert third.outcome is FactOutcome.OBSERVED
    store.now_ms += 8 * DAY_MS
    assert (await propose_one(store, FRENCH, session="d", limits=limits)).outcome is FactOutcome.PROPOSED


async def test_the_same_words_are_one_proposal(store: DrivenStore) -> None:
    first = await proposed(store)
    again = await propose_one(store, "always answer in French", session="other")
    assert again.proposal == first
    assert len(await proposals_of(store)) == 1


async def test_what_is_a_record_already_is_not_asked_for(store: DrivenStore) -> None:
    await admit_one(store, FRENCH)
    assert (await propose_one(store, FRENCH)).outcome is FactOutcome.DUPLICATE


async def test_an_expired_proposal_may_be_made_again(store: DrivenStore) -> None:
    first = await proposed(store)
    store.now_ms += 8 * DAY_MS
    second = await proposed(store, session="later")
    assert second.id != first.id


async def test_a_yes_lifts_a_tombstone(store: DrivenStore) -> None:
    proposal = await proposed(store)
    await store.remember("Something else")
    await store.remember(FRENCH, user="omar")
    confirmed = await answer(store, proposal.id)
    assert confirmed.result is not None
    assert confirmed.result.memory is not None
    await store.forget(confirmed.result.memory.id)
    assert await proposals_of(store) == ()
    assert (await propose_one(store, FRENCH, session="x")).reason is AdmissionReason.TOMBSTONED


async def test_a_yes_over_the_cap_is_refused_and_the_proposal_waits_on(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    proposal = await proposed(store)
    refused = await answer(store, proposal.id, limits=AdmissionLimits(records_max=1))
    assert refused.result is not None
    assert refused.result.usage is not None
    assert (refused.result.outcome, refused.result.reason) == (FactOutcome.REFUSED, AdmissionReason.OVER_CAPACITY)
    assert (refused.proposal.state, refused.result.usage.evictions) == (ProposalState.PENDING, ("mem-0001",))
    await store.forget("mem-0001")
    accepted = await answer(store, proposal.id, limits=AdmissionLimits(records_max=1))
    assert accepted.proposal.state is ProposalState.ACCEPTED


async def test_proposals_are_paged_newest_first(store: DrivenStore) -> None:
    limits = AdmissionLimits(proposals_per_session=9)
    ids = [(await proposed(store, f"Answer in style {number}.", limits=limits)).id for number in range(5)]
    await answer(store, ids[1])
    seen, cursor = [], None
    while True:
        page = await store.reader.proposals(
            "ines", (ProposalState.PENDING,), now_ms=store.now_ms, limit=2, cursor=cursor
        )
        assert page.total == 4
        seen += [each.id for each in page.proposals]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [ids[number] for number in (4, 3, 2, 0)]
