"""The audit's error rates: intervals that hold the truth as often as they say, and silence where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest

from recalld.models.domain.audit_samples import Estimate, SampleGroup, SampleKind
from recalld.models.lab.estimate import audit_report, marked_share, missed_share

RUNS = 400
HELD_MIN = 0.93
"""An interval of 95 % that is melded from exact ones holds the truth more often, but for the luck of so many runs."""
DRAWS = 1_000


def group(kind: SampleKind, sampled: int, yes: int = 0, no: int = 0, *, probability: float = 0.01) -> SampleGroup:
    return SampleGroup(kind=kind, probability=probability, sampled=sampled, yes=yes, no=no)


def drawn(
    rng: np.random.Generator, kind: SampleKind, total: int, share: float, *, probability: float, audits_max: int
) -> tuple[SampleGroup, int]:
    """A stratum as the daemon and a person would make it, and how many decisions truly are a yes."""
    yes_all = int(rng.binomial(total, share))
    yes_kept = int(rng.binomial(yes_all, probability))
    no_kept = int(rng.binomial(total - yes_all, probability))
    audited = min(audits_max, yes_kept + no_kept)
    yes = int(rng.hypergeometric(yes_kept, no_kept, audited)) if audited else 0
    return group(kind, yes_kept + no_kept, yes, audited - yes, probability=probability), yes_all


@pytest.mark.parametrize(
    ("dropped", "missed_share_true", "injected", "right_share", "probability", "audits_max"),
    [
        pytest.param(40_000, 0.002, 4_000, 0.9, 0.05, 400, id="misses are rare"),
        pytest.param(40_000, 0.15, 8_000, 0.8, 0.05, 400, id="misses are many"),
        pytest.param(20_000, 0.05, 5_000, 0.9, 0.01, 15, id="audits are few"),
        pytest.param(3_000, 0.05, 400, 0.7, 0.05, 30, id="samples are few"),
        pytest.param(500, 0.1, 300, 0.9, 1.0, 60, id="all is kept"),
    ],
)
def test_the_true_miss_rate_lies_in_the_interval(
    dropped: int, missed_share_true: float, injected: int, right_share: float, probability: float, audits_max: int
) -> None:
    held = known = 0
    for seed in range(RUNS):
        rng = np.random.default_rng((seed, dropped, injected))
        drops, missed = drawn(
            rng, SampleKind.GATE_DROP, dropped, missed_share_true, probability=probability, audits_max=audits_max
        )
        passed, found = drawn(
            rng, SampleKind.INJECTION, injected, right_share, probability=probability, audits_max=audits_max
        )
        estimate = missed_share((drops,), (passed,), rng=rng, draws=DRAWS)
        if estimate is None:
            continue
        known += 1
        held += estimate.low <= missed / (missed + found) <= estimate.high
    assert known >= HELD_MIN * RUNS
    assert held >= HELD_MIN * known


@pytest.mark.parametrize(("share", "audits_max"), [(0.01, 100), (0.3, 100), (0.1, 10)])
def test_the_true_share_of_one_kind_lies_in_the_interval(share: float, audits_max: int) -> None:
    held = 0
    for seed in range(RUNS):
        rng = np.random.default_rng((seed, audits_max))
        kept, yes = drawn(rng, SampleKind.WRITE_DROP, 20_000, share, probability=0.02, audits_max=audits_max)
        estimate = marked_share((kept,), rng=rng, draws=DRAWS)
        assert estimate is not None
        held += estimate.low <= yes / 20_000 <= estimate.high
    assert held >= HELD_MIN * RUNS


def test_strata_kept_with_other_probabilities_are_weighted_by_what_they_stand_for() -> None:
    rng = np.random.default_rng(3)
    often = group(SampleKind.GATE_DROP, 100, yes=0, no=100, probability=0.5)
    rarely = group(SampleKind.GATE_DROP, 100, yes=50, no=50, probability=0.01)
    estimate = marked_share((often, rarely), rng=rng)
    assert estimate is not None
    assert estimate.rate == pytest.approx(5_000 / 10_200)
    assert estimate.low < estimate.rate < estimate.high


def test_a_gate_is_not_audited_until_both_of_its_sides_are() -> None:
    rng = np.random.default_rng(0)
    drops, passed = group(SampleKind.GATE_DROP, 9, yes=1, no=3), group(SampleKind.INJECTION, 9)
    assert missed_share((drops,), (passed,), rng=rng) is None
    assert missed_share((), (), rng=rng) is None
    assert marked_share((passed,), rng=rng) is None


def test_a_few_audits_without_a_miss_do_not_prove_that_there_is_none() -> None:
    rng = np.random.default_rng(1)
    drops = group(SampleKind.GATE_DROP, 10, yes=0, no=10)
    passed = group(SampleKind.INJECTION, 10, yes=10, no=0)
    estimate = missed_share((drops,), (passed,), rng=rng)
    assert estimate is not None
    assert (estimate.rate, estimate.low) == (0.0, 0.0)
    assert estimate.high > 0.25


def test_a_report_has_the_wrong_records_of_a_thousand_turns_and_the_same_figures_again() -> None:
    groups = (
        group(SampleKind.RECORD, 20, yes=9, no=1, probability=1.0),
        group(SampleKind.INJECTION, 10, yes=8, no=2),
        group(SampleKind.GATE_DROP, 10, yes=2, no=8),
    )
    report = audit_report(groups, turns=500, rng=np.random.default_rng(5))
    assert report == audit_report(groups, turns=500, rng=np.random.default_rng(5))
    wrong = report.wrong_records_per_1000
    assert wrong is not None
    assert wrong.rate == pytest.approx(4.0)
    assert 0.0 < wrong.low < 4.0 < wrong.high < 40.0
    assert report.recall_misses is not None
    assert report.recall_misses.rate == pytest.approx(0.2)
    assert report.wrong_injections is not None
    assert report.wrong_injections.rate == pytest.approx(0.2)
    assert (report.turn_misses, report.write_misses) == (None, None)


def test_without_turns_there_is_no_rate_of_records() -> None:
    records = group(SampleKind.RECORD, 5, yes=5, probability=1.0)
    report = audit_report((records,), turns=0, rng=np.random.default_rng(0))
    assert report.wrong_records_per_1000 is None


def test_an_estimate_rests_on_yes_and_no_alone() -> None:
    unsure = SampleGroup(kind=SampleKind.WRITE_DROP, probability=0.5, sampled=9, yes=1, no=1, unsure=7)
    estimate = marked_share((unsure,), rng=np.random.default_rng(0))
    assert isinstance(estimate, Estimate)
    assert estimate.audited == 2
