"""In which order the gate looks at candidates: by the relevance that each can still reach.

Guards: the places among the few that are scored. Fusion orders by one similarity and by age; a head weighs record, cue
and ask together, and what it puts first is relevant more often. Where time is short neither may starve the other,
nor one clause of a message another: fusion's first of each clause leads it, and the clauses take turns.
Cost: two evaluations of a head per candidate. Fails: it cannot; without a calibrated head the order stays as it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from recalld.models.domain.recall import Candidate
from recalld.models.policy.relevance import Bounds, RelevanceModel, RelevanceReader
from recalld.models.policy.sigmoid import log_odds
from recalld.models.policy.text_shape import text_shape


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate and what its relevance can still become."""

    candidate: Candidate
    reach: Bounds
    threshold: float
    """Of its kind of memory."""

    @property
    def is_hopeless(self) -> bool:
        """Whether it fails whatever its score: then it is not scored."""
        return self.reach.highest < self.threshold


def best_first(candidates: Sequence[Candidate], model: RelevanceModel) -> tuple[Contender, ...]:
    """The candidates by how far they can get above their threshold; ties keep their order.

    A model that says how many candidates it judges was fitted on the first so many of fusion, whose order then stays:
    what its heads make of names and times corrects a score, and is no forecast of one.

    Args:
        candidates: With the shape of their texts, best first by fusion.
        model: Heads and thresholds.
    """
    reader = RelevanceReader(model)
    contenders = [
        Contender(
            candidate=candidate,
            reach=reader.bounds(candidate.evidence),
            threshold=model.threshold_of(candidate.memory.kind),
        )
        for candidate in candidates
    ]
    if model.candidates_max is not None:
        return tuple(contenders)
    return tuple(sorted(contenders, key=lambda each: log_odds(each.threshold) - log_odds(each.reach.highest)))


def looking_order(candidates: Sequence[Candidate], model: RelevanceModel) -> tuple[Contender, ...]:
    """The order in which the gate looks at the candidates.

    Fusion's first candidate of each clause leads, whatever a head expects of it; the clauses then take turns, each in
    the order of `best_first`.

    Args:
        candidates: With the shape of their texts, best first by fusion.
        model: Heads and thresholds.
    """
    leaders: dict[str, str] = {}
    for candidate in candidates:
        leaders.setdefault(candidate.query, candidate.memory.id)
    queues: dict[str, list[Contender]] = {query: [] for query in leaders}
    for contender in best_first(candidates, model):
        candidate = contender.candidate
        is_leader = candidate.memory.id == leaders[candidate.query]
        queue = queues[candidate.query]
        queue.insert(0 if is_leader else len(queue), contender)
    rounds = itertools.zip_longest(*queues.values())
    return tuple(contender for turn in rounds for contender in turn if contender is not None)


def with_shapes(candidates: Sequence[Candidate], text: str) -> tuple[Candidate, ...]:
    """The candidates with the shape of what they were found for as evidence.

    Args:
        candidates: In any order.
        text: The message, for candidates that no clause of it was found for.
    """
    shapes = {query: text_shape(query or text) for query in {candidate.query for candidate in candidates}}
    return tuple(
        msgspec.structs.replace(
            candidate, evidence=msgspec.structs.replace(candidate.evidence, shape=shapes[candidate.query])
        )
        for candidate in candidates
    )
