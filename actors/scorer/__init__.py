"""The scorer: runs the cross-encoder over pairs on its own threads, and answers in time whatever happens."""

from __future__ import annotations

from recalld.actors.scorer.actor import ScorerActor, ScorerLimits
from recalld.actors.scorer.messages import (
    GetScorerHealth,
    Pair,
    PairsScored,
    ProbeScorer,
    ScoreFailure,
    ScorePairs,
    ScorerMessage,
    ScorerModelsChanged,
)

__all__ = [
    "GetScorerHealth",
    "Pair",
    "PairsScored",
    "ProbeScorer",
    "ScoreFailure",
    "ScorePairs",
    "ScorerActor",
    "ScorerLimits",
    "ScorerMessage",
    "ScorerModelsChanged",
]
