"""What a synthetic store is about, and what is asked of it: embeddings and questions of the labelled sources.

Vectors that were drawn at random would lie far from every question, so that a recall had nothing to read, to rank or to
judge. Around the embeddings of real texts, hundreds of memories are above the floor for nearly every question, as they
are in a large store of one user.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recalld.models.inference.loading import load_bi_encoder
from recalld.models.policy.query_reading import read_query

SOURCES = Path(__file__).parents[2] / "models" / "calibration" / "data" / "sources"
RECORDS_OF_EACH = 25
"""Records of each source whose texts are embedded: enough to tell questions apart, few enough to take seconds."""
CUES, ASKS = 2, 3
"""Cues and asks of a memory of the store; a record with fewer lends the same one twice."""


def topic_vectors(model_dir: Path, embedder: str) -> NDArray[np.float32]:
    """The vectors of a record, its cues and its asks for each topic, shape (topics, 1 + CUES + ASKS, dims)."""
    encoder = load_bi_encoder(model_dir, embedder)
    return np.stack(
        [[encoder.embed(text, is_query=False) for text in texts] for source in _sources() for texts in _texts(source)]
    )


def labelled_questions() -> list[str]:
    """Questions of all sources that warrant a search, source by source in turn."""
    of_each = [[str(row["query"]) for row in _rows(source / "turns.jsonl")] for source in _sources()]
    return [
        text for texts in zip(*of_each, strict=True) for text in texts if read_query(text, is_search=False).skip is None
    ]


def _sources() -> list[Path]:
    return sorted(path.parent for path in SOURCES.glob("*/records.jsonl"))


def _texts(source: Path) -> Iterator[tuple[str, ...]]:
    for row in _rows(source / "records.jsonl")[:RECORDS_OF_EACH]:
        text, cues, asks = str(row["text"]), row["cues"], row["asks"]
        yield (text, *_some(cues, CUES, text), *_some(asks, ASKS, text))


def _some(texts: object, count: int, otherwise: str) -> list[str]:
    assert isinstance(texts, list)
    return list(islice(cycle(texts or [otherwise]), count))


def _rows(path: Path) -> Sequence[Mapping[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
