"""What shadow mode would have done, beside what was done."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.models.domain.drift import DecisionSample, GateName, ShadowCount
from recalld.models.domain.reasons import Op


def shadow_counts(samples: Sequence[DecisionSample]) -> tuple[ShadowCount, ...]:
    """One count for each gate and shadow mode among the decisions.

    Args:
        samples: Rows of recalls and observed turns.
    """
    groups: dict[tuple[Op, str], list[DecisionSample]] = {}
    for sample in samples:
        if sample.shadow_mode:
            groups.setdefault((sample.op, sample.shadow_mode), []).append(sample)
    return tuple(_count(op, mode, mine) for (op, mode), mine in sorted(groups.items()))


def _count(op: Op, mode: str, mine: Sequence[DecisionSample]) -> ShadowCount:
    return ShadowCount(
        gate=GateName.RELEVANCE if op is Op.RECALL else GateName.WRITE,
        mode=mode,
        decisions=len(mine),
        differing=sum(sample.is_differing for sample in mine),
        decided=sum(sample.decided for sample in mine),
        served=sum(sample.served for sample in mine),
    )
