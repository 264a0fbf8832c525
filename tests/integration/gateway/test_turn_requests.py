from __future__ import annotations

import pytest
from gateway_harness import StartGateway

from recalld.models.domain.admission import RememberRequest
from recalld.models.domain.admission_store import ProposalState
from recalld.models.domain.records import NewMemory
from recalld.protocol import items, replies, requests
from recalld.protocol.client import AsyncClient, ClientError

pytestmark = [pytest.mark.anyio, pytest.mark.integration]


@pytest.mark.parametrize(("hello", "client"), [("netclaw", "netclaw"), ("", "nameless")])
async def test_a_turn_and_an_answer_carry_the_name_of_the_client(start: StartGateway, hello: str, client: str) -> None:
    async with start() as running, running.raw() as peer:
        await peer.send(requests.Hello(id=1, client=items.ClientInfo(name=hello)))
        await peer.receive()
        await peer.send(requests.Observe(id=2, user="u", session="s", turn_id="t", speaker="user", text="x"))
        assert isinstance(await peer.receive(), replies.Admitted)
        await peer.send(requests.Confirm(id=3, user="u", proposal_id="obs_1", accept=True))
        assert isinstance(await peer.receive(), replies.Confirmed)
        assert running.service.turns[0].client == running.service.answers[0].approver == client


async def test_an_answer_is_told_with_the_proposal_as_it_stands(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        confirmed = await client.confirm(requests.Confirm(user="u", session="s", accept=True, edited_text="Metric."))
        assert (confirmed.decision_id, confirmed.proposal.id) == ("cfm_1", "obs_1")
        (asked,) = running.service.answers
        assert (asked.session, asked.proposal_id, asked.is_accepted, asked.edited_text) == ("s", "", True, "Metric.")


async def test_a_proposer_that_approves_its_own_is_told_that_it_may_not(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        with pytest.raises(ClientError) as caught:
            await client.confirm(requests.Confirm(user="u", proposal_id="obs_2", accept=True))
        assert (caught.value.code, caught.value.retryable) == ("forbidden", False)


async def test_proposals_and_observations_come_in_pages_that_fit_a_frame(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        found = await client.proposals(requests.ListProposals(user="u", state="pending", limit=3, cursor="c"))
        assert [each.id for each in found.proposals] == ["obs_0", "obs_1", "obs_2"]
        assert (found.cursor, found.total) == ("next", 1_000)
        assert running.service.pages == [("u", ProposalState.PENDING, 3, "c")]
        running.service.padding = "x" * 30_000
        shorter = await client.proposals(requests.ListProposals(user="u", limit=100))
        assert len(shorter.proposals) == 25
        noted = await client.observations(requests.ListObservations(user="u", limit=100))
        assert len(noted.observations) == 25
        assert running.service.pages[-1] == ("u", None, 25, None)


async def test_a_lineage_is_told_and_that_of_nobody_is_not_found(start: StartGateway) -> None:
    async with start() as running, AsyncClient(running.path) as client:
        await running.service.remember(
            RememberRequest(memory=NewMemory(user="u", text="Works at Initech"), deadline_s=1.0)
        )
        found = await client.lineage(requests.GetLineage(user="u", memory_id="mem_1"))
        assert (found.memory.text, found.slot, len(found.evidence)) == ("Works at Initech", "employer", 200)
        assert found.evidence[-1].turn_id == "t299"
        with pytest.raises(ClientError) as caught:
            await client.lineage(requests.GetLineage(user="u", memory_id="mem_2"))
        assert caught.value.code == "not_found"
