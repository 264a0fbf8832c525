"""The models of an evaluation: everything is run once, and counted as often as it is asked for.

Arms share what was run, so that ten of them cost little more than the dearest; what each of them would have cost alone
is told all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from recalld.daemon.own_calibration.labelling import Embed, PairModels, Score

_MS: Final = 1000.0
Vector = NDArray[np.float32]


class Meter:
    """Models that know what was asked of them since the last `begin`.

    Args:
        models: The models.
        now_s: Seconds of a clock that only goes forward.

    Attributes:
        pairs: Pairs asked for.
    """

    def __init__(self, models: PairModels, *, now_s: Callable[[], float] = perf_counter) -> None:
        self._now_s = now_s
        self._score: Score = models.score
        self._embed: Embed = models.embed
        self._embed_query: Embed = models.embed_query
        self._logits: dict[tuple[str, str], tuple[float, float]] = {}
        self._vectors: dict[tuple[str, bool], tuple[Vector, float]] = {}
        self.pairs = 0
        self._began_s = 0.0
        self._asked_ms = 0.0
        self._run_ms = 0.0

    def begin(self) -> None:
        """Count anew."""
        self.pairs = 0
        self._asked_ms = self._run_ms = 0.0
        self._began_s = self._now_s()

    @property
    def elapsed_ms(self) -> float:
        """Milliseconds since `begin`, as if nothing that was asked for had been known before."""
        passed_ms = (self._now_s() - self._began_s) * _MS
        return max(0.0, passed_ms - self._run_ms) + self._asked_ms

    def score(self, query: str, text: str) -> float:
        """The logit of a pair."""
        self.pairs += 1
        known = self._logits.get((query, text))
        if known is None:
            started_s = self._now_s()
            logit = self._score(query, text)
            known = self._logits[query, text] = (logit, self._ran(started_s))
        self._asked_ms += known[1]
        return known[0]

    def embed(self, text: str, *, is_query: bool) -> Vector:
        """The vector of a text."""
        known = self._vectors.get((text, is_query))
        if known is None:
            started_s = self._now_s()
            vector = self._embed_query(text) if is_query else self._embed(text)
            known = self._vectors[text, is_query] = (vector, self._ran(started_s))
        self._asked_ms += known[1]
        return known[0]

    def charge(self, ms: float) -> None:
        """Count work whose result is known from before, as if it had been done now.

        Args:
            ms: Milliseconds that it took then.
        """
        self._asked_ms += ms

    def forget_logits(self) -> None:
        """Let go of what the rows of one set needed."""
        self._logits.clear()

    def _ran(self, started_s: float) -> float:
        ran_ms = (self._now_s() - started_s) * _MS
        self._run_ms += ran_ms
        return ran_ms
