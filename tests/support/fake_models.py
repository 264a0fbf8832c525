"""Models that answer what a test tells them to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recalld.actors.ports import StopFlag
from recalld.models.domain.errors import ScoreStopped


@dataclass
class FakeScorer:
    """A `PairScorer`: the logit of a pair is `logit(query, memory)`, by default the length of the memory."""

    logit: Callable[[str, str], float] = lambda _query, memory: float(len(memory))
    model_key: str = "fake-scorer"
    scored: list[tuple[str, str]] = field(default_factory=list)

    def count_tokens(self, query: str, memory: str) -> int:
        return len(query.split()) + len(memory.split()) + 3

    def score(self, query: str, memory: str, stop: StopFlag) -> float:
        if stop.is_set():
            raise ScoreStopped
        self.scored.append((query, memory))
        return self.logit(query, memory)


@dataclass
class FakeEmbedder:
    """A `TextEmbedder`: the vector of a text is `vector(text, is_query)`, by default a unit vector by its length."""

    vector: Callable[[str, bool], NDArray[np.float32]] | None = None
    embedder_key: str = "fake-embedder"
    dims: int = 8
    embedded: list[str] = field(default_factory=list)

    def embed(self, text: str, *, is_query: bool) -> NDArray[np.float32]:
        self.embedded.append(text)
        if self.vector is not None:
            return self.vector(text, is_query)
        vector = np.zeros(self.dims, dtype=np.float32)
        vector[len(text) % self.dims] = 1.0
        return vector
