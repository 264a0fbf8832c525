from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Evidence
from recalld.models.domain.records import Memory
from recalld.models.domain.store import LexicalHit
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.fusion import RECENCY_HALF_LIFE_MS, Legs, VectorHit, fuse, fused_score, recency

FLOORS = FloorValues(record=0.4, cue=0.5, ask=0.6)
cosines = st.none() | st.floats(-1, 1)
scores = st.none() | st.floats(0, 100)
evidences = st.builds(Evidence, cosine=cosines, cue_cosine=cosines, ask_cosine=cosines, lexical=scores)


def test_the_formula_gives_the_hand_computed_value() -> None:
    evidence = Evidence(cosine=0.7, lexical=8.0)
    expected = (0.7 * (0.5 + 0.5 * 0.3 / 0.6) + 0.3 * 0.5) * (0.85 + 0.15 * 0.5)
    assert fused_score(evidence, floors=FLOORS, age_ms=RECENCY_HALF_LIFE_MS) == pytest.approx(expected)


def test_a_cosine_at_its_floor_counts_a_half_whichever_it_is() -> None:
    at_floor = [Evidence(cosine=0.4), Evidence(cue_cosine=0.5), Evidence(ask_cosine=0.6), Evidence()]
    assert {round(fused_score(evidence, floors=FLOORS, age_ms=0), 12) for evidence in at_floor} == {0.35}


def test_the_best_of_the_three_cosines_counts() -> None:
    alone = fused_score(Evidence(ask_cosine=0.9), floors=FLOORS, age_ms=0)
    assert fused_score(Evidence(cosine=0.1, cue_cosine=0.2, ask_cosine=0.9), floors=FLOORS, age_ms=0) == alone


@given(evidences, st.integers(-(10**12), 10**13))
def test_a_score_lies_between_zero_and_one(evidence: Evidence, age_ms: int) -> None:
    assert 0.0 <= fused_score(evidence, floors=FLOORS, age_ms=age_ms) <= 1.0


@given(st.floats(-1, 1), st.floats(-1, 1), scores)
def test_more_similarity_never_scores_less(one: float, other: float, lexical: float | None) -> None:
    low, high = sorted((one, other))
    for name in ("cosine", "cue_cosine", "ask_cosine"):
        worse = fused_score(Evidence(lexical=lexical, **{name: low}), floors=FLOORS, age_ms=0)
        assert worse <= fused_score(Evidence(lexical=lexical, **{name: high}), floors=FLOORS, age_ms=0) + 1e-12


def test_recency_halves_its_share_in_thirty_days_and_a_future_memory_is_new() -> None:
    assert recency(0) == recency(-5) == 1.0
    assert recency(RECENCY_HALF_LIFE_MS) == pytest.approx(0.925)
    assert recency(10**15) == pytest.approx(0.85)


def test_a_memory_scores_the_same_alone_and_in_company(make_memory: Callable[..., Memory]) -> None:  # R14
    memories = {name: make_memory(name) for name in ("mem_a", "mem_b", "mem_c")}
    hit = VectorHit(memory_id="mem_a", cosine=0.8)
    company = (VectorHit(memory_id="mem_b", cosine=0.1), VectorHit(memory_id="mem_c", cosine=0.1))
    (alone,) = fuse(Legs(vector=(hit,)), memories, floors=FLOORS, now_ms=0)
    accompanied = fuse(Legs(vector=(*company, hit)), memories, floors=FLOORS, now_ms=0)
    assert accompanied[0] == alone
    assert alone.fused > 0.35


def test_the_stronger_lexical_match_comes_first_and_no_scores_are_equal(
    make_memory: Callable[..., Memory],
) -> None:  # R11
    memories = {f"mem_{number}": make_memory(f"mem_{number}") for number in range(11)}
    hits = tuple(LexicalHit(memory_id=f"mem_{number}", score=0.5 + number * 0.1) for number in range(10))
    best = LexicalHit(memory_id="mem_10", score=12.0)
    ordered = fuse(Legs(lexical=(*hits, best)), memories, floors=FLOORS, now_ms=0)
    assert ordered[0].memory.id == "mem_10"
    fused = [candidate.fused for candidate in ordered]
    assert fused == sorted(set(fused), reverse=True)


def test_a_memory_of_both_legs_carries_both_evidences_and_its_nearest_cue(make_memory: Callable[..., Memory]) -> None:
    memory = make_memory("mem_a", cues=("home", "city"))
    legs = Legs(
        vector=(VectorHit(memory_id="mem_a", cosine=0.3, cue_cosine=0.6, ask_cosine=0.5, cue_ordinal=1),),
        lexical=(LexicalHit(memory_id="mem_a", score=2.0), LexicalHit(memory_id="mem_gone", score=9.0)),
    )
    assert legs.memory_ids() == ("mem_a", "mem_gone")
    (candidate,) = fuse(legs, {"mem_a": memory}, floors=FLOORS, now_ms=0)
    assert candidate.evidence == Evidence(cosine=0.3, cue_cosine=0.6, ask_cosine=0.5, lexical=2.0)
    assert candidate.best_cue == "city"


def test_a_cue_that_was_removed_meanwhile_is_no_cue(make_memory: Callable[..., Memory]) -> None:
    legs = Legs(vector=(VectorHit(memory_id="mem_a", cue_cosine=0.6, cue_ordinal=2),))
    (candidate,) = fuse(legs, {"mem_a": make_memory("mem_a", cues=("home",))}, floors=FLOORS, now_ms=0)
    assert candidate.best_cue == ""


def test_a_damaged_vector_counts_as_no_vector(make_memory: Callable[..., Memory]) -> None:
    legs = Legs(vector=(VectorHit(memory_id="mem_a", cosine=math.nan, ask_cosine=0.7),))
    (candidate,) = fuse(legs, {"mem_a": make_memory("mem_a")}, floors=FLOORS, now_ms=0)
    assert candidate.evidence == Evidence(ask_cosine=0.7)


def test_ties_go_to_the_newer_id(make_memory: Callable[..., Memory]) -> None:
    memories = {name: make_memory(name) for name in ("mem_a", "mem_b")}
    legs = Legs(vector=(VectorHit(memory_id="mem_a", cosine=0.5), VectorHit(memory_id="mem_b", cosine=0.5)))
    assert [item.memory.id for item in fuse(legs, memories, floors=FLOORS, now_ms=0)] == ["mem_b", "mem_a"]
