"""What a drill says of rows that each arm has answered."""

from __future__ import annotations

import random

import pytest

from recalld.models.lab.drill import drill_set
from recalld.models.lab.drill_report import DrillArm, DrillSet, DrillVerdict
from recalld.models.lab.drill_rows import DrilledRow
from recalld.models.lab.placebo import placebo_of
from recalld.models.lab.results import Label

RIGHT, WRONG = ("right",), ("wrong",)


def answerable(number: int, *, shipped: tuple[str, ...] = RIGHT, again: tuple[str, ...] | None = None) -> DrilledRow:
    label = Label(row_id=f"a{number}", source="notes", query_kind="k", is_answerable=True, relevant=frozenset(RIGHT))
    opened = (*RIGHT, *WRONG)
    return DrilledRow(
        label=label,
        is_found=True,
        shipped=shipped,
        again=shipped if again is None else again,
        opened=opened,
        pairs_scored=3,
        elapsed_ms=10.0 + number,
    )


def nothing(number: int, *, shipped: tuple[str, ...] = (), skip_reason: str = "") -> DrilledRow:
    label = Label(row_id=f"n{number}", source="notes", query_kind="k", is_answerable=False, relevant=frozenset())
    return DrilledRow(
        label=label, is_found=False, skip_reason=skip_reason, shipped=shipped, again=shipped, opened=WRONG
    )


def drilled(*rows: DrilledRow) -> DrillSet:
    return drill_set(rows, disputed=2, rng=random.Random(3))


GOOD = (*map(answerable, range(20)), *map(nothing, range(30)))


def test_gates_that_help_are_missed_when_they_are_shut() -> None:
    report = drilled(*GOOD)
    assert report.verdict is DrillVerdict.EARNS_ITS_PLACE
    shut = report.against_shipped[DrillArm.FORCED_SHUT.value]
    assert (shut.retention.lost, shut.retention.gained, shut.retention.difference) == (20, 0, -1.0)
    assert shut.retention.is_worse
    assert not shut.silence.is_measurable


def test_gates_that_let_nothing_helpful_through_are_not_missed() -> None:
    useless = [answerable(number, shipped=WRONG) for number in range(20)]
    assert drilled(*useless, *map(nothing, range(30))).verdict is DrillVerdict.DOES_NOT_EARN_ITS_PLACE


@pytest.mark.parametrize(("helped", "verdict"), [(5, "does_not_earn_its_place"), (6, "earns_its_place")])
def test_a_loss_counts_from_six_turns_on(helped: int, verdict: str) -> None:
    rows = [answerable(number, shipped=RIGHT if number < helped else ()) for number in range(20)]
    assert drilled(*rows).verdict.value == verdict


def test_five_answerable_turns_are_too_few_to_say_anything() -> None:
    assert drilled(*map(answerable, range(5)), *map(nothing, range(300))).verdict is DrillVerdict.TOO_FEW_TURNS


def test_gates_that_change_their_mind_give_no_verdict() -> None:
    report = drilled(*GOOD, answerable(99, again=WRONG))
    assert report.control.differences == 1
    assert report.verdict is DrillVerdict.NOT_REPRODUCIBLE


def test_held_open_what_was_silent_is_lost_and_counted_on_its_own() -> None:
    opened = drilled(*GOOD).against_shipped[DrillArm.FORCED_OPEN.value]
    assert (opened.silence.lost, opened.silence.gained) == (30, 0)
    assert not opened.retention.is_measurable


def test_what_no_search_finds_is_not_charged_to_the_gates() -> None:
    lost = answerable(77, shipped=())
    report = drilled(*GOOD, DrilledRow(label=lost.label, is_found=False))
    assert (report.candidates.k, report.candidates.n) == (20, 21)
    assert report.arms[DrillArm.SHIPPED.value].retention.n == 20


def test_rows_and_spared_searches_reconcile() -> None:
    report = drilled(*GOOD, nothing(90, skip_reason="acknowledgement"), nothing(91, skip_reason="arithmetic"))
    rows, cost = report.rows, report.cost
    assert rows.total == rows.disputed + rows.answerable + rows.nothing_relevant == 54
    assert cost.spared.k == sum(cost.skips.values()) == 2
    assert cost.pairs_scored == 60


def test_silence_at_random_is_as_frequent_as_the_gates_and_loses_help_that_they_keep() -> None:
    placebo = placebo_of(GOOD, random.Random(5))
    assert placebo.silent == 30
    assert placebo.as_good == 0
    assert placebo.p_value == pytest.approx(1 / 1001)
    assert placebo.retention.mean == pytest.approx(0.4, abs=0.02)
    assert placebo.silence.mean == pytest.approx(0.6, abs=0.02)
    assert placebo.retention.low < placebo.retention.mean < placebo.retention.high


def test_gates_that_are_silent_at_random_do_not_beat_the_placebo() -> None:
    rng = random.Random(9)
    rows = [
        make(number, shipped=() if rng.random() < 0.5 else shown)
        for make, shown, count in ((answerable, (*RIGHT, *WRONG), 60), (nothing, WRONG, 90))
        for number in range(count)
    ]
    assert placebo_of(rows, random.Random(5)).p_value > 0.05


def test_gates_that_speak_more_often_than_open_ones_leave_nothing_to_draw() -> None:
    rows = [DrilledRow(label=answerable(0).label, is_found=True, shipped=RIGHT, again=RIGHT)]
    placebo = placebo_of(rows, random.Random(1), draws=10)
    assert (placebo.silent, placebo.as_good) == (1, 0)


def test_the_placebo_hands_over_no_fixed_list() -> None:
    with pytest.raises(ValueError, match="each draw"):
        answerable(0).handed(DrillArm.RANDOM_SKIP)


def test_no_rows_at_all_have_figures_too() -> None:
    report = drilled()
    assert report.verdict is DrillVerdict.TOO_FEW_TURNS
    assert report.random_skip.silent == 0
