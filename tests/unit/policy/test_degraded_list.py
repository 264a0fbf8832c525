"""What no gate has judged is shown only where it stands out, and nothing moves up for what is excluded."""

from __future__ import annotations

import math
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate
from recalld.models.policy.degraded_list import LAG_MAX, DegradedList, stand_out
from recalld.models.policy.floor import FloorValues

FLOORS = FloorValues(record=0.4, cue=0.5, ask=0.6)
cosines = st.lists(st.none() | st.floats(-1, 1), max_size=8)


def shown(listed: DegradedList) -> list[str]:
    return [each.memory.id for each in listed.shown]


def reasons(listed: DegradedList) -> dict[str, DropReason]:
    return {item.memory_id: item.reason for item in listed.dropped}


def test_what_lies_far_behind_the_best_is_left_out(make_candidate: Callable[..., Candidate]) -> None:
    ranked = [make_candidate("a", cosine=0.8), make_candidate("b", cosine=0.7), make_candidate("c", cosine=0.5)]
    listed = stand_out(ranked, kept={"a", "b", "c"}, floors=FLOORS, items_max=3)
    assert shown(listed) == ["a", "b"]
    assert reasons(listed) == {"c": DropReason.BEHIND_BEST}


def test_an_excluded_hit_keeps_its_place_and_its_height(make_candidate: Callable[..., Candidate]) -> None:
    ranked = [make_candidate("a", cosine=0.8), make_candidate("b", cosine=0.78), make_candidate("c", cosine=0.76)]
    listed = stand_out([*ranked, make_candidate("d", cosine=0.5)], kept={"c", "d"}, floors=FLOORS, items_max=2)
    assert shown(listed) == []
    assert reasons(listed) == {"c": DropReason.OVER_MAX_ITEMS, "d": DropReason.BEHIND_BEST}


def test_each_cosine_counts_from_its_own_floor(make_candidate: Callable[..., Candidate]) -> None:
    ranked = [make_candidate("record", cosine=0.7), make_candidate("ask", cosine=0.1, ask_cosine=0.8)]
    assert shown(stand_out(ranked, kept={"record", "ask"}, floors=FLOORS, items_max=2)) == ["record", "ask"]
    far = [make_candidate("record", cosine=0.7), make_candidate("ask", cosine=0.1, ask_cosine=0.7)]
    assert shown(stand_out(far, kept={"record", "ask"}, floors=FLOORS, items_max=2)) == ["record"]


def test_what_has_no_vector_or_answers_by_its_time_cannot_lie_behind(make_candidate: Callable[..., Candidate]) -> None:
    ranked = [make_candidate("timed", cosine=0.1), make_candidate("words"), make_candidate("near", cosine=0.9)]
    listed = stand_out(ranked, kept={"timed", "words", "near"}, floors=FLOORS, items_max=3, timed={"timed"})
    assert shown(listed) == ["timed", "words", "near"]


def test_a_search_leaves_nothing_out_for_lying_behind(make_candidate: Callable[..., Candidate]) -> None:
    ranked = [make_candidate("a", cosine=0.9), make_candidate("b", cosine=0.41)]
    assert shown(stand_out(ranked, kept={"a", "b"}, floors=FLOORS, items_max=2, lag_max=math.inf)) == ["a", "b"]


@given(values=cosines, hidden=st.sets(st.integers(0, 7)), items_max=st.integers(0, 5))
def test_exclusions_only_ever_take_away(
    make_candidate: Callable[..., Candidate], values: list[float | None], hidden: set[int], items_max: int
) -> None:
    ranked = [make_candidate(str(place), cosine=value) for place, value in enumerate(values)]
    everything = {each.memory.id for each in ranked}
    kept = everything - {str(place) for place in hidden}
    full = stand_out(ranked, kept=everything, floors=FLOORS, items_max=items_max)
    part = stand_out(ranked, kept=kept, floors=FLOORS, items_max=items_max)
    assert shown(part) == [each for each in shown(full) if each in kept]
    assert {*shown(part), *reasons(part)} == kept
    measured = [value for value in values if value is not None]
    assert all(
        each.evidence.cosine is None or each.evidence.cosine >= max(measured) - LAG_MAX - 1e-9 for each in part.shown
    )
