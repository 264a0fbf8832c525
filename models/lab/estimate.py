"""Error rates of the gates, from decisions that were kept with known probabilities and of which some were audited.

Each stratum (a kind of decision, kept with one probability) has two unknowns: how many decisions there were, of which
each was kept by its own chance, and the share of them that a person would mark with yes. Their exact one-sided
confidence distributions are melded: the lower end of a rate comes from the lower distributions of what raises it and
the upper ones of what lowers it, and the other way round. Fay, Proschan and Brittain, "Combining one-sample confidence
procedures for inference in the two-sample case", Biometrics 71 (2015), 146-156. For shares these distributions are
those of Clopper and Pearson, Beta(k, n - k + 1) and Beta(k + 1, n - k); for counts those of Garwood, Gamma(n) and
Gamma(n + 1). The interval is honest at small counts: it is too wide rather than too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recalld.models.domain.audit_samples import AuditReport, Estimate, SampleGroup, SampleKind

DRAWS: Final = 4_000
"""From each confidence distribution: the ends of an interval move by less than it is wide at 30 marks in a hundred."""
_LOW: Final = 0.025
_HIGH: Final = 0.975
_PER: Final = 1_000.0

Draws = NDArray[np.float64]


def audit_report(
    groups: Sequence[SampleGroup], *, turns: int, rng: np.random.Generator, draws: int = DRAWS
) -> AuditReport:
    """Everything that audits say of the gates.

    Args:
        groups: Counts of samples; groups that differ in kind or probability are strata of their own.
        turns: Turns of users that were decided about while the samples of records were kept.
        rng: Chance of the draws; a seed gives the same figures again.
        draws: How many.
    """
    of = {kind: tuple(group for group in groups if group.kind is kind) for kind in SampleKind}
    return AuditReport(
        recall_misses=missed_share(of[SampleKind.GATE_DROP], of[SampleKind.INJECTION], rng=rng, draws=draws),
        turn_misses=missed_share(of[SampleKind.TURN_SKIP], of[SampleKind.TURN_SEARCH], rng=rng, draws=draws),
        wrong_injections=_inverted(marked_share(of[SampleKind.INJECTION], rng=rng, draws=draws)),
        write_misses=marked_share(of[SampleKind.WRITE_DROP], rng=rng, draws=draws),
        wrong_records_per_1000=_per_1000(of[SampleKind.RECORD], turns, rng=rng, draws=draws),
        groups=tuple(groups),
    )


def missed_share(
    dropped: Sequence[SampleGroup], passed: Sequence[SampleGroup], *, rng: np.random.Generator, draws: int = DRAWS
) -> Estimate | None:
    """The share of what a gate should have let through that it held back: its false-negative rate.

    Args:
        dropped: Strata of what it held back; yes: should have passed.
        passed: Strata of what it let through; yes: rightly.
        rng: Chance of the draws.
        draws: How many.

    Returns:
        None unless something on either side was audited.
    """
    audited = (sum(group.audited for group in dropped), sum(group.audited for group in passed))
    if not all(audited):
        return None
    low_d, high_d = _yes_draws(dropped, rng, draws)
    low_p, high_p = _yes_draws(passed, rng, draws)
    missed, found = _yes(dropped), _yes(passed)
    return Estimate(
        rate=missed / (missed + found) if missed + found else 0.0,
        low=float(np.quantile(low_d / (low_d + high_p), _LOW)),
        high=float(np.quantile(high_d / (high_d + low_p), _HIGH)),
        audited=sum(audited),
    )


def marked_share(groups: Sequence[SampleGroup], *, rng: np.random.Generator, draws: int = DRAWS) -> Estimate | None:
    """The share of decisions of one kind that a person would mark with yes; None when none was audited.

    Args:
        groups: Its strata.
        rng: Chance of the draws.
        draws: How many.
    """
    audited = sum(group.audited for group in groups)
    if not audited:
        return None
    weights = _weights(groups)
    pairs = [_share_draws(group, rng, draws) for group in groups]
    return Estimate(
        rate=_yes(groups) / sum(map(_total, groups)),
        low=float(np.quantile(sum(w * low for w, (low, _) in zip(weights, pairs, strict=True)), _LOW)),
        high=float(np.quantile(sum(w * high for w, (_, high) in zip(weights, pairs, strict=True)), _HIGH)),
        audited=audited,
    )


def _per_1000(groups: Sequence[SampleGroup], turns: int, *, rng: np.random.Generator, draws: int) -> Estimate | None:
    """Wrong records per 1,000 turns: records are all known, so that only the share of wrong ones is uncertain."""
    wrong = _inverted(marked_share(groups, rng=rng, draws=draws))
    if wrong is None or turns <= 0:
        return None
    scale = _PER * sum(map(_total, groups)) / turns
    return Estimate(rate=scale * wrong.rate, low=scale * wrong.low, high=scale * wrong.high, audited=wrong.audited)


def _inverted(share: Estimate | None) -> Estimate | None:
    if share is None:
        return None
    return Estimate(rate=1.0 - share.rate, low=1.0 - share.high, high=1.0 - share.low, audited=share.audited)


def _total(group: SampleGroup) -> float:
    """Horvitz and Thompson's estimate of how many decisions there were (JASA 47 (1952), 663-685)."""
    return group.sampled / group.probability


def _yes(groups: Sequence[SampleGroup]) -> float:
    """How many decisions a person would mark with yes. A stratum without marks has the share of those with marks."""
    audited = sum(group.audited for group in groups)
    pooled = sum(group.yes for group in groups) / audited if audited else 0.0
    return sum(_total(group) * (group.yes / group.audited if group.audited else pooled) for group in groups)


def _weights(groups: Sequence[SampleGroup]) -> list[float]:
    whole = sum(map(_total, groups))
    return [_total(group) / whole for group in groups]


def _yes_draws(groups: Sequence[SampleGroup], rng: np.random.Generator, draws: int) -> tuple[Draws, Draws]:
    """Draws of how many would be marked with yes, from the lower and the upper distribution; shape (draws,)."""
    low, high = np.zeros(draws), np.zeros(draws)
    for group in groups:
        share_low, share_high = _share_draws(group, rng, draws)
        total_low, total_high = _total_draws(group, rng, draws)
        low += total_low * share_low
        high += total_high * share_high
    return low, high


def _share_draws(group: SampleGroup, rng: np.random.Generator, draws: int) -> tuple[Draws, Draws]:
    """Clopper and Pearson's distributions of the share marked with yes (Biometrika 26 (1934), 404-413)."""
    low = rng.beta(group.yes, group.no + 1, draws) if group.yes else np.zeros(draws)
    high = rng.beta(group.yes + 1, group.no, draws) if group.no else np.ones(draws)
    return low, high


def _total_draws(group: SampleGroup, rng: np.random.Generator, draws: int) -> tuple[Draws, Draws]:
    """Garwood's distributions of a count (Biometrika 28 (1936), 437-442), scaled up; exact where all were kept."""
    if group.probability >= 1.0:
        whole = np.full(draws, float(group.sampled))
        return whole, whole
    low = rng.gamma(group.sampled, 1.0, draws) if group.sampled else np.zeros(draws)
    return low / group.probability, rng.gamma(group.sampled + 1, 1.0, draws) / group.probability
