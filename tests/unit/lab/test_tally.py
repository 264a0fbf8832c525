from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_rows import judged, result

from recalld.models.domain.records import MemoryKind
from recalld.models.lab.results import RowResult
from recalld.models.lab.tally import arm_report, breakdown, control, detectable, f_measure, percentile

ROWS = (
    # Helped, with one wrong memory beside the right one.
    result(
        "a", judged("r1", injected=True), judged("x", injected=True), relevant=("r1",), kind="direct", pairs=2, ms=10.0
    ),
    # Lost in the gate.
    result("b", judged("r2", injected=False), judged("y", injected=False), relevant=("r2",), kind="direct", ms=20.0),
    # Lost before the gate, and something wrong handed over.
    result("c", judged("z", injected=True), relevant=("r3",), kind="terse", pairs=1, ms=30.0),
    # Two relevant ones, of which one is handed over.
    result(
        "d",
        judged("r4", injected=True, kind=MemoryKind.PREFERENCE),
        judged("r5", injected=False),
        relevant=("r4", "r5"),
        kind="terse",
        source="other",
        ms=40.0,
    ),
    result("e", judged("x", injected=False), is_answerable=False, kind="smalltalk", ms=50.0),
    result("f", judged("x", injected=True), judged("y", injected=True), is_answerable=False, kind="general", ms=60.0),
    result("g", is_answerable=False, kind="smalltalk", source="other", ms=70.0),
)


def test_answerable_rows_and_those_with_nothing_relevant_are_counted_apart() -> None:
    report = arm_report(ROWS)
    assert (report.silence.k, report.silence.n) == (2, 3)
    assert (report.retention.k, report.retention.n) == (2, 3)
    assert (report.candidates.k, report.candidates.n) == (3, 4)
    assert (report.memory_retention.k, report.memory_retention.n) == (2, 4)
    assert report.mean_injected == 4 / 4
    assert report.precision == 2 / 4
    assert report.f05 == f_measure(0.5, 0.5) == 0.5
    assert report.pairs_scored == 3
    assert (report.ms_p50, report.ms_p95) == (40.0, 70.0)


def test_kinds_of_turns_have_the_rate_that_means_something_for_them() -> None:
    by_kind = arm_report(ROWS).by_kind
    assert {kind: (share.k, share.n) for kind, share in by_kind.items()} == {
        "direct": (1, 2),
        "terse": (1, 1),
        "smalltalk": (2, 2),
        "general": (0, 1),
    }


def test_a_kind_with_both_sorts_of_rows_has_both_rates() -> None:
    rows = [
        result("a", judged("r", injected=True), relevant=("r",)),
        result("b", judged("x", injected=True), is_answerable=False),
    ]
    by_kind = arm_report(rows).by_kind
    assert {kind: (share.k, share.n) for kind, share in by_kind.items()} == {
        "made_up/retention": (1, 1),
        "made_up/silence": (0, 1),
    }


def test_the_breakdown_has_what_was_lost_before_the_gate_and_each_source() -> None:
    more = breakdown(ROWS)
    assert (more.served.k, more.served.n) == (2, 4)
    assert (more.precision.k, more.precision.n) == (2, 4)
    assert more.mean_injected_nothing_relevant == pytest.approx(2 / 3)
    assert {kind: (share.k, share.n) for kind, share in more.by_memory_kind.items()} == {
        "fact": (1, 3),
        "preference": (1, 1),
    }
    assert (more.by_source["other"].silence.k, more.by_source["other"].silence.n) == (1, 1)
    assert (more.by_source["notes"].retention.k, more.by_source["notes"].retention.n) == (1, 2)


def test_nothing_at_all_has_figures_too() -> None:
    report = arm_report(())
    assert (report.silence.n, report.silence.low, report.silence.high) == (0, 0.0, 1.0)
    assert (report.precision, report.f05, report.mean_injected, report.ms_p95) == (0.0, 0.0, 0.0, 0.0)
    assert detectable(()).silence == 1.0


def test_a_control_counts_rows_that_differ_and_refuses_other_rows() -> None:
    assert control("gate", ROWS, ROWS).differences == 0
    changed = (result("a", judged("r1", injected=False), relevant=("r1",)), *ROWS[1:])
    assert control("gate", ROWS, changed).differences == 1
    with pytest.raises(ValueError, match="same rows"):
        control("gate", ROWS, (*ROWS[1:], ROWS[0]))


def test_four_times_the_rows_halve_what_can_be_told_from_chance() -> None:
    few = [result(str(number), is_answerable=False) for number in range(50)]
    assert detectable(few * 4).silence == pytest.approx(detectable(few).silence / 2)
    # 50 in each of two groups: 0.28 is the textbook's figure.
    assert detectable(few).silence == pytest.approx(0.28, abs=0.005)


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.95) == 4.0
    assert percentile([7.0], 0.01) == 7.0


@st.composite
def rows(draw: st.DrawFn) -> list[RowResult]:
    made = []
    for number in range(draw(st.integers(0, 8))):
        names = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6))
        candidates = [judged(name, injected=draw(st.booleans())) for name in names]
        relevant = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=2))
        made.append(result(str(number), *candidates, relevant=relevant, kind=draw(st.sampled_from(("k", "l")))))
    return made


@given(rows())
def test_counts_add_up_whatever_the_rows(made: list[RowResult]) -> None:
    report, more = arm_report(made), breakdown(made)
    assert report.retention.n == report.candidates.k
    assert report.candidates.n + report.silence.n == len(made)
    assert more.served.k == report.retention.k
    assert report.silence.low <= report.silence.rate <= report.silence.high
    assert sum(share.n for share in more.by_memory_kind.values()) == report.memory_retention.n
    assert sum(share.n for share in report.by_kind.values()) == report.retention.n + report.silence.n
    assert 0.0 <= report.f05 <= 1.0
