from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.gate_plan import CANDIDATES_MAX, GateEntry, GatePlan, plan_pairs
from recalld.models.policy.views import View, ViewName

ORDER = (ViewName.AS_GIVEN, ViewName.QUERY_THIRD_PERSON, ViewName.RECORD_FIRST_PERSON)


def entry(memory_id: str, *costs_ms: float, decided: bool | None = None) -> GateEntry:
    views = tuple(View(name=name, query="q", text=memory_id) for name, _ in zip(ORDER, costs_ms, strict=False))
    return GateEntry(memory_id=memory_id, views=views, predicted_ms=costs_ms, decided=decided)


def plan(*entries: GateEntry, lanes: int = 1, budget_ms: float = 1000.0, max_items: int = 3) -> GatePlan:
    return plan_pairs(entries, lanes=lanes, budget_ms=budget_ms, max_items=max_items)


def pairs(made: GatePlan) -> list[tuple[str, str]]:
    return [(pair.memory_id, pair.view.name.value) for pair in made.pairs]


def test_every_first_view_comes_before_any_second_view() -> None:
    made = plan(entry("a", 10, 10, 10), entry("b", 10), entry("c", 10, 10))
    assert pairs(made) == [
        ("a", "as_given"),
        ("b", "as_given"),
        ("c", "as_given"),
        ("a", "query_third_person"),
        ("c", "query_third_person"),
        ("a", "record_first_person"),
    ]
    assert made.predicted_ms == 60


def test_the_plan_ends_at_the_first_pair_that_does_not_fit() -> None:
    made = plan(entry("a", 10), entry("b", 50), entry("c", 10), budget_ms=40)
    assert pairs(made) == [("a", "as_given")]
    assert made.dropped_by_budget == ("b", "c")


def test_second_views_that_do_not_fit_drop_no_candidate() -> None:
    made = plan(entry("a", 10, 10), entry("b", 10, 10), budget_ms=25)
    assert pairs(made) == [("a", "as_given"), ("b", "as_given")]
    assert made.dropped_by_budget == ()


def test_two_lanes_fit_twice_as_many() -> None:
    entries = [entry(name, 20) for name in "abcdef"]
    assert len(plan(*entries, lanes=1, budget_ms=60).pairs) == 3
    made = plan(*entries, lanes=2, budget_ms=60)
    assert len(made.pairs) == 6
    assert made.predicted_ms == 60


def test_one_pair_is_tried_while_any_time_is_left_and_none_without() -> None:
    assert len(plan(entry("a", 500), entry("b", 500), budget_ms=0.1).pairs) == 1
    for budget_ms in (0.0, -5.0):
        made = plan(entry("a", 500), budget_ms=budget_ms)
        assert made.pairs == ()
        assert made.dropped_by_budget == ("a",)


def test_decided_candidates_cost_nothing_and_do_not_count() -> None:
    entries = [entry("yes", 10, decided=True), entry("no", 10, decided=False)]
    entries += [entry(f"open_{number}", 1) for number in range(CANDIDATES_MAX + 2)]
    made = plan(*entries)
    assert [memory_id for memory_id, _ in pairs(made)] == [f"open_{number}" for number in range(CANDIDATES_MAX)]
    assert made.dropped_by_count == ("open_8", "open_9")


def test_behind_enough_decided_ones_nothing_is_scored() -> None:
    made = plan(
        entry("open_a", 1),
        entry("yes_a", 1, decided=True),
        entry("yes_b", 1, decided=True),
        entry("open_b", 1),
        max_items=2,
    )
    assert pairs(made) == [("open_a", "as_given")]
    assert made.dropped_by_count == ("open_b",)


costs = st.lists(st.floats(0.1, 80), min_size=1, max_size=3)


@given(st.lists(costs, max_size=12), st.integers(1, 3), st.floats(0, 300), st.floats(0, 300))
def test_more_time_only_adds_pairs_and_the_budget_holds(
    all_costs: list[list[float]], lanes: int, one_ms: float, other_ms: float
) -> None:
    entries = [entry(f"m{place}", *each) for place, each in enumerate(all_costs)]
    low_ms, high_ms = sorted((one_ms, other_ms))
    short, long = (plan(*entries, lanes=lanes, budget_ms=budget_ms) for budget_ms in (low_ms, high_ms))
    assert long.pairs[: len(short.pairs)] == short.pairs
    if len(long.pairs) > 1:
        assert long.predicted_ms <= max(high_ms, long.pairs[0].predicted_ms)
    planned = {pair.memory_id for pair in long.pairs}
    assert planned | set(long.dropped_by_budget) | set(long.dropped_by_count) == {item.memory_id for item in entries}


def test_bad_entries_and_lanes_are_errors() -> None:
    with pytest.raises(ValueError, match="lanes"):
        plan(lanes=0)
    with pytest.raises(ValueError, match="entry a"):
        plan(GateEntry(memory_id="a", views=(), predicted_ms=()))
    with pytest.raises(ValueError, match="entry b"):
        plan(GateEntry(memory_id="b", views=entry("b", 1).views, predicted_ms=(1.0, 2.0)))


def test_what_is_known_costs_nothing_and_its_time_goes_to_the_next() -> None:
    entries = [entry("a", 10, 10), entry("b", 10), entry("c", 10)]
    first = plan(*entries, budget_ms=20)
    assert pairs(first) == [("a", "as_given"), ("b", "as_given")]
    known = frozenset(pair.name for pair in first.pairs)
    second = plan_pairs(entries, lanes=1, budget_ms=20, max_items=3, known=known)
    assert pairs(second) == [("c", "as_given"), ("a", "query_third_person")]
    assert second.dropped_by_budget == ()


def test_a_later_plan_tries_nothing_that_is_not_predicted_to_fit() -> None:
    known = frozenset({("a", ViewName.AS_GIVEN)})
    assert plan_pairs([entry("a", 5), entry("b", 50)], lanes=1, budget_ms=20, max_items=3, known=known).pairs == ()
