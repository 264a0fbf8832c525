"""Whether the first look of a search, by signs, names what an exact look finds, on real embeddings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from recalld.actors.recall import vector_rows
from recalld.actors.recall.vector_rows import VectorRows
from recalld.models.inference.loading import load_bi_encoder
from recalld.models.inference.manifest import BGE_SMALL

SOURCES = Path(__file__).parents[3] / "models" / "calibration" / "data" / "sources"
TEXTS_MAX = 1_600
QUERIES = 30
NEAREST = 20


@pytest.mark.model
def test_the_first_look_names_nearly_all_of_the_nearest(model_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_rows, "EXACT_ROWS", 0)
    monkeypatch.setattr(vector_rows, "FIRST_LOOK_MIN", 600)
    texts, queries = [], []
    for source in ("backend-team", "corner-shop", "solo-developer", "private-diary", "research-lab"):
        for line in (SOURCES / source / "records.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            texts += [record["text"], *record["cues"], *record["asks"]]
        lines = (SOURCES / source / "turns.jsonl").read_text(encoding="utf-8").splitlines()
        queries += [json.loads(line)["query"] for line in lines[: QUERIES // 5]]
    encoder = load_bi_encoder(model_dir, BGE_SMALL.id)
    vectors = np.stack([encoder.embed(text, is_query=False) for text in texts[:TEXTS_MAX]]).astype(np.float16)
    rows, count = VectorRows(BGE_SMALL.dims), len(vectors)
    rows.put(list(range(count)), np.ones(count, dtype=np.int64), vectors, np.zeros(count, dtype=np.uint8))
    exact, hits = vectors.astype(np.float32), 0
    for query in (encoder.embed(text, is_query=True) for text in queries):
        nearest = set(np.argsort(-(exact @ query))[:NEAREST].tolist())
        hits += len(nearest & set(rows.nearest(query, np.ones(count, dtype=np.bool_), NEAREST)))
    assert hits >= 0.995 * NEAREST * len(queries)
