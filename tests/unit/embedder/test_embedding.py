from __future__ import annotations

import anyio
import numpy as np
import pytest
from model_harness import EmbedderHarness
from numpy.typing import NDArray

from recalld.actors.embedder import EmbedderLimits, EmbedderModelsChanged, EmbedFailure, TextsEmbedded
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.health import ModelState
from recalld.models.domain.reasons import DegradedReason

pytestmark = pytest.mark.anyio


def places(embedded: TextsEmbedded) -> list[int | None]:
    """Which dimension each vector points along."""
    return [None if vector is None else int(vector.argmax()) for vector in embedded.vectors]


async def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        embedded = await harness.embed("aaa", "a", "aaaaa")
    assert places(embedded) == [3, 1, 5]
    assert embedded.embedder_key == "fake-embedder"
    assert embedded.failure is None
    assert embedded.elapsed_ms == pytest.approx(30, abs=5)


async def test_vectors_cannot_be_written_to_because_they_are_shared() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        (vector,) = (await harness.embed("a")).vectors
    assert vector is not None
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 5.0


async def test_a_query_is_remembered_and_a_passage_is_not() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        for _ in range(3):
            await harness.embed("query")
            await harness.embed("passage", is_query=False)
        await harness.embed("query", is_query=False)
    assert harness.embedder.embedded == ["query", "passage", "passage", "passage", "query"]


async def test_a_query_waits_for_at_most_one_text_of_bulk_work() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        harness.script.call_s = lambda: 0.1
        async with anyio.create_task_group() as tasks:
            bulk = [f"passage {number}" for number in range(20)]
            tasks.start_soon(lambda: harness.embed(*bulk, within_s=60.0, is_query=False, is_bulk=True))
            await anyio.sleep(0.25)
            started_s = harness.now_s()
            assert places(await harness.embed("query", within_s=0.3)) == [5]
            assert harness.now_s() - started_s <= 0.21
    assert len(harness.embedder.embedded) == 21


async def test_at_the_deadline_a_job_is_answered_with_what_is_there() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        harness.script.call_s = lambda: 0.4
        embedded = await harness.embed("a", "aa", "aaa", within_s=1.0)
    assert places(embedded) == [1, 2, None]
    assert embedded.failure is None


async def test_a_text_that_the_model_cannot_take_does_not_keep_the_others_from_their_vectors() -> None:
    def vector(text: str, _is_query: bool) -> NDArray[np.float32]:  # noqa: FBT001 - the signature of the fake
        if text == "poison":
            msg = "secret"
            raise OSError(msg)
        one_hot: NDArray[np.float32] = np.eye(8, dtype=np.float32)[len(text)]
        return one_hot

    harness = EmbedderHarness()
    harness.embedder.vector = vector
    async with harness.running():
        embedded = await harness.embed("a", "poison", "aaa")
        assert places(embedded) == [1, None, 3]
        assert embedded.failure == EmbedFailure(reason=DegradedReason.EMBED_FAILED, error_type="OSError")
        assert (await harness.health()).failures == 1


@pytest.mark.parametrize(
    "bad",
    [
        np.full(8, np.nan, dtype=np.float32),
        np.zeros(7, dtype=np.float32),
        np.zeros((1, 8), dtype=np.float32),
    ],
)
async def test_a_vector_of_another_shape_or_without_numbers_is_a_failure(bad: NDArray[np.float32]) -> None:
    harness = EmbedderHarness()
    harness.embedder.vector = lambda _text, _is_query: bad
    async with harness.running():
        embedded = await harness.embed("a")
    assert embedded.vectors == (None,)
    assert embedded.failure == EmbedFailure(reason=DegradedReason.EMBED_FAILED, error_type="BadVectorError")


async def test_without_a_model_texts_are_refused_at_once_until_it_arrives() -> None:
    harness = EmbedderHarness(load_error=RecalldError(ErrorCode.NOT_FOUND, "model.onnx is missing"))
    async with harness.running():
        refused = await harness.embed("a", "b")
        assert refused.vectors == (None, None)
        assert refused.embedder_key == ""
        assert refused.failure == EmbedFailure(reason=DegradedReason.EMBEDDER_UNAVAILABLE)
        assert (await harness.health()).state is ModelState.UNAVAILABLE
        harness.load_error = None
        harness.address.post(EmbedderModelsChanged())
        await anyio.sleep(0.1)
        assert places(await harness.embed("a")) == [1]
        assert (await harness.health()).model_id == "fake-embedder"


async def test_more_jobs_than_may_be_open_are_refused_at_once() -> None:
    harness = EmbedderHarness(limits=EmbedderLimits(jobs_max=1))
    answers: list[TextsEmbedded] = []
    async with harness.running():

        async def embed(text: str) -> None:
            answers.append(await harness.embed(text))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embed, "a")
            tasks.start_soon(embed, "b")
    assert sorted(answer.failure is None for answer in answers) == [False, True]
    assert EmbedFailure(reason=DegradedReason.QUEUE_FULL) in [answer.failure for answer in answers]


async def test_a_stuck_text_restarts_the_actor_with_a_fresh_thread() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        harness.script.call_s = lambda: None
        assert (await harness.embed("a", within_s=0.1)).vectors == (None,)
        harness.script.call_s = lambda: 0.01
        await anyio.sleep(5.0)
        assert harness.watched.restarts == [("model", "ThreadLostError")]
        assert places(await harness.embed("a")) == [1]


async def test_a_job_whose_asker_has_gone_is_dropped() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        harness.script.call_s = lambda: 0.1
        with anyio.move_on_after(0.15):
            await harness.embed("a", "b", "c", "d", within_s=60.0)
        harness.script.call_s = lambda: 0.01
        assert places(await harness.embed("last", within_s=0.5)) == [4]
        await anyio.sleep(1.0)
    assert [text for text in harness.embedder.embedded if text not in ("a", "b")] == ["last"]
    assert harness.script.running == 0


async def test_a_text_that_cannot_be_embedded_in_time_behind_others_is_refused_at_once() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        harness.script.call_s = lambda: 0.1
        for number in range(10):  # learns what a text takes
            await harness.embed(f"known {number}", within_s=5.0)
        answers: list[tuple[TextsEmbedded, float]] = []

        async def ask(number: int) -> None:
            started_s = harness.now_s()
            embedded = await harness.embed(f"fresh {number}", within_s=0.5)
            answers.append((embedded, harness.now_s() - started_s))

        async with anyio.create_task_group() as tasks:
            for number in range(10):
                tasks.start_soon(ask, number)
    refused = [took_s for embedded, took_s in answers if embedded.failure is not None]
    served = [embedded for embedded, _ in answers if embedded.failure is None]
    assert {embedded.failure for embedded, _ in answers} == {None, EmbedFailure(reason=DegradedReason.QUEUE_FULL)}
    assert max(refused) < 0.01
    assert len(served) == 3
    assert all(places(embedded) == [7] for embedded in served)


async def test_bulk_work_is_never_refused_for_want_of_time() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        harness.script.call_s = lambda: 0.1
        for number in range(10):
            await harness.embed(f"known {number}", within_s=5.0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: harness.embed("query", within_s=0.5))
            await anyio.sleep(0.01)
            embedded = await harness.embed("a", "b", within_s=0.25, is_query=False, is_bulk=True)
    assert embedded.failure is None
