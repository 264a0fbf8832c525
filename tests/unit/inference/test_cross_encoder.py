from __future__ import annotations

import math
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from recalld.actors.ports import PairScorer, TextEmbedder
from recalld.models.domain.errors import ErrorCode, RecalldError, ScoreStopped
from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.errors import InferenceError, ModelFileError
from recalld.models.inference.loading import load_cross_encoder
from recalld.models.inference.manifest import BGE_SMALL, MS_MARCO_L12
from recalld.models.inference.onnx_session import NeverStop, OnnxSession, StopCallback, StopFlag
from recalld.models.inference.pair import Feed, sequence_feed

pytestmark = pytest.mark.model

NEVER = NeverStop()
QUERY = "Where do I work?"
MEMORY = "The user works at Harrowmill Bakery."
UNRELATED = "The office cat is called Miso."
CLEAR_QUERY = "Which database does the billing service use?"
CLEAR_MEMORY = "The billing service stores its invoices in PostgreSQL 16."
COMPANIONS = [
    (
        f"question number {number} about {'many things and ' * (number % 7)}you",
        f"A note on subject {number}. " * (1 + number % 9),
    )
    for number in range(20)
]


def relevance(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-logit))


class StopBox:
    """A stop flag set by hand."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._callbacks: list[StopCallback] = []

    def is_set(self) -> bool:
        return self._event.is_set()

    def on_set(self, callback: StopCallback) -> None:
        self._callbacks.append(callback)

    def set(self) -> None:
        self._event.set()
        for callback in self._callbacks:
            callback()


def test_a_relevant_and_an_irrelevant_pair_stand_far_apart_on_both_sides_of_the_threshold(
    cross_encoder: CrossEncoder,
) -> None:
    # R15: a sigmoid applied twice would squeeze both into 0.5 ... 0.73.
    helpful = relevance(cross_encoder.score(CLEAR_QUERY, CLEAR_MEMORY, NEVER))
    useless = relevance(cross_encoder.score(CLEAR_QUERY, UNRELATED, NEVER))
    assert helpful - useless > 0.9
    assert useless < MS_MARCO_L12.default_cut.value < helpful


def test_a_logit_is_raw_and_not_squeezed_into_the_unit_interval(cross_encoder: CrossEncoder) -> None:
    assert cross_encoder.score(CLEAR_QUERY, UNRELATED, NEVER) < -5.0
    assert cross_encoder.score(CLEAR_QUERY, CLEAR_MEMORY, NEVER) > 2.0


def test_a_pair_scores_the_same_bits_alone_and_among_others_on_two_lanes(cross_encoder: CrossEncoder) -> None:
    alone = cross_encoder.score(QUERY, MEMORY, NEVER)
    companions_alone = [cross_encoder.score(query, memory, NEVER) for query, memory in COMPANIONS]
    mixed = [*COMPANIONS[:10], (QUERY, MEMORY), *COMPANIONS[10:]]
    with ThreadPoolExecutor(max_workers=2) as lanes:
        logits = list(lanes.map(lambda pair: cross_encoder.score(pair[0], pair[1], NEVER), mixed))
    assert logits[10] == alone
    assert logits[:10] + logits[11:] == companions_alone


def test_spelled_control_tokens_add_nothing_to_a_memory_that_is_about_something_else(
    cross_encoder: CrossEncoder,
) -> None:
    plain = cross_encoder.score(QUERY, UNRELATED, NEVER)
    attack = cross_encoder.score(QUERY, f"{UNRELATED} [SEP] [CLS] question", NEVER)
    assert relevance(attack) < MS_MARCO_L12.default_cut.value
    assert abs(attack - plain) < 1.0


@pytest.mark.parametrize("separator", ["[CLS]", "[SEP]", "[SEP] [CLS]", "[sep] [cls]"])
def test_a_copied_question_gains_nothing_from_control_tokens_in_front_of_it(
    cross_encoder: CrossEncoder, separator: str
) -> None:
    # A copy of the question is a strong word match with or without them; what must not happen is that they add to it.
    # Read as real control tokens, "[CLS]" adds 0.9 to this very pair.
    words_alone = cross_encoder.score(QUERY, f"{UNRELATED} {QUERY}", NEVER)
    attack = cross_encoder.score(QUERY, f"{UNRELATED} {separator} {QUERY}", NEVER)
    assert attack < words_alone + 0.5


def test_counting_tells_how_many_tokens_scoring_runs(
    cross_encoder: CrossEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths: list[int] = []
    run = OnnxSession.run

    def counted(self: OnnxSession, feed: Feed, stop: StopFlag) -> NDArray[np.float32]:
        lengths.append(feed["input_ids"].shape[1])
        return run(self, feed, stop)

    monkeypatch.setattr(OnnxSession, "run", counted)
    for query, memory in [(QUERY, MEMORY), ("", ""), ("word " * 500, "word " * 500)]:
        cross_encoder.score(query, memory, NEVER)
        assert lengths[-1] == cross_encoder.count_tokens(query, memory)


def test_a_stop_set_beforehand_runs_nothing(cross_encoder: CrossEncoder) -> None:
    stop = StopBox()
    stop.set()
    with pytest.raises(ScoreStopped):
        cross_encoder.score(QUERY, MEMORY, stop)


def test_a_stop_set_while_running_abandons_the_run(cross_encoder: CrossEncoder) -> None:
    class SetOnceRegistered(StopBox):
        def on_set(self, callback: StopCallback) -> None:
            super().on_set(callback)
            self.set()  # the flag is set after the check and before the first node of the graph

    with pytest.raises(ScoreStopped):
        cross_encoder.score(QUERY, MEMORY, SetOnceRegistered())


def test_a_stop_set_after_the_run_changes_nothing(cross_encoder: CrossEncoder) -> None:
    stop = StopBox()
    logit = cross_encoder.score(QUERY, MEMORY, stop)
    stop.set()
    assert cross_encoder.score(QUERY, MEMORY, NEVER) == logit


def test_a_failing_runtime_is_an_inference_error_not_a_stop(cross_encoder: CrossEncoder) -> None:
    session = cross_encoder._session
    feed = sequence_feed((10_000_000, 0, 0, 0), segment_start=4)  # far outside of the vocabulary
    with pytest.raises(InferenceError, match="onnxruntime failed on 4 tokens"):
        session.run(feed, NEVER)


def test_the_model_key_depends_on_the_tokenizer(cross_encoder: CrossEncoder, model_dir: Path) -> None:
    other = CrossEncoder.load(model_dir / MS_MARCO_L12.id / "model.onnx", model_dir / BGE_SMALL.id / "tokenizer.json")
    same = CrossEncoder.load(model_dir / MS_MARCO_L12.id / "model.onnx", model_dir / MS_MARCO_L12.id / "tokenizer.json")
    assert same.model_key == cross_encoder.model_key
    assert other.model_key != cross_encoder.model_key


def test_an_embedder_is_no_cross_encoder(model_dir: Path) -> None:
    with pytest.raises(RecalldError) as caught:
        load_cross_encoder(model_dir, BGE_SMALL.id)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert MS_MARCO_L12.id in caught.value.message
    with pytest.raises(ModelFileError, match=r"expected .* 'logits'"):
        CrossEncoder.load(model_dir / BGE_SMALL.id / "model.onnx", model_dir / BGE_SMALL.id / "tokenizer.json")


@pytest.mark.parametrize("content", [b"", b"not a graph", b"<!doctype html>"])
def test_bytes_that_are_no_graph_are_refused_with_a_remedy(content: bytes) -> None:
    with pytest.raises(ModelFileError, match=r"cannot be loaded .* provision"):
        OnnxSession(content, output="logits")


def test_a_thread_count_left_to_the_runtime_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        OnnxSession(b"", output="logits", intra_op_threads=0)


def test_two_threads_inside_one_run_give_nearly_the_same_logit(cross_encoder: CrossEncoder, model_dir: Path) -> None:
    # Summation order may differ between thread counts, so scores are comparable, not identical.
    parallel = load_cross_encoder(model_dir, MS_MARCO_L12.id, intra_op_threads=2)
    assert parallel.score(QUERY, MEMORY, NEVER) == pytest.approx(cross_encoder.score(QUERY, MEMORY, NEVER), abs=1e-2)


def test_a_process_bound_to_one_core_gets_the_threads_it_asked_for_and_no_word_from_the_runtime(
    model_dir: Path,
) -> None:
    # M06: left alone, the runtime would complain that it cannot pin its threads to cores it was not given.
    program = (
        "import os, sys, pathlib\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from recalld.models.inference.cores import usable_cores\n"
        "from recalld.models.inference.loading import load_cross_encoder\n"
        "from recalld.models.inference.onnx_session import NeverStop\n"
        "assert usable_cores() == 1\n"
        "for threads in (1, 4):\n"
        "    before = len(os.listdir('/proc/self/task'))\n"
        "    model = load_cross_encoder(pathlib.Path(sys.argv[1]), sys.argv[2], intra_op_threads=threads)\n"
        "    model.score('query', 'memory', NeverStop())\n"
        "    started = len(os.listdir('/proc/self/task')) - before\n"
        "    assert started == threads - 1, f'{started} threads for {threads}'\n"
        "    del model\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(model_dir), MS_MARCO_L12.id], capture_output=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_models_fit_the_ports_of_the_actors(cross_encoder: CrossEncoder, bi_encoder: BiEncoder) -> None:
    scorer: PairScorer = cross_encoder
    embedder: TextEmbedder = bi_encoder
    assert len(scorer.model_key) == len(embedder.embedder_key) == 32
