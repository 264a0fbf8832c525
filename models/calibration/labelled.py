"""Labelled turns, and what a gate does to them: the two rates that every threshold trades against each other."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.domain.recall import Evidence
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.relevance import RelevanceModel, relevance


class LabelledCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One scored candidate of a turn. Its evidence must hold a logit."""

    memory_id: str
    evidence: Evidence
    is_relevant: bool
    kind: MemoryKind | None = None
    place: int | None = None
    """Its place among all candidates in the floor's order, from 0; None: not told."""


class LabelledTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn with the candidates that the gate would judge.

    Attributes:
        source: Where the turn comes from; fits are tried on sources they have not seen.
        conversation: The smallest group that may not be split between fit and trial.
        turn_id: Name of the turn within its source.
        query_kind: What sort of turn it is, for reports; empty: not told.
        is_answerable: Whether any stored memory is relevant, nominated or not.
        candidates: What was nominated.
    """

    source: str
    conversation: str
    turn_id: str
    is_answerable: bool
    candidates: tuple[LabelledCandidate, ...]
    query_kind: str = ""

    @property
    def is_servable(self) -> bool:
        """Whether a relevant memory was nominated at all: the gate cannot be blamed for the others."""
        return any(candidate.is_relevant for candidate in self.candidates)


def best_relevant(turn: LabelledTurn, model: RelevanceModel) -> float:
    """The highest relevance among the relevant candidates; -1 when none was nominated."""
    return max((_score(candidate, model) for candidate in turn.candidates if candidate.is_relevant), default=-1.0)


def best_score(turn: LabelledTurn, model: RelevanceModel) -> float:
    """The highest relevance among all candidates; -1 when none was nominated."""
    return max((_score(candidate, model) for candidate in turn.candidates), default=-1.0)


def retention(turns: Sequence[LabelledTurn], model: RelevanceModel) -> Proportion:
    """Of the turns with a relevant candidate, those that keep at least one."""
    servable = [turn for turn in turns if turn.is_servable]
    return wilson(sum(is_kept(turn, model) for turn in servable), len(servable))


def silence(turns: Sequence[LabelledTurn], model: RelevanceModel) -> Proportion:
    """Of the turns with nothing relevant stored, those on which nothing passes."""
    unanswerable = [turn for turn in turns if not turn.is_answerable]
    return wilson(sum(is_silent(turn, model) for turn in unanswerable), len(unanswerable))


def is_kept(turn: LabelledTurn, model: RelevanceModel) -> bool:
    """Whether a relevant memory passes."""
    return any(candidate.is_relevant and passes(candidate, model) for candidate in turn.candidates)


def is_silent(turn: LabelledTurn, model: RelevanceModel) -> bool:
    """Whether nothing passes."""
    return not any(passes(candidate, model) for candidate in turn.candidates)


def passes(candidate: LabelledCandidate, model: RelevanceModel) -> bool:
    """Whether a candidate's relevance reaches the threshold of its kind."""
    return _score(candidate, model) >= model.threshold_of(candidate.kind)


def _score(candidate: LabelledCandidate, model: RelevanceModel) -> float:
    value = relevance(candidate.evidence, model)
    if value is None:
        message = f"candidate {candidate.memory_id} has no logit; score it before calibrating"
        raise ValueError(message)
    return value
