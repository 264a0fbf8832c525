"""What scoring a pair will cost, learned from what it has cost.

Cost is linear in the tokens that are run (one thread, int8 MiniLM-L-12: 10 ms for 47 tokens, 18 ms for 87), so one
number is enough: milliseconds per token. It is the median of the last runs, because one run that met a busy core tells
nothing about the next, and a mean would believe it.

Before anything has run, both medians start from prior samples, which the first real runs push out.
"""

from __future__ import annotations

import math
from collections import deque
from statistics import median
from typing import Final

MS_PER_TOKEN_PRIOR: Final = 10.0 / 47.0
"""Measured: one pair of 47 tokens takes 10 ms on one core of a 2-core server."""

TOKENS_PER_CHAR_PRIOR: Final = 0.25
"""English prose in a 30,000-piece WordPiece vocabulary: four characters a token. Other scripts soon show their own."""

CONTROL_TOKENS: Final = 3
"""[CLS], and a [SEP] after each text."""

QUERY_TOKENS_MAX: Final = 64
"""Tokens of a query that a pair runs at most, whatever was pasted; what `inference.pair` keeps of it."""

QUERY_CHARS_MAX: Final = int(QUERY_TOKENS_MAX / TOKENS_PER_CHAR_PRIOR)
"""Characters of a query that are counted, therefore: more would make a pasted text look too dear to judge, and teach
that a character costs next to nothing."""

TOKENS_MAX: Final = 512
"""Positions of a BERT model: a pair never runs more."""

SAMPLES_MAX: Final = 31
"""Odd, so that the median is a sample; about a dozen recalls, so that a change of load shows within seconds."""

PRIOR_SAMPLES: Final = 5
"""The median is a real sample after six runs."""


class CostModel:
    """An online estimate, shared on the event loop by who runs pairs (observes) and who plans them (predicts).

    Deterministic: the same observations give the same predictions.
    """

    def __init__(self, *, ms_per_token: float = MS_PER_TOKEN_PRIOR, tokens_max: int = TOKENS_MAX) -> None:
        """Start from a prior.

        Args:
            ms_per_token: Prior cost; the calibration of another machine may know better.
            tokens_max: Longest pair that the model runs.
        """
        self._ms_per_token = deque([ms_per_token] * PRIOR_SAMPLES, maxlen=SAMPLES_MAX)
        self._tokens_per_char = deque([TOKENS_PER_CHAR_PRIOR] * PRIOR_SAMPLES, maxlen=SAMPLES_MAX)
        self._tokens_max = tokens_max

    @property
    def ms_per_token(self) -> float:
        """Milliseconds one token costs on one lane: the median of the last runs."""
        return median(self._ms_per_token)

    def observe(self, *, chars: int, tokens: int, elapsed_ms: float) -> None:
        """Learn from one run.

        Args:
            chars: From `pair_chars`.
            tokens: Tokens that were run, control tokens included.
            elapsed_ms: How long it took on its lane. A run that took no measurable time teaches nothing.
        """
        if tokens <= 0 or not 0 < elapsed_ms < math.inf:
            return
        self._ms_per_token.append(elapsed_ms / tokens)
        # A pair that was cut says nothing about how many tokens a character makes.
        if tokens < self._tokens_max and chars > 0:
            self._tokens_per_char.append(max(tokens - CONTROL_TOKENS, 1) / chars)

    def estimate_tokens(self, chars: int) -> int:
        """Tokens that a pair of so many characters will run, without tokenizing it."""
        return min(self._tokens_max, CONTROL_TOKENS + math.ceil(max(chars, 0) * median(self._tokens_per_char)))

    def predict_ms(self, tokens: int) -> float:
        """Milliseconds that a pair of so many tokens will take on one lane."""
        return min(max(tokens, 0), self._tokens_max) * self.ms_per_token

    def predict_pair_ms(self, query: str, memory_text: str) -> float:
        """Milliseconds that a pair will take on one lane, without tokenizing it."""
        return self.predict_ms(self.estimate_tokens(pair_chars(query, memory_text)))


def pair_chars(query: str, memory_text: str) -> int:
    """Characters of a pair that cost anything: of a long query only so many are run."""
    return min(len(query), QUERY_CHARS_MAX) + len(memory_text)
