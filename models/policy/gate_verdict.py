"""From scores to a verdict: merging logits into candidates, and judging them against the threshold.

Guards: that a score stays with its pair. A list of scores that is too short, too long or holds something that is not a
number is refused as a whole; nothing is ever shifted to a neighbour.
Cost: linear in the candidates. Fails: typed, so that the caller degrades to the floor's own list.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate, DroppedItem, RecalledItem, ViewLogits
from recalld.models.policy.mentions import MentionRule
from recalld.models.policy.relevance import Bounds, RelevanceModel, RelevanceReader
from recalld.models.policy.sigmoid import log_odds
from recalld.models.policy.views import ViewName

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
    candidates: Sequence[Candidate],
    pair_ids: Sequence[str],
    logits: Sequence[float | None],
    *,
    views: Sequence[ViewName] = (),
) -> tuple[Candidate, ...] | ScoreFault:
    """The candidates with their best logit as evidence, or why the scores cannot be used.

    Args:
        candidates: In order; those without any score keep their evidence.
        pair_ids: The memory id of each scored pair, as asked for.
        logits: One for each pair, in the same order; None for a pair that was not scored in time.
        views: How each pair was put, in the same order; empty: as given.
    """
    names = views or [ViewName.AS_GIVEN] * len(pair_ids)
    if not len(pair_ids) == len(names) == len(logits):
        return ScoreFault.WRONG_LENGTH
    found: dict[str, list[tuple[ViewName, float]]] = {}
    for memory_id, name, logit in zip(pair_ids, names, logits, strict=True):
        if logit is None:
            continue
        if not math.isfinite(logit):
            return ScoreFault.NOT_FINITE
        found.setdefault(memory_id, []).append((name, logit))
    return tuple(
        _with_logits(candidate, found[candidate.memory.id]) if candidate.memory.id in found else candidate
        for candidate in candidates
    )


def _with_logits(candidate: Candidate, scored: Sequence[tuple[ViewName, float]]) -> Candidate:
    as_given = [logit for name, logit in scored if name is ViewName.AS_GIVEN]
    rewritten = [logit for name, logit in scored if name is not ViewName.AS_GIVEN]
    evidence = msgspec.structs.replace(
        candidate.evidence,
        logit=max((*as_given, *rewritten)),
        views=ViewLogits(as_given=max(as_given, default=None), rewritten=max(rewritten, default=None)),
    )
    return msgspec.structs.replace(candidate, evidence=evidence)


def judge(
    candidates: Sequence[Candidate],
    *,
    model: RelevanceModel,
    is_search: bool = False,
    mention: MentionRule | None = None,
    reaches: Mapping[str, Bounds] = MappingProxyType({}),
) -> GateVerdict:
    """Hold each candidate against the threshold.

    A candidate without a logit is judged by its bounds if they decide (and then carries the lowest relevance it could
    have, or, dropped, the highest); otherwise time ran out for it. A relevance equal to the threshold passes.

    Args:
        candidates: With their logits merged in, best first; ties in relevance keep this order.
        model: Heads and threshold.
        is_search: A person or tool asked: nothing is dropped, what would be comes last.
        mention: Lets through what the query names although its relevance is too low; None: nothing does.
        reaches: The bounds of unscored candidates by memory id, where they have been worked out before.
    """
    reader = RelevanceReader(model)
    judged = _behind_best([(each, *_judge_one(each, model, reader, reaches)) for each in candidates], model)
    passed = [_item(candidate, value) for candidate, value, reason in judged if reason is None]
    held = [(candidate, value, reason) for candidate, value, reason in judged if reason is not None]
    if mention is not None:
        mentioned = frozenset(candidate.memory.id for candidate, _, _ in held if mention.passes(candidate))
        passed += [_mentioned(candidate, value) for candidate, value, _ in held if candidate.memory.id in mentioned]
        held = [each for each in held if each[0].memory.id not in mentioned]
    passed.sort(key=_by_relevance)
    if is_search:
        demoted = sorted((_item(candidate, value) for candidate, value, _ in held), key=_by_relevance)
        return GateVerdict(passed=(*passed, *demoted), dropped=(), demoted=len(demoted))
    dropped = tuple(
        DroppedItem(memory_id=candidate.memory.id, reason=reason, evidence=candidate.evidence, relevance=value)
        for candidate, value, reason in held
    )
    return GateVerdict(passed=tuple(passed), dropped=dropped)


def is_best_unjudged(verdict: GateVerdict, candidates: Sequence[Candidate]) -> bool:
    """Whether nothing passed while what came first was not judged in time: then the gate has not judged at all.

    Args:
        verdict: Of all candidates.
        candidates: Those that were judged, best first by fusion.
    """
    if verdict.passed or not candidates:
        return False
    best = candidates[0].memory.id
    return any(item.memory_id == best and item.reason is DropReason.BUDGET for item in verdict.dropped)


def _judge_one(
    candidate: Candidate, model: RelevanceModel, reader: RelevanceReader, reaches: Mapping[str, Bounds]
) -> tuple[float | None, DropReason | None]:
    value = reader.relevance(candidate.evidence)
    threshold = model.threshold_of(candidate.memory.kind)
    if value is None:
        reach = reaches.get(candidate.memory.id) or reader.bounds(candidate.evidence)
        if reach.lowest >= threshold:
            return reach.lowest, None
        if reach.highest >= threshold:
            return None, DropReason.BUDGET
        value = reach.highest
    return value, None if value >= threshold else DropReason.BELOW_THRESHOLD


def _behind_best(judged: list[_Judged], model: RelevanceModel) -> list[_Judged]:
    """Hold back what lies further behind the best passed candidate than the model's margin.

    Each clause of a compound request has a best one of its own: a good answer to one is no reason against another's.
    """
    best: dict[str, float] = {}
    for candidate, value, reason in judged:
        if reason is None and value is not None:
            best[candidate.query] = max(value, best.get(candidate.query, value))
    if model.margin is None or not best:
        return judged
    lowest = {query: log_odds(value) - model.margin for query, value in best.items()}
    return [
        (candidate, value, DropReason.BEHIND_BEST)
        if reason is None and value is not None and log_odds(value) < lowest[candidate.query]
        else (candidate, value, reason)
        for candidate, value, reason in judged
    ]


def _item(candidate: Candidate, value: float | None) -> RecalledItem:
    return RecalledItem(
        memory=candidate.memory,
        evidence=candidate.evidence,
        relevance=value,
        is_unscored=value is not None and candidate.evidence.logit is None,
    )


def _mentioned(candidate: Candidate, value: float | None) -> RecalledItem:
    return RecalledItem(memory=candidate.memory, evidence=candidate.evidence, relevance=value, is_mentioned=True)


def _by_relevance(item: RecalledItem) -> float:
    return 1.0 if item.relevance is None else -item.relevance
