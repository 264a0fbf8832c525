"""From scores to a verdict: merging logits into candidates, and judging them against the threshold.

Guards: that a score stays with its pair. A list of scores that is too short, too long or holds something that is not a
number is refused as a whole; nothing is ever shifted to a neighbour.
Cost: linear in the candidates. Fails: typed, so that the caller degrades to the floor's own list.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import msgspec

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate, DroppedItem, RecalledItem
from recalld.models.policy.relevance import RelevanceModel, bounds, log_odds, relevance

_Judged = tuple[Candidate, float | None, DropReason | None]
"""A candidate, its relevance if it is known, and why it is held back."""


class ScoreFault(enum.StrEnum):
    """Why a list of scores cannot be used. The values are the type part of `score_failed`."""

    WRONG_LENGTH = "wrong_length"
    NOT_FINITE = "not_finite"


class GateVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate lets through, most relevant first, and what it holds back.

    For an explicit search nothing is held back: what is below the threshold comes last in `passed`, counted by
    `demoted`.
    """

    passed: tuple[RecalledItem, ...]
    dropped: tuple[DroppedItem, ...]
    demoted: int = 0


def merge_logits(
    candidates: Sequence[Candidate], pair_ids: Sequence[str], logits: Sequence[float | None]
) -> tuple[Candidate, ...] | ScoreFault:
    """The candidates with their best logit as evidence, or why the scores cannot be used.

    Args:
        candidates: In order; those without any score keep their evidence.
        pair_ids: The memory id of each scored pair, as asked for.
        logits: One for each pair, in the same order; None for a pair that was not scored in time.
    """
    if len(pair_ids) != len(logits):
        return ScoreFault.WRONG_LENGTH
    best: dict[str, float] = {}
    for memory_id, logit in zip(pair_ids, logits, strict=True):
        if logit is None:
            continue
        if not math.isfinite(logit):
            return ScoreFault.NOT_FINITE
        best[memory_id] = max(logit, best.get(memory_id, logit))
    return tuple(
        msgspec.structs.replace(
            candidate, evidence=msgspec.structs.replace(candidate.evidence, logit=best[candidate.memory.id])
        )
        if candidate.memory.id in best
        else candidate
        for candidate in candidates
    )


def judge(candidates: Sequence[Candidate], *, model: RelevanceModel, is_search: bool = False) -> GateVerdict:
    """Hold each candidate against the threshold.

    A candidate without a logit is judged by its bounds if they decide (and then carries the lowest relevance it could
    have, or, dropped, the highest); otherwise time ran out for it. A relevance equal to the threshold passes.

    Args:
        candidates: With their logits merged in, best first; ties in relevance keep this order.
        model: Heads and threshold.
        is_search: A person or tool asked: nothing is dropped, what would be comes last.
    """
    judged = _behind_best([(candidate, *_judge_one(candidate, model)) for candidate in candidates], model)
    passed = [_item(candidate, value) for candidate, value, reason in judged if reason is None]
    held = [(candidate, value, reason) for candidate, value, reason in judged if reason is not None]
    passed.sort(key=_by_relevance)
    if is_search:
        demoted = sorted((_item(candidate, value) for candidate, value, _ in held), key=_by_relevance)
        return GateVerdict(passed=(*passed, *demoted), dropped=(), demoted=len(demoted))
    dropped = tuple(
        DroppedItem(memory_id=candidate.memory.id, reason=reason, evidence=candidate.evidence, relevance=value)
        for candidate, value, reason in held
    )
    return GateVerdict(passed=tuple(passed), dropped=dropped)


def _judge_one(candidate: Candidate, model: RelevanceModel) -> tuple[float | None, DropReason | None]:
    value = relevance(candidate.evidence, model)
    if value is None:
        reach = bounds(candidate.evidence, model)
        if reach.lowest >= model.threshold:
            return reach.lowest, None
        if reach.highest >= model.threshold:
            return None, DropReason.BUDGET
        value = reach.highest
    return value, None if value >= model.threshold else DropReason.BELOW_THRESHOLD


def _behind_best(judged: list[_Judged], model: RelevanceModel) -> list[_Judged]:
    """Hold back what lies further behind the best passed candidate than the model's margin."""
    passed = [value for _, value, reason in judged if reason is None and value is not None]
    if model.margin is None or not passed:
        return judged
    lowest = log_odds(max(passed)) - model.margin
    return [
        (candidate, value, DropReason.BEHIND_BEST)
        if reason is None and value is not None and log_odds(value) < lowest
        else (candidate, value, reason)
        for candidate, value, reason in judged
    ]


def _item(candidate: Candidate, value: float | None) -> RecalledItem:
    return RecalledItem(memory=candidate.memory, evidence=candidate.evidence, relevance=value)


def _by_relevance(item: RecalledItem) -> float:
    return 1.0 if item.relevance is None else -item.relevance
