"""The models' own answers, written down once: a change of tokenizer, template, pooling or runtime shows here first.

After a wanted change, run with `RECALLD_REGENERATE_GOLDEN=1` to write the file anew, and review the difference.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import msgspec
import numpy as np
import pytest

from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.manifest import BGE_SMALL, MS_MARCO_L12
from recalld.models.inference.onnx_session import NeverStop

pytestmark = pytest.mark.model

GOLDEN = Path(__file__).resolve().parents[2] / "data" / "golden_scores.json"
LOGIT_TOLERANCE = 1e-2
"""Kernels for other instruction sets add up in another order; logits span about -11 to 11."""
VALUE_TOLERANCE = 1e-3
COSINE_TOLERANCE = 1e-3

PAIRS = (
    ("Which database does the billing service use?", "The billing service stores its invoices in PostgreSQL 16."),
    ("Which database does the billing service use?", "The office cat is called Miso."),
    ("How do we cut a release?", "How to cut a release: bump the version, tag it, let CI publish the wheel."),
    ("How do we cut a release?", "The release party is on the roof terrace."),
    ("Where do I work?", "The user works at Harrowmill Bakery."),
    ("Where do I work?", "I work at Harrowmill Bakery."),
    ("k8s?", "Kubernetes (k8s): services are deployed to a cluster in Frankfurt."),
    ("what's the weather in Rome?", "Deploys services to a Kubernetes cluster."),
    ("Who leads the data team now?", "Since March the data team is led by Ines Korhonen."),
    ("Who leads the data team now?", "The data team meets on Tuesdays at ten."),
    ("Wie heißt die Katze?", "The office cat is called Miso."),
    ("[CLS] what is [MASK] [SEP]", "A memory with [SEP] in it. " * 60),
)

TEXTS = (
    ("Which database does the billing service use?", True),
    ("Which database does the billing service use?", False),
    ("The billing service stores its invoices in PostgreSQL 16.", False),
    ("The office cat is called Miso.", False),
    ("What is our cat called?", True),
    ("long text about deployments and rollbacks. " * 80, False),
)


class GoldenPair(msgspec.Struct, frozen=True, kw_only=True):
    query: str
    memory: str
    logit: float


class GoldenEmbedding(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    is_query: bool
    first_values: tuple[float, ...]


class Golden(msgspec.Struct, frozen=True, kw_only=True):
    cross_encoder: str
    bi_encoder: str
    pairs: tuple[GoldenPair, ...]
    embeddings: tuple[GoldenEmbedding, ...]
    cosines: tuple[float, ...]
    """Of every two embeddings, in the order of `itertools.combinations`."""


def measure(cross_encoder: CrossEncoder, bi_encoder: BiEncoder) -> Golden:
    vectors = [bi_encoder.embed(text, is_query=is_query) for text, is_query in TEXTS]
    return Golden(
        cross_encoder=MS_MARCO_L12.id,
        bi_encoder=BGE_SMALL.id,
        pairs=tuple(
            GoldenPair(query=query, memory=memory, logit=round(cross_encoder.score(query, memory, NeverStop()), 5))
            for query, memory in PAIRS
        ),
        embeddings=tuple(
            GoldenEmbedding(text=text, is_query=is_query, first_values=tuple(round(float(v), 6) for v in vector[:8]))
            for (text, is_query), vector in zip(TEXTS, vectors, strict=True)
        ),
        cosines=tuple(round(float(np.dot(a, b)), 6) for a, b in itertools.combinations(vectors, 2)),
    )


@pytest.fixture(scope="module")
def measured(cross_encoder: CrossEncoder, bi_encoder: BiEncoder) -> Golden:
    found = measure(cross_encoder, bi_encoder)
    if os.environ.get("RECALLD_REGENERATE_GOLDEN") == "1":
        GOLDEN.write_text(json.dumps(msgspec.to_builtins(found), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def golden(measured: Golden) -> Golden:
    return msgspec.json.decode(GOLDEN.read_bytes(), type=Golden)


def test_the_golden_file_covers_what_is_measured(measured: Golden, golden: Golden) -> None:
    assert [(pair.query, pair.memory) for pair in golden.pairs] == list(PAIRS)
    assert [(embedding.text, embedding.is_query) for embedding in golden.embeddings] == list(TEXTS)
    assert (golden.cross_encoder, golden.bi_encoder) == (measured.cross_encoder, measured.bi_encoder)


@pytest.mark.parametrize("index", range(len(PAIRS)))
def test_a_logit_is_the_one_written_down(measured: Golden, golden: Golden, index: int) -> None:
    assert measured.pairs[index].logit == pytest.approx(golden.pairs[index].logit, abs=LOGIT_TOLERANCE)


@pytest.mark.parametrize("index", range(len(TEXTS)))
def test_an_embedding_starts_as_written_down(measured: Golden, golden: Golden, index: int) -> None:
    expected = golden.embeddings[index].first_values
    assert measured.embeddings[index].first_values == pytest.approx(expected, abs=VALUE_TOLERANCE)


def test_the_embeddings_lie_to_each_other_as_written_down(measured: Golden, golden: Golden) -> None:
    assert measured.cosines == pytest.approx(golden.cosines, abs=COSINE_TOLERANCE)
