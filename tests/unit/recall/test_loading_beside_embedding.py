"""The index of a user who has none yet is loaded while the query is embedded, and not only behind it."""

from __future__ import annotations

import pytest
from actor_system import System, running_system

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
TAKES_S = 0.02


async def test_the_index_is_loaded_while_the_query_is_embedded() -> None:
    async with running_system(System()) as system:
        await system.store_text("jo", TEXT)
        wanted = await system.store_text("ines", TEXT)
        await system.recall("jo", "where does the deploy key live?")
        system.reading.slow_s["index_delta"] = TAKES_S
        system.embedder_thread.call_s = lambda: TAKES_S
        outcome = await system.recall("ines", "in which vault does the deploy key live?")
    assert [item.memory.id for item in outcome.items] == [wanted]
    assert outcome.timings.embed_ms >= TAKES_S * 1000.0
    assert outcome.timings.search_ms < TAKES_S * 500.0
