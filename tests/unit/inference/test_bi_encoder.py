from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.errors import InferenceError, ModelFileError
from recalld.models.inference.manifest import BGE_SMALL, MS_MARCO_L12

pytestmark = pytest.mark.model


def test_an_embedding_has_the_manifests_width_and_length_one(bi_encoder: BiEncoder) -> None:
    for text in ("Where do I work?", "", "word " * 5_000, "\x00\ud800", "[CLS] [SEP]"):
        vector = bi_encoder.embed(text, is_query=False)
        assert vector.shape == (BGE_SMALL.dims,) == (bi_encoder.dims,)
        assert vector.dtype == np.float32
        assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_the_prefix_is_put_in_front_of_queries_only(bi_encoder: BiEncoder) -> None:
    query = bi_encoder.embed("where do I work", is_query=True)
    by_hand = bi_encoder.embed(BGE_SMALL.query_prefix + "where do I work", is_query=False)
    record = bi_encoder.embed("where do I work", is_query=False)
    assert np.array_equal(query, by_hand)
    assert not np.array_equal(query, record)


def test_a_question_is_nearer_to_its_answer_than_to_something_else(bi_encoder: BiEncoder) -> None:
    query = bi_encoder.embed("Which database does the billing service use?", is_query=True)
    answer = bi_encoder.embed("The billing service stores invoices in PostgreSQL.", is_query=False)
    other = bi_encoder.embed("The office cat is called Miso.", is_query=False)
    assert float(query @ answer) > float(query @ other) + 0.2


def test_the_embedder_key_changes_with_prefix_and_tokenizer(bi_encoder: BiEncoder, model_dir: Path) -> None:
    # R18: vectors of another prefix or tokenizer have the same width and mean something else.
    model = model_dir / BGE_SMALL.id / "model.onnx"
    tokenizer = model_dir / BGE_SMALL.id / "tokenizer.json"
    prefix = BGE_SMALL.query_prefix
    same = BiEncoder.load(model, tokenizer, dims=384, query_prefix=prefix)
    bare = BiEncoder.load(model, tokenizer, dims=384, query_prefix="")
    foreign = BiEncoder.load(model, model_dir / MS_MARCO_L12.id / "tokenizer.json", dims=384, query_prefix=prefix)
    assert same.embedder_key == bi_encoder.embedder_key
    assert len({same.embedder_key, bare.embedder_key, foreign.embedder_key}) == 3


def test_another_width_than_announced_is_an_error_not_a_vector(model_dir: Path) -> None:
    folder = model_dir / BGE_SMALL.id
    wrong = BiEncoder.load(folder / "model.onnx", folder / "tokenizer.json", dims=768, query_prefix="")
    with pytest.raises(InferenceError, match=r"768.*384"):
        wrong.embed("text", is_query=False)


def test_a_cross_encoder_is_no_embedder(model_dir: Path) -> None:
    folder = model_dir / MS_MARCO_L12.id
    with pytest.raises(ModelFileError, match="'last_hidden_state'"):
        BiEncoder.load(folder / "model.onnx", folder / "tokenizer.json", dims=384, query_prefix="")


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
def test_a_vector_without_direction_is_an_error(bi_encoder: BiEncoder, value: float) -> None:
    class Broken:
        sha256 = "0" * 64

        def run(self, feed: object, stop: object) -> object:
            return np.full((1, 3, 384), value, dtype=np.float32)

    broken = BiEncoder(Broken(), bi_encoder._tokenizer, dims=384, query_prefix="")  # type: ignore[arg-type]
    with pytest.raises(InferenceError, match="no direction"):
        broken.embed("text", is_query=False)
