from __future__ import annotations

import msgspec
import pytest

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.gate_verdict import judge
from recalld.models.policy.mentions import HOLDERS_MAX, SUFFICIENT_KINDS, MentionRule, mention_passes, mentions
from recalld.models.policy.relevance import uncalibrated
from recalld.models.policy.subjects import MENTION_GENERAL, QueryWords, subjects_in, subjects_of

FLOORS = FloorValues(record=0.5, cue=0.5, ask=0.6)
NAMED = Evidence(cosine=0.6, mention=1.0, logit=-9.0)
TASK = "how should I lay out the SvelteJS routes here?"
MODEL = uncalibrated(0.02)


def memory(kind: MemoryKind = MemoryKind.CONVENTION) -> Memory:
    return Memory(
        id="mem_1",
        user="ines",
        text="Web client is Svelte 5",
        kind=kind,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=1,
    )


def candidate(evidence: Evidence = NAMED, kind: MemoryKind = MemoryKind.CONVENTION, query: str = "") -> Candidate:
    return Candidate(memory=memory(kind), evidence=evidence, fused=0.5, query=query)


@pytest.mark.parametrize("kind", MemoryKind)
def test_a_mention_is_enough_for_conventions_entities_and_preferences_alone(kind: MemoryKind) -> None:
    assert mention_passes(kind, NAMED, FLOORS) is (kind in SUFFICIENT_KINDS)
    assert {kind.value for kind in SUFFICIENT_KINDS} == {"convention", "entity", "preference"}


@pytest.mark.parametrize(
    "evidence",
    [
        msgspec.structs.replace(NAMED, mention=None),
        msgspec.structs.replace(NAMED, mention=0.0),
        msgspec.structs.replace(NAMED, cosine=0.49),
        msgspec.structs.replace(NAMED, cosine=None),
    ],
)
def test_without_a_mention_or_a_cosine_at_the_floor_it_is_not(evidence: Evidence) -> None:
    assert not mention_passes(MemoryKind.CONVENTION, evidence, FLOORS)


def test_a_near_spelling_and_a_cosine_at_its_floor_are_enough() -> None:
    assert mention_passes(MemoryKind.ENTITY, Evidence(ask_cosine=0.6, mention=0.8), FLOORS)


@pytest.mark.parametrize(
    ("query", "passes"), [(TASK, True), ("Write the next Svelte route", True), ("Who made Svelte?", False)]
)
def test_only_a_request_for_work_or_advice_is_served_by_a_mention(query: str, *, passes: bool) -> None:
    assert MentionRule(FLOORS, query).passes(candidate()) is passes
    assert MentionRule(FLOORS, "Who made it?").passes(candidate(query=query)) is passes


def test_a_subject_that_many_candidates_hold_tells_none_of_them_apart() -> None:
    held = subjects_in("Web client is Svelte 5", MemoryKind.CONVENTION, ())
    few = {str(number): held for number in range(HOLDERS_MAX)}
    assert mentions(QueryWords(TASK), few) == dict.fromkeys(few, 1.0)
    many = {**few, "more": held}
    assert mentions(QueryWords(TASK), many) == dict.fromkeys(many, 0.0)


def test_the_gate_lets_a_mentioned_record_through_behind_the_relevant_ones_and_marks_it() -> None:
    relevant = msgspec.structs.replace(
        candidate(Evidence(cosine=0.6, logit=4.0), MemoryKind.FACT),
        memory=msgspec.structs.replace(memory(MemoryKind.FACT), id="mem_2"),
    )
    verdict = judge((candidate(), relevant), model=MODEL, mention=MentionRule(FLOORS, TASK))
    assert [(item.memory.id, item.is_mentioned) for item in verdict.passed] == [("mem_2", False), ("mem_1", True)]
    assert verdict.dropped == ()
    without = judge((candidate(), relevant), model=MODEL)
    assert [item.memory.id for item in without.passed] == ["mem_2"]
    assert [item.reason for item in without.dropped] == [DropReason.BELOW_THRESHOLD]


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        ("how do I reverse a list in Python?", False),
        ("how do I install something in Python?", False),
        ("how should I manage the Python projects?", True),
        ("how do I configure flake8 here?", True),
    ],
)
def test_a_language_that_is_named_is_not_enough_without_another_word_in_common(query: str, *, passes: bool) -> None:
    stored = msgspec.structs.replace(memory(), text="Python projects use Ruff, never flake8")
    named = mentions(QueryWords(query), {"mem_1": subjects_of(stored)})["mem_1"]
    held = Candidate(memory=stored, evidence=Evidence(cosine=0.6, mention=named), fused=0.5, query="")
    assert MentionRule(FLOORS, query).passes(held) is passes


def test_a_heading_that_is_the_name_of_a_language_is_as_general_as_the_name() -> None:
    subjects = subjects_in("We write it all in one", MemoryKind.CONVENTION, ("Python: programming language",))
    assert mentions(QueryWords("reverse a list in Python"), {"a": subjects}) == {"a": MENTION_GENERAL}
