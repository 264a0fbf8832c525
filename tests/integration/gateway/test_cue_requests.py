"""Updates and backfills through a real gateway, by either client."""

from __future__ import annotations

from pathlib import Path

import pytest
from anyio import to_thread
from gateway_harness import StartGateway

from recalld.models.domain.cues import MemoryChanges
from recalld.protocol import requests
from recalld.protocol.client import AsyncClient, Client, ClientError

pytestmark = [pytest.mark.anyio, pytest.mark.integration]


async def test_an_update_reaches_the_service_and_its_reply_the_caller(start: StartGateway, socket_path: Path) -> None:
    async with start() as running, AsyncClient(socket_path) as client:
        saved = await client.remember(requests.Remember(user="u", text="drinks tea"))
        updated = await client.update(requests.Update(user="u", memory_id=saved.memory.id, asks=("Tea?",)))
        assert (updated.memory, updated.decision_id, updated.is_embedded) == (saved.memory, "upd_1", False)
        assert running.service.updates[0].changes == MemoryChanges(asks=("Tea?",))
        with pytest.raises(ClientError, match="not_found"):
            await client.update(requests.Update(user="u", memory_id="mem_unknown"))


async def test_a_backfill_has_a_minute_and_its_counts_come_back(start: StartGateway, socket_path: Path) -> None:
    async with start() as running, AsyncClient(socket_path) as client:
        reply = await client.backfill(requests.Backfill(user="u", limit=5))
        assert (reply.asked, reply.updated, reply.refused, reply.failed) == (5, 2, 1, 2)
        assert (reply.remaining, reply.reason, reply.cursor) == (7, "limit", "next")
        (asked,) = running.service.backfills
        assert asked.limit == 5


async def test_the_blocking_client_makes_the_same_calls(start: StartGateway, socket_path: Path) -> None:
    async with start() as running:

        def work() -> None:
            with Client(socket_path) as client:
                saved = client.remember(requests.Remember(user="u", text="drinks tea"))
                assert client.update(requests.Update(user="u", memory_id=saved.memory.id)).memory == saved.memory
                assert client.backfill(requests.Backfill(user="u")).remaining == 7

        await to_thread.run_sync(work)
        assert len(running.service.updates) == len(running.service.backfills) == 1
