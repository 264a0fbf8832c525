"""A query's two vectors: made beside each other where there are two lanes, and not made again for the same words."""

from __future__ import annotations

import pytest
from model_harness import REPLY_S, EmbedderHarness

from recalld.actors.embedder import EmbedderLimits, EmbedText, EmbedTexts, TextsEmbedded

pytestmark = pytest.mark.anyio


async def ask(harness: EmbedderHarness, text: str, *, within_s: float = 1.0) -> TextsEmbedded:
    texts = tuple(EmbedText(text=text, is_query=is_query, is_kept=True) for is_query in (True, False))
    deadline_s = harness.now_s() + within_s
    return await harness.address.ask(
        lambda reply: EmbedTexts(texts=texts, deadline_s=deadline_s, reply=reply), deadline_s=deadline_s + REPLY_S
    )


async def test_the_same_words_again_cost_no_run_and_both_kinds_of_vector_stay_apart() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        first = await ask(harness, "query")
        again = await ask(harness, "query")
    assert harness.embedder.embedded == ["query", "query"]
    assert again.elapsed_ms == pytest.approx(0, abs=1)
    for before, after in zip(first.vectors, again.vectors, strict=True):
        assert before is after


async def test_what_is_not_kept_takes_no_vector_of_a_query() -> None:
    harness = EmbedderHarness()
    async with harness.running():
        await ask(harness, "same words")
        await harness.embed("same words", is_query=False)
    assert harness.embedder.embedded == ["same words"] * 3


@pytest.mark.parametrize(("lanes", "elapsed_ms"), [(1, 20), (2, 10)])
async def test_two_lanes_make_both_vectors_at_the_same_time(lanes: int, elapsed_ms: int) -> None:
    harness = EmbedderHarness(lanes=lanes, limits=EmbedderLimits(lanes=lanes))
    async with harness.running():
        embedded = await ask(harness, "query")
    assert embedded.elapsed_ms == pytest.approx(elapsed_ms, abs=2)
