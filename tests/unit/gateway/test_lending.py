"""Whom the daemon asks, without sockets: peers of any account, and a connection that only keeps what it is sent."""

from __future__ import annotations

import anyio
import pytest

from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.lending import Lender, LentModels
from recalld.daemon.gateway.peer import AccessPolicy, Peer
from recalld.models.domain.runtime_model import (
    PromptPurpose,
    RuntimeFailure,
    RuntimeFailureKind,
    RuntimePrompt,
    RuntimeReply,
)
from recalld.protocol import replies, requests
from recalld.protocol.codec import decode_reply

pytestmark = pytest.mark.anyio

PROMPT = RuntimePrompt(purpose=PromptPurpose.TURN_GATE, prompt_version="v1", prompt="Which?")
DAEMON_UID, INES_UID, OLGA_UID = 900, 1000, 1001


class LoopClock:
    def monotonic_s(self) -> float:
        return anyio.current_time()

    def now_ms(self) -> int:
        return 0


class Runtime:
    """A connection that keeps what it is sent, and answers when told to."""

    def __init__(self, lent: LentModels, uid: int) -> None:
        self._lent = lent
        self.asked: list[replies.ExtractRequest] = []
        self.lender = Lender(Peer(pid=1, uid=uid, gid=uid), 1, self._send)
        lent.lend(self.lender)

    def _send(self, frame: bytes) -> bool:
        request = decode_reply(frame[4:])
        assert isinstance(request, replies.ExtractRequest)
        self.asked.append(request)
        return True

    async def answer_one(self, text: str) -> None:
        """Answer the newest question once it has come."""
        while not self.asked:
            await anyio.lowlevel.checkpoint()
        self._lent.receive(self.lender, requests.ExtractResult(batch_id=self.asked[-1].batch_id, reply=text))


@pytest.fixture
def lent() -> LentModels:
    policy = AccessPolicy(own_uid=DAEMON_UID, is_system=True, granted_users={OLGA_UID: frozenset({"uid:1000/shared"})})
    return LentModels(policy=policy, clock=LoopClock(), counters=GatewayCounters())


async def test_a_runtime_is_only_asked_for_users_it_may_act_for(lent: LentModels) -> None:
    ines, olga = Runtime(lent, INES_UID), Runtime(lent, OLGA_UID)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ines.answer_one, "from ines")
        outcome = await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 5)
    assert isinstance(outcome, RuntimeReply)
    assert outcome.text == "from ines"
    assert olga.asked == []


async def test_a_granted_user_may_be_asked_about(lent: LentModels) -> None:
    Runtime(lent, OLGA_UID)
    assert lent.is_connected("uid:1000/shared")
    assert not lent.is_connected("uid:1000/ines")
    outcome = await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 5)
    assert isinstance(outcome, RuntimeFailure)
    assert outcome.kind is RuntimeFailureKind.NOT_CONNECTED


async def test_a_question_of_a_caller_that_gave_up_leaves_room_for_others(lent: LentModels) -> None:
    runtime = Runtime(lent, INES_UID)
    with anyio.move_on_after(0.01):
        await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 60)
    assert runtime.lender.questions == {}


async def test_a_withdrawn_runtime_is_not_asked_and_withdrawing_twice_is_fine(lent: LentModels) -> None:
    runtime = Runtime(lent, INES_UID)
    lent.withdraw(runtime.lender)
    lent.withdraw(runtime.lender)
    assert not lent.is_connected("uid:1000/ines")
    assert runtime.asked == []


async def test_not_being_connected_is_no_failed_question() -> None:
    counters = GatewayCounters()
    lent = LentModels(policy=AccessPolicy(own_uid=DAEMON_UID), clock=LoopClock(), counters=counters)
    await lent.ask("ines", PROMPT, deadline_s=anyio.current_time() + 5)
    assert counters[GatewayCount.EXTRACT_REQUESTS_FAILED] == 0
    Runtime(lent, DAEMON_UID)
    await lent.ask("ines", PROMPT, deadline_s=anyio.current_time() - 1)
    assert counters[GatewayCount.EXTRACT_REQUESTS_FAILED] == 1


async def test_a_runtime_that_hangs_is_asked_after_those_that_answer(lent: LentModels) -> None:
    hung, prompt = Runtime(lent, INES_UID), Runtime(lent, INES_UID)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(hung.answer_one, "yes")  # it has answered last, and then hangs
        await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 5)
    outcome = await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 0.02)
    assert isinstance(outcome, RuntimeFailure)
    assert outcome.kind is RuntimeFailureKind.TIMEOUT
    assert (len(hung.asked), len(prompt.asked)) == (2, 0)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(prompt.answer_one, "here")
        outcome = await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 5)
    assert isinstance(outcome, RuntimeReply)
    assert len(hung.asked) == 2


async def test_the_only_runtime_there_is_asked_again_although_it_was_late(lent: LentModels) -> None:
    runtime = Runtime(lent, INES_UID)
    await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 0.02)
    runtime.asked.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(runtime.answer_one, "here")
        outcome = await lent.ask("uid:1000/ines", PROMPT, deadline_s=anyio.current_time() + 5)
    assert isinstance(outcome, RuntimeReply)
