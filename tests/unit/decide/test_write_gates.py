"""What the daemon adds to decisions about writing: who holds a tick, what stands, how many memories there are."""

from __future__ import annotations

import anyio
import pytest
from decide_requests import KEY, NOW_MS, request
from virtual_time import LoopClock

from recalld.actors.decide.gathering import Gatherer
from recalld.actors.decide.ticks import TICKS_MAX, TickBook
from recalld.actors.runtime_model import NoRuntimeModel
from recalld.actors.store import InMemoryStore
from recalld.actors.text_work import ImmediateTextWork
from recalld.models.domain.decide import DecideCandidate, DecideRequest
from recalld.models.domain.decision import DecideReason
from recalld.models.domain.world import Claim, FindingState
from recalld.models.policy.profiles.knowledge import SessionKnowledge
from recalld.models.policy.profiles.registry import shipped_profiles
from recalld.models.policy.turn_gate import DEFAULT_SETTINGS

pytestmark = pytest.mark.anyio

GATE = "atomic_consolidation"
CLUSTER = tuple(DecideCandidate(id=name, cluster="c", at_ms=1_000) for name in "abc")
ENDED = {"clusters": 1, "calls": 1, "merged": 1, "abstained": 0, "failed": 0}
HOUR_MS = 3_600_000


class NoProbe:
    """Looks at nothing."""

    async def look(self, root: str, claim: Claim) -> FindingState:
        return FindingState.UNREADABLE


def gatherer() -> Gatherer:
    return Gatherer(
        clock=LoopClock(),
        reader=InMemoryStore(fold_key=KEY).reader,
        text_work=ImmediateTextWork(),
        runtime_model=NoRuntimeModel(),
        probe=NoProbe(),
        turn_settings=DEFAULT_SETTINGS,
        cursor_key=KEY,
        ticks=TickBook(),
    )


async def reason(gather: Gatherer, asked: DecideRequest) -> DecideReason:
    gathered = await gather.decide(asked, shipped_profiles()[asked.profile], SessionKnowledge())
    return gathered.decision.reason_code


def tick(*, now_ms: int = NOW_MS, user: str = "ines") -> DecideRequest:
    return request(GATE, now_ms=now_ms, candidates=CLUSTER, user=user)


async def test_of_two_ticks_at_once_one_is_busy() -> None:
    gather = gatherer()
    found: list[DecideReason] = []

    async def ask() -> None:
        found.append(await reason(gather, tick()))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        group.start_soon(ask)
    assert sorted(found) == [DecideReason.BUSY, DecideReason.CLUSTERS_DUE]


async def test_a_tick_that_ended_lets_the_next_one_start_when_it_is_due() -> None:
    gather = gatherer()
    assert await reason(gather, tick()) is DecideReason.CLUSTERS_DUE
    assert await reason(gather, request(GATE, usage=ENDED)) is DecideReason.TICK_ENDED
    assert await reason(gather, tick(now_ms=NOW_MS + 1)) is DecideReason.NOT_DUE
    assert await reason(gather, tick(now_ms=NOW_MS + 6 * HOUR_MS)) is DecideReason.CLUSTERS_DUE


async def test_one_users_tick_is_nobody_elses() -> None:
    gather = gatherer()
    assert await reason(gather, tick()) is DecideReason.CLUSTERS_DUE
    assert await reason(gather, tick(user="teo")) is DecideReason.CLUSTERS_DUE


async def test_the_store_says_how_many_memories_there_are_and_what_may_stand() -> None:
    assert await reason(gatherer(), request("metaclaw_tune")) is DecideReason.FEW_MEMORIES
    assert await reason(gatherer(), request("generic_agent_index")) is DecideReason.NO_CANDIDATES


def test_only_so_many_ticks_are_remembered() -> None:
    book = TickBook()
    for place in range(TICKS_MAX + 1):
        book.start(f"u{place}", GATE, now_ms=1, lease_ms=1)
    assert book.latest("u0", GATE) is None
    assert book.latest("u1", GATE) is not None
