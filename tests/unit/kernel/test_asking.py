from __future__ import annotations

import contextlib

import anyio
import anyio.lowlevel
import pytest
from scripted_actor import Script, Step, Watched, answering, fail, nothing, scripted
from virtual_time import LoopClock

from recalld.actors.kernel import ActorContext, AskError, AskFailure, PostOutcome, Reply
from recalld.models.domain.errors import ErrorCode, InvariantError, RecalldError

pytestmark = pytest.mark.anyio

FAR_S = 1e6


async def test_an_ask_gets_the_answer_of_its_actor() -> None:
    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        assert await address.ask(answering(7), deadline_s=FAR_S) == 7


async def test_messages_are_handled_one_at_a_time_in_the_order_they_were_sent() -> None:
    seen: list[str] = []

    def step(name: str) -> Step:
        async def run(ctx: ActorContext[Step]) -> None:
            seen.append(f"{name} begins")
            await anyio.sleep(1)
            seen.append(f"{name} ends")

        return run

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        for name in "abc":
            assert address.post(step(name)) is PostOutcome.ACCEPTED
        await address.ask(answering(0), deadline_s=FAR_S)
    assert seen == ["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]


async def test_an_actor_whose_handler_never_waits_does_not_starve_the_others() -> None:
    turns: list[str] = []

    async def busy(ctx: ActorContext[Step]) -> None:
        turns.append("busy")
        if turns.count("busy") < 50:
            ctx.address.post(busy)

    async with Watched().supervisor() as supervisor:
        supervisor.start(scripted(Script())).post(busy)
        for _ in range(200):
            turns.append("other")
            await anyio.lowlevel.checkpoint()
    first, last = turns.index("busy"), len(turns) - 1 - turns[::-1].index("busy")
    assert turns.count("busy") == 50
    assert turns[first:last].count("other") >= 25


async def test_a_full_mailbox_answers_full_and_loses_nothing() -> None:
    handled: list[int] = []

    def note(number: int) -> Step:
        async def run(ctx: ActorContext[Step]) -> None:
            handled.append(number)

        return run

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script(), mailbox_max=3))
        outcomes = [address.post(note(number)) for number in range(5)]
        assert outcomes == [PostOutcome.ACCEPTED] * 3 + [PostOutcome.FULL] * 2
        assert address.depth == 3
        assert address.is_open
        with pytest.raises(AskError) as refused:
            await address.ask(answering(0), deadline_s=FAR_S)
        assert refused.value.failure is AskFailure.BUSY
        await anyio.sleep(1)
        assert address.depth == 0
        assert await address.ask(answering(1), deadline_s=FAR_S) == 1
    assert handled == [0, 1, 2]


async def test_an_ask_ends_at_its_deadline_and_the_late_answer_goes_nowhere() -> None:
    late: list[bool] = []
    clock = LoopClock()

    def build(reply: Reply[int]) -> Step:
        async def answer(ctx: ActorContext[Step]) -> None:
            await anyio.sleep(5)
            late.append(reply.is_wanted())
            late.append(reply.send(1))

        return answer

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        deadline_s = clock.monotonic_s() + 2
        with pytest.raises(AskError) as timed_out:
            await address.ask(build, deadline_s=deadline_s)
        assert timed_out.value.failure is AskFailure.TIMEOUT
        assert timed_out.value.actor == "scripted"
        assert clock.monotonic_s() == pytest.approx(deadline_s)
        assert await address.ask(answering(2), deadline_s=FAR_S) == 2
    assert late == [False, False]


async def test_an_ask_whose_deadline_has_passed_is_not_sent() -> None:
    sent: list[Reply[int]] = []

    def build(reply: Reply[int]) -> Step:
        sent.append(reply)
        return nothing

    clock = LoopClock()
    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        with pytest.raises(AskError) as timed_out:
            await address.ask(build, deadline_s=clock.monotonic_s())
        assert timed_out.value.failure is AskFailure.TIMEOUT
    assert sent == []


async def test_a_queued_ask_is_no_longer_wanted_once_its_deadline_has_passed() -> None:
    wanted: list[bool] = []
    clock = LoopClock()

    async def busy(ctx: ActorContext[Step]) -> None:
        await anyio.sleep(10)

    def build(reply: Reply[int]) -> Step:
        async def look(ctx: ActorContext[Step]) -> None:
            wanted.append(reply.is_wanted())

        return look

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        address.post(busy)
        with pytest.raises(AskError):
            await address.ask(build, deadline_s=clock.monotonic_s() + 1)
        await address.ask(answering(0), deadline_s=FAR_S)
    assert wanted == [False]


async def test_a_cancelled_ask_is_not_wanted_and_its_answer_goes_nowhere() -> None:
    replies: list[Reply[int]] = []

    def build(reply: Reply[int]) -> Step:
        async def keep(ctx: ActorContext[Step]) -> None:
            replies.append(reply)

        return keep

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        with anyio.move_on_after(1) as asker:
            await address.ask(build, deadline_s=FAR_S)
        assert asker.cancelled_caught
        (reply,) = replies
        assert not reply.is_wanted()
        assert reply.send(1) is False


async def test_an_answer_that_comes_in_the_tick_of_the_deadline_is_not_lost() -> None:
    clock = LoopClock()
    taken: list[bool] = []
    deadline_s = clock.monotonic_s() + 3

    def build(reply: Reply[int]) -> Step:
        async def answer(ctx: ActorContext[Step]) -> None:
            await anyio.sleep(3)
            taken.append(reply.send(5))

        return answer

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        got: list[int] = []
        with contextlib.suppress(AskError):
            got.append(await address.ask(build, deadline_s=deadline_s))
        await address.ask(answering(0), deadline_s=FAR_S)
    assert taken == [bool(got)], "an answer is told that it arrived exactly when it did"


async def test_a_second_answer_breaks_an_invariant_and_kills_the_actor() -> None:
    watched = Watched()

    def build(reply: Reply[int]) -> Step:
        async def answer(ctx: ActorContext[Step]) -> None:
            reply.send(1)
            reply.send(2)

        return answer

    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        assert await address.ask(build, deadline_s=FAR_S) == 1
        assert await address.ask(answering(3), deadline_s=FAR_S) == 3
    assert watched.restarts == [("scripted", "InvariantError")]


async def test_a_second_answer_breaks_an_invariant_even_after_the_asker_left() -> None:
    reply: Reply[int] = Reply(actor="somebody", deadline_s=FAR_S, clock=LoopClock())
    with anyio.move_on_after(1):
        await reply.wait()
    assert reply.send(1) is False
    with pytest.raises(InvariantError, match="somebody"):
        reply.send(1)


async def test_an_actor_can_answer_with_an_operating_error() -> None:
    def build(reply: Reply[int]) -> Step:
        async def refuse(ctx: ActorContext[Step]) -> None:
            assert reply.fail(RecalldError(ErrorCode.NOT_FOUND, "no such memory")) is True

        return refuse

    watched = Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        with pytest.raises(RecalldError) as refused:
            await address.ask(build, deadline_s=FAR_S)
        assert refused.value.code is ErrorCode.NOT_FOUND
    assert watched.restarts == []


async def test_the_ask_being_handled_when_its_actor_fails_is_told_that_it_died() -> None:
    def build(reply: Reply[int]) -> Step:
        return fail

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        with pytest.raises(AskError) as died:
            await address.ask(build, deadline_s=FAR_S)
        assert died.value.failure is AskFailure.DIED


async def test_an_ask_kept_for_later_is_told_when_another_message_fails_the_actor() -> None:
    kept: list[Reply[int]] = []

    def build(reply: Reply[int]) -> Step:
        async def keep(ctx: ActorContext[Step]) -> None:
            kept.append(reply)

        return keep

    failures: list[AskFailure] = []
    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))

        async def ask() -> None:
            try:
                await address.ask(build, deadline_s=FAR_S)
            except AskError as error:
                failures.append(error.failure)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(1)
            address.post(fail)
        assert kept[0].send(1) is False, "an answer of a failed incarnation goes nowhere"
    assert failures == [AskFailure.DIED]


async def test_a_deadline_is_measured_on_the_given_clock_even_when_the_loop_tells_another_time() -> None:
    class ShiftedClock(LoopClock):
        def monotonic_s(self) -> float:
            return super().monotonic_s() + 1000.0

    watched = Watched(clock=ShiftedClock())
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        before_s = watched.clock.monotonic_s()
        with pytest.raises(AskError):
            await address.ask(lambda _reply: nothing, deadline_s=before_s + 4)
        assert watched.clock.monotonic_s() == pytest.approx(before_s + 4)
