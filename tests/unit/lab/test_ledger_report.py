"""From counts of the ledger to figures: sums agree or say that they do not, and no figure is made up."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.ledger_tally import (
    BUCKET_MAX,
    Amount,
    LedgerTallies,
    LedgerTally,
    Step,
    TallyFamily,
    bucket_edge_ms,
    bucket_of,
)
from recalld.models.domain.reasons import DropReason
from recalld.models.lab.ledger.report import ledger_report
from recalld.models.lab.ledger.stages import Stage, stage_of
from recalld.models.lab.ledger.times import histogram_percentile_ms


def tally(family: TallyFamily, *key: str, count: int, total: float = 0.0) -> LedgerTally:
    return LedgerTally(family=family, key=key, count=count, total=total)


def decided(op: str, decision: str, reason: str, count: int) -> LedgerTally:
    return tally(TallyFamily.DECISION, op, decision, reason, count=count)


def amount(name: Amount, total: float, count: int = 1) -> LedgerTally:
    return tally(TallyFamily.AMOUNT, name.value, count=count, total=total)


def timed(step: Step, elapsed_ms: float, count: int = 1) -> LedgerTally:
    return tally(TallyFamily.TIME, step.value, str(bucket_of(elapsed_ms)), count=count, total=elapsed_ms * count)


WEEK = (
    decided("recall", "inject", "relevant", 4),
    decided("recall", "silent", "gated", 3),
    decided("recall", "skip", "acknowledgement", 2),
    decided("recall", "error", "store_unreadable", 1),
    decided("observe", "kept", "stated", 2),
    decided("observe", "dropped", "guess", 1),
    decided("observe", "dropped", "nothing_stated", 5),
    tally(TallyFamily.MODE, "gated", "", count=9),
    tally(TallyFamily.MODE, "empty", "store_unreadable", count=1),
    tally(TallyFamily.CANDIDATE, "", count=5),
    tally(TallyFamily.CANDIDATE, "below_floor", count=10),
    tally(TallyFamily.CANDIDATE, "below_threshold", count=4),
    tally(TallyFamily.CANDIDATE, "over_max_items", count=1),
    amount(Amount.CANDIDATES, 20, count=7),
    tally(TallyFamily.FACT, "rule", "created", "stated", count=2),
    tally(TallyFamily.FACT, "judge", "dropped", "guess", count=1),
    tally(TallyFamily.FACT, "", "dropped", "nothing_stated", count=5),
    amount(Amount.FACTS, 8, count=8),
    amount(Amount.KEPT_BACK, 6),
    amount(Amount.KEPT_BACK_CHARS, 402),
    amount(Amount.SEARCHED_MS, 210.0, count=7),
    amount(Amount.TURN_MODEL_CHARS, 41),
    timed(Step.TURN, 0.5, count=9),
    timed(Step.RELEVANCE, 20.0, count=7),
    timed(Step.WRITE, 2.0, count=8),
)
ROWS = {"recall": 10, "observe": 8}


def report_of(*tallies: LedgerTally, rows: dict[str, int] | None = None) -> LedgerTallies:
    return LedgerTallies(since_ms=0, until_ms=1, tallies=tallies, rows=rows)


def test_every_sum_agrees_where_nothing_was_lost() -> None:
    sums = {each.name: each for each in ledger_report(report_of(*WEEK, rows=ROWS)).reconciliations}
    assert set(sums) == {"ledger_rows", "recalls", "turns", "candidates", "facts"}
    assert all(each.holds for each in sums.values())
    assert sums["recalls"].parts == {
        "injected": 4,
        "silent:gated": 3,
        "skip:acknowledgement": 2,
        "error:store_unreadable": 1,
    }
    assert sums["turns"].parts == {"nothing": 5, "kept": 2, "dropped": 1}
    assert sums["candidates"].parts == {"floor": 10, "relevance": 4, "pack": 1, "injected": 5}


SUMMED = (TallyFamily.DECISION, TallyFamily.CANDIDATE, TallyFamily.FACT)


@pytest.mark.parametrize("lost", [place for place, each in enumerate(WEEK) if each.family in SUMMED])
def test_a_count_that_got_lost_shows_in_a_sum(lost: int) -> None:
    left = [each for place, each in enumerate(WEEK) if place != lost]
    assert any(not each.holds for each in ledger_report(report_of(*left, rows=ROWS)).reconciliations)


def test_without_rows_to_count_no_sum_claims_to_have_counted_them() -> None:
    names = [each.name for each in ledger_report(report_of(*WEEK)).reconciliations]
    assert names == ["candidates", "facts"]


def test_shares_are_of_all_decisions_of_their_operation() -> None:
    report = ledger_report(report_of(*WEEK, rows=ROWS))
    kept = next(each for each in report.decisions if each.decision == "kept")
    assert (kept.share.k, kept.share.n, kept.share.rate) == (2, 8, 0.25)
    assert 0.0 < kept.share.low < 0.25 < kept.share.high < 1.0


def test_the_chain_of_gates_is_judged_on_what_reached_each() -> None:
    compound = ledger_report(report_of(*WEEK, rows=ROWS)).compound
    assert compound is not None
    passed = {each.gate: (each.passed.k, each.passed.n) for each in compound.steps}
    assert passed == {
        "turn": (7, 9),
        "search": (20, 20),
        "exclusions": (20, 20),
        "floor": (10, 20),
        "budget": (10, 10),
        "relevance": (6, 10),
        "pack": (5, 6),
    }
    assert (compound.candidates.k, compound.candidates.n) == (5, 20)
    assert (compound.recalls.k, compound.recalls.n) == (4, 10)


def test_a_gate_is_charged_what_it_spent_and_credited_what_it_avoided() -> None:
    costs = {each.gate: each for each in ledger_report(report_of(*WEEK, rows=ROWS)).costs}
    turn, relevance, write = costs["turn"], costs["relevance"], costs["write"]
    assert (turn.decisions, turn.avoided, turn.avoided_ms, turn.spent_tokens) == (9, 2, 60.0, 11)
    assert (relevance.spent_ms, relevance.avoided, relevance.avoided_tokens) == (140.0, 6, 101)
    assert (write.decisions, write.avoided, write.avoided_tokens) == (8, 1, None)


def test_what_a_skip_avoided_is_not_guessed_where_no_search_ran() -> None:
    only_skips = (decided("recall", "skip", "arithmetic", 3), timed(Step.TURN, 0.2, count=3))
    (turn,) = ledger_report(report_of(*only_skips)).costs
    assert (turn.avoided, turn.avoided_ms) == (3, None)


def test_an_empty_window_has_no_figures_and_no_faults() -> None:
    report = ledger_report(report_of(rows={}))
    assert report.compound is None
    assert (report.decisions, report.times, report.costs) == ((), (), ())
    assert all(each.holds and each.total == 0 for each in report.reconciliations)


def test_every_reason_to_drop_a_candidate_belongs_to_a_step() -> None:
    assert all(stage_of(reason.value) is not Stage.INJECTED for reason in DropReason)
    assert {stage_of(reason.value) for reason in DropReason} == set(Stage) - {Stage.INJECTED}
    assert stage_of("") is Stage.INJECTED
    assert stage_of("of_a_later_version") is Stage.SEARCH


@given(st.lists(st.floats(min_value=0.001, max_value=100_000.0), min_size=1), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_read_at_most_a_fifth_high_and_never_low(times_ms: list[float], share: float) -> None:
    histogram: dict[int, int] = {}
    for each in times_ms:
        histogram[bucket_of(each)] = histogram.get(bucket_of(each), 0) + 1
    true_ms = sorted(times_ms)[math.ceil(share * len(times_ms)) - 1]
    read_ms = histogram_percentile_ms(histogram, share)
    assert true_ms * (1 - 1e-9) <= read_ms <= max(true_ms * 1.2, bucket_edge_ms(0))


def test_an_edge_belongs_to_the_bucket_that_it_ends() -> None:
    assert [bucket_of(bucket_edge_ms(bucket)) for bucket in range(BUCKET_MAX + 1)] == list(range(BUCKET_MAX + 1))
    assert bucket_of(0.0) == 0
    assert bucket_of(1e12) == BUCKET_MAX


def test_a_percentile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="0 times"):
        histogram_percentile_ms({}, 0.5)
    with pytest.raises(ValueError, match="share"):
        histogram_percentile_ms({1: 1}, 0.0)
