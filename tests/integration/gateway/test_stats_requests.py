"""Who may see what was counted of whom."""

from __future__ import annotations

import os

import pytest
from gateway_harness import StartGateway

from recalld.daemon.gateway.peer import AccessPolicy, own_prefix
from recalld.models.domain.health import SINCE_START, StatsQuery
from recalld.protocol import replies, requests

pytestmark = [pytest.mark.anyio, pytest.mark.integration]


class Stranger(AccessPolicy, frozen=True, kw_only=True):
    """A policy to which even root may act for its own users only."""

    def may_act_for_all(self, uid: int) -> bool:
        return False


async def test_the_owner_sees_a_window_of_all_users_of_one_and_everything(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        for request in (
            requests.Stats(id=2),
            requests.Stats(id=3, days=7),
            requests.Stats(id=4, user="ines", days=1),
            requests.Stats(id=5, ever=True),
        ):
            await client.send(request)
            assert isinstance(await client.receive(), replies.StatsReport)
    assert running.service.stats_queries == [
        SINCE_START,
        StatsQuery(days=7),
        StatsQuery(user="ines", days=1),
        StatsQuery(is_ever=True),
    ]


async def test_a_stranger_sees_its_own_users_and_what_names_nobody(start: StartGateway) -> None:
    own = f"{own_prefix(os.geteuid())}ines"
    async with start(policy=Stranger(own_uid=0, is_system=True)) as running, running.greeted() as client:
        for request in (
            requests.Stats(id=2, days=7),
            requests.Stats(id=3, ever=True),
            requests.Stats(id=4, user="bo", days=7),
        ):
            await client.send(request)
            error = await client.receive()
            assert isinstance(error, replies.Error)
            assert error.code == "forbidden"
        for request in (requests.Stats(id=5), requests.Stats(id=6, user=own, days=7)):
            await client.send(request)
            assert isinstance(await client.receive(), replies.StatsReport)
    assert running.service.stats_queries == [SINCE_START, StatsQuery(user=own, days=7)]


async def test_two_windows_at_once_are_refused(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        await client.send(requests.Stats(id=2, days=7, ever=True))
        error = await client.receive()
    assert isinstance(error, replies.Error)
    assert (error.code, "`days` or `ever`" in error.message) == ("bad_request", True)
