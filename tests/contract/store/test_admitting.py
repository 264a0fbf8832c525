"""Admitting turns: once each, all or nothing, with duplicates recognised and updates never swallowed."""

from __future__ import annotations

import pytest
from admission_commands import admit, admit_one, fact, observe_one
from store_commands import EMBEDDER, DrivenStore

from recalld.models.domain.admission_store import DroppedFact, FactOutcome
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import MemoryKind, MemoryStatus

pytestmark = pytest.mark.anyio


async def test_a_turn_writes_all_of_its_facts_with_their_evidence(store: DrivenStore) -> None:
    first = fact(store, "The user works at Acme.", quote="I work at Acme", slot="employer", value="Acme")
    second = fact(store, "The user dislikes cilantro.", quote="I hate cilantro", kind=MemoryKind.PREFERENCE)
    admitted = await admit(store, first, second, turn_id="t1")
    assert [result.outcome for result in admitted.results] == [FactOutcome.CREATED, FactOutcome.CREATED]
    assert await store.listed() == ["mem-0002", "mem-0001"]
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert (lineage.slot, lineage.memory) == ("employer", admitted.results[0].memory)
    [turn] = lineage.evidence
    assert (turn.quote, turn.generator, turn.decision_id) == ("I work at Acme", Generator.RULE, admitted.decision_id)


async def test_the_same_turn_again_answers_the_same_and_changes_nothing(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    newer = fact(store, "The user works at Initech.", slot="employer", value="Initech")
    weak = fact(store, "The user likes tea.", disposition=Disposition.OBSERVE)
    asked = fact(store, "Answer in French.", disposition=Disposition.PROPOSE)
    dropped = (DroppedFact(reason=AdmissionReason.QUESTION, rule="modality", generator=Generator.RULE),)
    first = await admit(store, newer, weak, asked, turn_id="t1", dropped=dropped)
    seq = store.reader.seq("ines")
    for _ in range(5):
        again = await admit(store, fact(store, "Something else entirely"), turn_id="t1")
        assert again.is_repeat
        assert (again.results, again.dropped, again.decision_id) == (first.results, dropped, first.decision_id)
    assert store.reader.seq("ines") == seq
    assert await store.reader.decision("dec-3") is None


async def test_the_same_turn_id_in_another_session_is_another_turn(store: DrivenStore) -> None:
    await admit(store, fact(store, "The user likes tea."), turn_id="t1")
    other = await admit(store, fact(store, "The user likes rum."), turn_id="t1", session="other")
    assert not other.is_repeat
    assert await store.listed() == ["mem-0002", "mem-0001"]


async def test_what_is_no_turn_is_written_each_time(store: DrivenStore) -> None:
    await admit(store, fact(store, "The user likes tea."))
    again = await admit(store, fact(store, "The user likes tea."))
    assert (again.is_repeat, again.results[0].outcome) == (False, FactOutcome.DUPLICATE)


async def test_a_turn_that_led_to_nothing_is_recorded_with_its_reasons(store: DrivenStore) -> None:
    dropped = (DroppedFact(reason=AdmissionReason.HYPOTHETICAL, rule="modality"),)
    await admit(store, turn_id="t1", dropped=dropped)
    again = await admit(store, fact(store, "The user likes tea."), turn_id="t1")
    assert (again.results, again.dropped, again.is_repeat) == ((), dropped, True)
    assert await store.listed() == []
    row = await store.reader.decision("dec-1")
    assert row is not None
    assert (row.decision, row.reason) == ("dropped", "hypothetical")


async def test_a_turn_that_an_explicit_save_wrote_answers_with_it(store: DrivenStore) -> None:
    saved = await store.remember("Prefers tea", turn_key="s\x1ft1")
    admitted = await admit(store, fact(store, "Prefers coffee"), turn_id="t1")
    [result] = admitted.results
    assert (result.outcome, result.memory, admitted.is_repeat) == (FactOutcome.CREATED, saved.memory, True)


async def test_a_turn_that_was_noted_first_answers_with_why_it_led_to_nothing(store: DrivenStore) -> None:
    await store.record_turn("s\x1ft1", AdmissionReason.QUESTION)
    admitted = await admit(store, fact(store, "Prefers coffee"), turn_id="t1")
    assert [each.reason for each in admitted.dropped] == [AdmissionReason.QUESTION]


async def test_an_admitted_turn_answers_a_save_that_names_it(store: DrivenStore) -> None:
    admitted = await admit(store, fact(store, "The user likes tea."), turn_id="t1")
    saved = await store.remember("Something else", turn_key="s\x1ft1")
    assert (saved.outcome, saved.memory) == (RememberOutcome.CREATED, admitted.results[0].memory)


async def test_a_repeat_shows_no_more_of_what_was_forgotten_since(store: DrivenStore) -> None:
    await admit(store, fact(store, "The user likes tea."), turn_id="t1")
    await store.forget("mem-0001", is_hard=True)
    again = await admit(store, fact(store, "The user likes tea."), turn_id="t1")
    assert (again.results[0].outcome, again.results[0].memory) == (FactOutcome.CREATED, None)
    assert await store.listed() == []


async def test_an_id_that_is_taken_takes_the_whole_turn_back(store: DrivenStore) -> None:
    await store.remember("Prefers coffee", user="omar", memory_id="mem-0003")
    writes = (fact(store, "The user likes tea."), fact(store, "The user likes rum."))
    seq = store.reader.seq("ines")
    with pytest.raises(RecalldError) as caught:
        await admit(store, *writes, turn_id="t1")
    assert caught.value.code is ErrorCode.CONFLICT
    assert await store.listed() == []
    assert store.reader.seq("ines") == seq
    assert await store.reader.decision("dec-2") is None
    assert (await store.reader.index_delta("ines", EMBEDDER, since_seq=0, now_ms=store.now_ms)).upserts == ()


@pytest.mark.parametrize("quote", ["broken \ud800 text"])
async def test_a_quote_that_is_no_unicode_is_a_bad_request(store: DrivenStore, quote: str) -> None:
    with pytest.raises(RecalldError) as caught:
        await admit_one(store, "The user likes tea.", quote=quote)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert await store.listed() == []


async def test_the_same_words_add_evidence_and_no_revision(store: DrivenStore) -> None:
    first = await admit_one(store, "The user likes tea.", is_embedded=True, turn_id="t1")
    seq = store.reader.seq("ines")
    again = await admit_one(store, "the user likes  tea", turn_id="t2", cues=("drinks",), session="other")
    assert (again.outcome, again.reason) == (FactOutcome.DUPLICATE, AdmissionReason.DUPLICATE)
    assert again.memory == first.memory
    assert store.reader.seq("ines") == seq
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert [each.turn_id for each in lineage.evidence] == ["t1", "t2"]


async def test_one_turn_counts_once_for_a_record(store: DrivenStore) -> None:
    writes = [fact(store, "The user likes tea.", turn_id="t1") for _ in range(2)]
    admitted = await admit(store, *writes, turn_id="t1")
    assert [result.outcome for result in admitted.results] == [FactOutcome.CREATED, FactOutcome.DUPLICATE]
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert len(lineage.evidence) == 1


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The deadline is October 15th.", "The deadline is October 16th."),
        ("The budget is 2,400 euros.", "The budget is 2,450 euros."),
        ("The user likes cilantro.", "The user dislikes cilantro."),
        ("The build must not use Bazel.", "The build must use Bazel."),
        ("The user prefers tea.", "The user prefers green tea."),
        ("The user's sister lives in Porto.", "The user's sister lives in Lyon."),
    ],
)
async def test_a_nominated_neighbour_never_swallows_an_update(store: DrivenStore, older: str, newer: str) -> None:
    # A18: near as their embeddings are, numbers, dates, names, negation and ordinary words count.
    await admit_one(store, older)
    result = await admit_one(store, newer, neighbours=("mem-0001",))
    assert result.outcome in {FactOutcome.CREATED, FactOutcome.SUPERSEDED}
    assert result.memory is not None
    assert result.memory.text == newer
    assert await store.reader.memory("ines", result.memory.id) == result.memory


async def test_a_nominated_neighbour_that_says_the_same_takes_the_evidence(store: DrivenStore) -> None:
    await admit_one(store, "The user likes strong black tea.")
    result = await admit_one(store, "The user loves black tea.", neighbours=("mem-0001", "mem-9999"))
    assert result.outcome is FactOutcome.DUPLICATE
    assert await store.listed() == ["mem-0001"]


async def test_a_neighbour_in_another_scope_or_of_another_user_is_left_alone(store: DrivenStore) -> None:
    await admit_one(store, "The user likes black tea.", scope="work")
    await admit_one(store, "The user likes black tea!", user="omar")
    result = await admit_one(store, "The user loves black tea.", neighbours=("mem-0001", "mem-0002"))
    assert result.outcome is FactOutcome.CREATED


async def test_a_turn_that_says_until_when_moves_the_expiry_and_one_that_does_not_keeps_it(store: DrivenStore) -> None:
    await admit_one(store, "The user is on call.", expires_at_ms=store.now_ms + 100_000)
    later = store.now_ms + 500_000
    moved = await admit_one(store, "The user is on call.", expires_at_ms=later)
    assert moved.memory is not None
    assert (moved.outcome, moved.memory.expires_at_ms, moved.memory.revision) == (FactOutcome.UPDATED, later, 1)
    kept = await admit_one(store, "The user is on call.")
    assert kept.memory is not None
    assert (kept.outcome, kept.memory.expires_at_ms) == (FactOutcome.DUPLICATE, later)


async def test_what_a_turn_asks_for_explicitly_brings_a_record_up_to_date(store: DrivenStore) -> None:
    await admit_one(store, "The user likes tea.")
    result = await admit_one(
        store, "The user likes tea.", generator=Generator.EXPLICIT, cues=("drinks",), is_embedded=True
    )
    assert result.memory is not None
    assert (result.outcome, result.memory.cues, result.memory.revision) == (FactOutcome.UPDATED, ("drinks",), 2)
    assert await store.found("drinks") == ["mem-0001"]
    assert await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10) == []


@pytest.mark.parametrize("disposition", [Disposition.RECORD, Disposition.OBSERVE, Disposition.PROPOSE])
async def test_a_tombstone_refuses_what_is_not_explicit_in_any_form(
    store: DrivenStore, disposition: Disposition
) -> None:
    await store.remember("The user likes tea.")
    await store.forget("mem-0001")
    refused = await admit_one(store, "the user LIKES tea", disposition=disposition)
    assert (refused.outcome, refused.reason) == (FactOutcome.REFUSED, AdmissionReason.TOMBSTONED)
    assert (refused.observation, refused.proposal, refused.memory) == (None, None, None)
    saved = await admit_one(store, "The user likes tea.", generator=Generator.EXPLICIT)
    assert saved.outcome is FactOutcome.CREATED
    assert (await admit_one(store, "The user likes tea.")).outcome is FactOutcome.DUPLICATE


async def test_a_refused_turn_says_so_in_the_ledger(store: DrivenStore) -> None:
    await store.remember("The user likes tea.")
    await store.forget("mem-0001")
    await admit_one(store, "The user likes tea.")
    row = await store.reader.decision("dec-3")
    assert row is not None
    assert (row.decision, row.reason) == ("refused", "tombstoned")


async def test_the_ledger_keeps_ids_and_rules_and_no_words(store: DrivenStore) -> None:
    await admit_one(store, "The user likes tea.", quote="I like tea")
    row = await store.reader.decision("dec-1")
    assert row is not None
    assert (row.decision, row.reason) == ("kept", "stated")
    assert b"mem-0001" in row.body
    assert b"tea" not in row.body


async def test_a_new_record_is_embedded_with_the_vectors_it_brings(store: DrivenStore) -> None:
    await admit_one(store, "The user likes tea.", is_embedded=True, cues=("drinks",))
    assert await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10) == []
    await admit_one(store, "The user likes rum.")
    pending = await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10)
    assert [each.memory.id for each in pending] == ["mem-0002"]


async def test_weak_evidence_for_a_record_is_kept_with_it_and_changes_nothing(store: DrivenStore) -> None:
    first = await admit_one(store, "The user likes tea.", turn_id="t1")
    weak = await observe_one(store, "The user likes tea.", turn_id="t2")
    assert (weak.outcome, weak.disposition, weak.memory) == (
        FactOutcome.DUPLICATE,
        Disposition.RECORD,
        first.memory,
    )
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert [each.turn_id for each in lineage.evidence] == ["t1", "t2"]


async def test_an_expired_record_does_not_swallow_the_same_words(store: DrivenStore) -> None:
    await admit_one(store, "The user is on call.", expires_at_ms=store.now_ms + 2_000)
    store.now_ms += 5_000
    again = await admit_one(store, "The user is on call.")
    assert again.outcome is FactOutcome.CREATED
    assert await store.listed() == ["mem-0002"]


async def test_evidence_is_bounded_to_the_newest_turns(store: DrivenStore) -> None:
    for number in range(103):
        await admit_one(store, "The user likes tea.", turn_id=f"turn-{number}")
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert [each.turn_id for each in lineage.evidence] == [f"turn-{number}" for number in range(3, 103)]


async def test_lineage_of_what_is_not_there_is_none(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.forget("mem-0001")
    for user, memory_id in (("ines", "mem-0001"), ("ines", "mem-9999"), ("nobody", "mem-0001")):
        assert await store.reader.lineage(user, memory_id, now_ms=store.now_ms) is None
    memory = await store.store("Prefers coffee")
    assert await store.reader.lineage("omar", memory, now_ms=store.now_ms) is None


async def test_a_memory_in_any_status_has_a_lineage(store: DrivenStore) -> None:
    await store.remember("Works at Acme")
    await admit_one(store, "Not at Acme any more", slot="employer", value="Acme", is_ending=True)
    lineage = await store.reader.lineage("ines", "mem-0001", now_ms=store.now_ms)
    assert lineage is not None
    assert lineage.memory.status is MemoryStatus.SUPERSEDED


async def test_each_fact_of_a_turn_counts_as_said_again(store: DrivenStore) -> None:
    for turn_id in ("t1", "t2"):
        writes = [
            fact(store, text, kind=MemoryKind.PREFERENCE, turn_id=turn_id)
            for text in ("The user likes tea.", "The user likes rum.")
        ]
        await admit(store, *writes, turn_id=turn_id)
    candidates = (await store.standing()).candidates
    assert [(each.memory.id, each.turns) for each in candidates] == [("mem-0002", 2), ("mem-0001", 2)]
