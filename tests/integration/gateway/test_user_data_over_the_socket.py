from __future__ import annotations

import pytest
from gateway_harness import StartGateway

from recalld.protocol import items, portable_items, replies, requests
from recalld.protocol.client import AsyncClient, ClientError

pytestmark = [pytest.mark.anyio, pytest.mark.integration]


@pytest.mark.parametrize(("hello", "client"), [("netclaw", "netclaw"), ("", "nameless")])
async def test_a_word_on_an_observation_carries_the_name_of_the_client(
    start: StartGateway, hello: str, client: str
) -> None:
    async with start() as running, running.raw() as peer:
        await peer.send(requests.Hello(id=1, client=items.ClientInfo(name=hello)))
        await peer.receive()
        await peer.send(requests.Settle(id=2, user="u", observation_id="obs_1", accept=True, edited_text="x"))
        settled = await peer.receive()
        assert isinstance(settled, replies.Settled)
        assert (settled.observation.id, settled.decision_id) == ("obs_1", "cfm_2")
        (asked,) = running.service.settled
        assert (asked.approver, asked.edited_text, asked.is_accepted) == (client, "x", True)


async def test_a_no_with_other_words_contradicts_itself(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        with pytest.raises(ClientError, match="edited_text"):
            await client.settle(requests.Settle(user="u", observation_id="obs_1", accept=False, edited_text="x"))
        assert running.service.settled == []


async def test_an_export_comes_in_pages_that_fit_a_frame(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        found = await client.export(requests.Export(user="u", limit=3, cursor="c", waiting_only=True))
        assert ([type(each) for each in found.records], found.cursor) == (
            [portable_items.PortableObservation] * 3,
            "next",
        )
        assert running.service.exports == [("u", 3, "c", True)]
        running.service.padding = "x" * 7_000
        many = await client.export(requests.Export(user="u"))
        assert len(many.records) == portable_items.PORTABLE_MAX


async def test_what_is_imported_is_answered_record_by_record(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        records = (
            portable_items.PortableMemory(text="Prefers tea"),
            portable_items.PortableMemory(memory_id="mem_7", text="Prefers rum"),
        )
        done = await client.import_records(requests.Import(user="u", records=records, dry_run=True))
        assert [(each.record_id, each.outcome) for each in done.lines] == [
            ("mem_new", "imported"),
            ("mem_7", "imported"),
        ]
        (asked,) = running.service.imports
        assert (asked.is_dry_run, done.is_dry_run, asked.user) == (True, True, "u")


async def test_a_record_that_cannot_be_is_refused_before_the_service_sees_it(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        bad = portable_items.PortableMemory(text="a\0b")
        with pytest.raises(ClientError, match=r"records\[0\]\.text"):
            await client.import_records(requests.Import(user="u", records=(bad,)))
        assert running.service.imports == []


async def test_a_purge_is_answered_with_its_counts(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        purged = await client.purge_user(requests.PurgeUser(user="u"))
        assert (purged.memories, purged.observations, purged.proposals) == (3, 2, 1)
        assert [each.user for each in running.service.purges] == ["u"]
