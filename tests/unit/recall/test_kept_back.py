"""What the relevance gate keeps back is counted against what the floor alone would have handed over."""

from __future__ import annotations

import msgspec
import pytest
from actor_system import System, running_system

from recalld.actors.recall.report import RecallBody

pytestmark = pytest.mark.anyio

TEXTS = ("The deploy key lives in the vault", "The deploy key is renewed each May")
QUERY = "where does the deploy key live?"


async def body_of(system: System) -> RecallBody:
    outcome = await system.recall("ines", QUERY)
    row = await system.service.explain("ines", outcome.recall_id)
    return msgspec.json.decode(row.body, type=RecallBody)


async def test_a_gate_that_rejects_keeps_back_the_floors_whole_list() -> None:
    async with running_system(System()) as system:
        for text in TEXTS:
            await system.store_text("ines", text)
        system.scorer.logit = lambda _query, _text: -9.0
        body = await body_of(system)
    assert body.items == ()
    assert body.kept_back == len(body.floor_items) == len(TEXTS)
    assert body.kept_back_chars == sum(map(len, TEXTS))


async def test_a_gate_that_lets_everything_through_keeps_nothing_back() -> None:
    async with running_system(System()) as system:
        for text in TEXTS:
            await system.store_text("ines", text)
        system.scorer.logit = lambda _query, _text: 9.0
        body = await body_of(system)
    assert len(body.items) == len(TEXTS)
    assert (body.kept_back, body.kept_back_chars) == (0, 0)
