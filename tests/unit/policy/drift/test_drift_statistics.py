from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.drift import Band
from recalld.models.policy.drift.histogram import BINS, Histogram, histogram_of
from recalld.models.policy.drift.ks import ks, ks_band, ks_limit
from recalld.models.policy.drift.psi import LARGE, band_of, binned_names, psi, psi_limit

COUNTS = st.lists(st.integers(0, 500), min_size=1, max_size=12)
SCORES = st.lists(st.floats(-10, 10, allow_nan=False), min_size=1, max_size=60)


@given(COUNTS, st.data())
def test_psi_is_symmetric_never_negative_and_nothing_between_equal_samples(
    counts: list[int], data: st.DataObject
) -> None:
    other = data.draw(st.lists(st.integers(0, 500), min_size=len(counts), max_size=len(counts)))
    assert psi(counts, other) == pytest.approx(psi(other, counts))
    assert psi(counts, other) >= 0.0
    assert psi(counts, counts) == 0.0


def test_psi_of_a_known_pair() -> None:
    # (0.6 - 0.4) ln(0.6 / 0.4) + (0.4 - 0.6) ln(0.4 / 0.6), but for the half that is added to each count
    assert psi([60_000, 40_000], [40_000, 60_000]) == pytest.approx(0.1622, abs=1e-4)


def test_psi_of_samples_with_other_bins_is_refused() -> None:
    with pytest.raises(ValueError, match="same bins"):
        psi([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="same bins"):
        psi([], [])


def test_the_limit_of_psi_is_its_band_for_large_samples_and_chance_for_small_ones() -> None:
    assert psi_limit(n=10_000, reference_n=10_000, bins=10) == LARGE
    assert psi_limit(n=200, reference_n=200, bins=1) == LARGE
    # the upper thousandth of a chi-squared variable with nine degrees of freedom is 27.877
    assert psi_limit(n=50, reference_n=50, bins=10) == pytest.approx(27.877 * 2 / 50, rel=0.01)


def test_chance_alone_hardly_ever_reaches_the_limits() -> None:
    rng = random.Random(7)
    reached = 0
    for _ in range(400):
        now, before = ([rng.random() for _ in range(60)] for _ in range(2))
        bins = histogram_of(before)
        counts = histogram_of(now, bins.edges).counts
        reached += psi(counts, bins.counts) >= psi_limit(n=60, reference_n=60, bins=len(counts))
        reached += ks(now, before) >= ks_limit(n=60, reference_n=60)
    assert reached <= 8  # 1 %


@pytest.mark.parametrize(("value", "band"), [(0.09, Band.NONE), (0.1, Band.MODERATE), (0.25, Band.LARGE)])
def test_the_bands_of_psi(value: float, band: Band) -> None:
    assert band_of(value) is band


@pytest.mark.parametrize(("value", "band"), [(0.09, Band.NONE), (0.1, Band.MODERATE), (0.2, Band.LARGE)])
def test_the_bands_of_ks(value: float, band: Band) -> None:
    assert ks_band(value) is band


@given(SCORES, SCORES)
def test_ks_is_the_largest_gap_between_the_shares_below_any_score(now: list[float], before: list[float]) -> None:
    def share_below(scores: list[float], at: float) -> float:
        return sum(score <= at for score in scores) / len(scores)

    expected = max(abs(share_below(now, at) - share_below(before, at)) for at in (*now, *before))
    assert ks(now, before) == pytest.approx(expected)


def test_ks_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="both samples"):
        ks([], [0.5])


def test_names_that_are_rare_in_both_samples_are_counted_together() -> None:
    counts, before = binned_names(["a"] * 50 + ["b"] + ["d"] * 20, ["a"] * 60 + ["c"] * 2)
    assert sorted(zip(counts, before, strict=True)) == [(1, 2), (20, 0), (50, 60)]


@given(SCORES)
def test_a_histogram_counts_every_score_once(scores: list[float]) -> None:
    found = histogram_of(scores)
    assert found.n == len(scores)
    assert len(found.counts) <= BINS
    assert histogram_of(scores, found.edges) == found


def test_deciles_hold_a_tenth_each() -> None:
    assert histogram_of([number / 100 for number in range(100)]).counts == (10,) * BINS


@pytest.mark.parametrize(("edges", "counts"), [((0.5,), (1,)), ((0.5,), (1, -1)), ((0.5, 0.5), (1, 1, 1)), ((), ())])
def test_a_histogram_that_cannot_be_is_refused(edges: tuple[float, ...], counts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"counts must|edges must"):
        Histogram(edges=edges, counts=counts)
