"""What runs in the scorer's lanes, and the known pairs that show whether the scorer works."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from recalld.actors.ports import PairScorer, StopFlag

PROBE_QUERY: Final = "What is the capital of France?"
PROBE_RELEVANT: Final = "Paris is the capital of France."
PROBE_IRRELEVANT: Final = "The build server runs at night."

PROBE_GAP_MIN: Final = 0.9
"""How far apart the two probe pairs must lie in relevance. MiniLM-L-12, int8: 0.9999 and 0.00001."""


class NonFiniteLogitError(Exception):
    """The model answered with something that is not a number."""


@dataclass(frozen=True, slots=True)
class PairRun:
    """One pair that was run: its raw logit, and how many tokens that took."""

    logit: float
    tokens: int


def run_pair(scorer: PairScorer, query: str, memory_text: str, stop: StopFlag) -> PairRun:
    """Score one pair at its own length, so that its logit does not depend on what else runs. Blocks for milliseconds.

    Raises:
        NonFiniteLogitError: The logit is not a finite number.
    """
    tokens = scorer.count_tokens(query, memory_text)
    logit = scorer.score(query, memory_text, stop)
    if not math.isfinite(logit):
        raise NonFiniteLogitError
    return PairRun(logit, tokens)


def ping(scorer: PairScorer, stop: StopFlag) -> None:
    """Run the smallest pair."""
    run_pair(scorer, "ping", "pong", stop)
