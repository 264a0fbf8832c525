from __future__ import annotations

import anyio
import pytest
from scripted_actor import Script, Step, Watched, answering, fail, nothing, scripted

from recalld.actors.kernel import (
    ActorContext,
    AskError,
    AskFailure,
    PostOutcome,
    Reply,
    StopReason,
    Trouble,
    TroubleKind,
)
from recalld.models.domain.errors import ErrorCode, RecalldError

pytestmark = pytest.mark.anyio

FAR_S = 1e6


async def sleep_a_second(ctx: ActorContext[Step]) -> None:
    await anyio.sleep(1)


async def sleep_for_ever(ctx: ActorContext[Step]) -> None:
    await anyio.sleep_forever()


async def test_a_drain_finishes_the_mailbox_and_refuses_newcomers() -> None:
    script, watched = Script(), Watched()
    answers: list[int] = []
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))

        async def ask(value: int) -> None:
            answers.append(await address.ask(answering(value), deadline_s=FAR_S))

        async with anyio.create_task_group() as tasks:
            address.post(sleep_a_second)
            for value in (1, 2, 3):
                tasks.start_soon(ask, value)
            await anyio.sleep(0.5)
            tasks.start_soon(supervisor.drain, "scripted", FAR_S)
            await anyio.sleep(0.1)
            assert not address.is_open
            assert address.post(nothing) is PostOutcome.CLOSED
            with pytest.raises(AskError) as refused:
                await address.ask(answering(4), deadline_s=FAR_S)
            assert refused.value.failure is AskFailure.CLOSED
        assert sorted(answers) == [1, 2, 3]
        assert supervisor.names == ()
    assert script.stops == [StopReason.DRAINED]
    assert watched.troubles == []


async def test_a_drain_waits_for_child_tasks_and_cancels_background_ones() -> None:
    ended: list[str] = []

    async def foreground() -> None:
        await anyio.sleep(3)
        ended.append("foreground")

    async def background() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("background")

    async def spawn_both(ctx: ActorContext[Step]) -> None:
        ctx.spawn(background, name="background", is_background=True)
        ctx.spawn(foreground, name="foreground")

    async with Watched().supervisor() as supervisor:
        supervisor.start(scripted(Script(on_start=spawn_both)))
        await anyio.sleep(0.1)
        assert await supervisor.drain("scripted", FAR_S) is StopReason.DRAINED
    assert ended == ["foreground", "background"]


async def test_a_drain_waits_for_answers_that_are_still_owed() -> None:
    owed: list[Reply[int]] = []
    answers: list[int] = []

    def build(reply: Reply[int]) -> Step:
        async def keep(ctx: ActorContext[Step]) -> None:
            owed.append(reply)

        return keep

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))

        async def ask() -> None:
            answers.append(await address.ask(build, deadline_s=FAR_S))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.1)
            tasks.start_soon(supervisor.drain, address, FAR_S)
            await anyio.sleep(5)
            assert supervisor.names == ("scripted",)
            owed[0].send(9)
    assert answers == [9]


async def test_an_actor_may_post_to_itself_while_it_drains() -> None:
    handled: list[int] = []

    def countdown(number: int) -> Step:
        async def run(ctx: ActorContext[Step]) -> None:
            handled.append(number)
            if number:
                await anyio.sleep(1)
                assert ctx.is_draining
                assert ctx.address.post(countdown(number - 1)) is PostOutcome.ACCEPTED

        return run

    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        address.post(countdown(3))
        assert await supervisor.drain(address, FAR_S) is StopReason.DRAINED
    assert handled == [3, 2, 1, 0]


async def test_a_drain_that_meets_a_stuck_handler_kills_at_its_deadline() -> None:
    script, watched = Script(), Watched()
    failures: list[AskFailure] = []
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))

        async def ask(build: Step) -> None:
            with pytest.raises(AskError) as refused:
                await address.ask(lambda _reply: build, deadline_s=FAR_S)
            failures.append(refused.value.failure)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, sleep_for_ever)
            await anyio.sleep(0.1)
            tasks.start_soon(ask, nothing)
            address.post(nothing)
            await anyio.sleep(0.1)
            started_s = watched.clock.monotonic_s()
            assert await supervisor.drain("scripted", started_s + 2) is StopReason.KILLED
            assert watched.clock.monotonic_s() - started_s == pytest.approx(2)
    assert sorted(failures) == [AskFailure.CLOSED, AskFailure.DIED]
    assert watched.troubles == [Trouble(actor="scripted", kind=TroubleKind.UNDELIVERED, count=1)]


async def test_an_actor_that_fails_while_it_drains_comes_back_for_the_rest_of_its_mailbox() -> None:
    script, watched = Script(), Watched()
    handled: list[int] = []

    async def note(ctx: ActorContext[Step]) -> None:
        handled.append(1)

    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        address.post(fail)
        address.post(note)
        assert await supervisor.drain("scripted", FAR_S) is StopReason.DRAINED
    assert handled == [1]
    assert script.stops == [StopReason.FAILED, StopReason.DRAINED]


async def test_an_actor_that_fails_on_its_last_message_while_it_drains_does_not_come_back() -> None:
    script, watched = Script(), Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        address.post(fail)
        assert await supervisor.drain("scripted", FAR_S) is StopReason.FAILED
    assert script.stops == [StopReason.FAILED]
    assert watched.troubles == [Trouble(actor="scripted", kind=TroubleKind.DIED, error_type="OSError")]


async def test_a_kill_interrupts_a_handler_and_its_ask_is_told() -> None:
    script, watched = Script(), Watched()
    failures: list[AskFailure] = []
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))

        async def ask() -> None:
            with pytest.raises(AskError) as died:
                await address.ask(lambda _reply: sleep_for_ever, deadline_s=FAR_S)
            failures.append(died.value.failure)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(1)
            assert await supervisor.kill(address) is StopReason.KILLED
        assert supervisor.names == ()
    assert failures == [AskFailure.DIED]
    assert script.stops == [StopReason.KILLED]


async def test_a_kill_ends_a_restart_that_is_still_backing_off() -> None:
    script, watched = Script(), Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script, backoff_initial_s=1000, backoff_max_s=1000))
        address.post(fail)
        await anyio.sleep(1)
        assert await supervisor.kill(address) is StopReason.KILLED
        assert supervisor.restarts == 1, "restarts are still counted when the actor has ended"
        assert supervisor.restarts_of("scripted") == 0
    assert script.stops == [StopReason.FAILED]


async def test_a_stale_address_does_not_stop_its_successor() -> None:
    async with Watched().supervisor() as supervisor:
        old = supervisor.start(scripted(Script()))
        await supervisor.kill(old)
        supervisor.start(scripted(Script()))
        assert await supervisor.kill(old) is None
        assert await supervisor.drain(old, FAR_S) is None
        assert supervisor.names == ("scripted",)


async def test_stopping_an_unknown_actor_is_no_error() -> None:
    async with Watched().supervisor() as supervisor:
        assert await supervisor.drain("nobody", FAR_S) is None
        assert await supervisor.kill("nobody") is None


async def test_groups_drain_in_order_so_that_early_ones_can_still_use_late_ones() -> None:
    order: list[str] = []
    watched = Watched()

    def noting(name: str) -> Script:
        async def note(reason: StopReason) -> None:
            order.append(name)

        return Script(on_stop=note)

    async with watched.supervisor() as supervisor:
        store = supervisor.start(scripted(noting("store"), name="store"))
        supervisor.start(scripted(noting("recaller"), name="recaller"))
        answers: list[int] = []

        async def use_store(ctx: ActorContext[Step]) -> None:
            await anyio.sleep(1)
            answers.append(await store.ask(answering(6), deadline_s=FAR_S))

        for user in ("ann", "ben"):
            supervisor.start(scripted(noting(f"recall/{user}"), name=f"recall/{user}")).post(use_store)
        await supervisor.drain_all(["recall", "store"], FAR_S)
        assert supervisor.names == ()
        assert answers == [6, 6]
        with pytest.raises(RecalldError) as refused:
            supervisor.start(scripted(Script()))
        assert refused.value.code is ErrorCode.DRAINING
    assert sorted(order[:2]) == ["recall/ann", "recall/ben"]
    assert order[2:] == ["store", "recaller"]


async def test_a_drain_of_everything_ends_at_its_deadline_even_if_every_actor_is_stuck() -> None:
    watched = Watched()
    scripts = [Script() for _ in range(3)]
    async with watched.supervisor() as supervisor:
        for number, script in enumerate(scripts):
            supervisor.start(scripted(script, name=f"actor/{number}")).post(sleep_for_ever)
        started_s = watched.clock.monotonic_s()
        await supervisor.drain_all(["actor"], started_s + 3)
        assert watched.clock.monotonic_s() - started_s == pytest.approx(3)
    assert [script.stops for script in scripts] == [[StopReason.KILLED]] * 3
