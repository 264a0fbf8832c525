from __future__ import annotations

import anyio
import pytest
from scripted_actor import Script, ScriptedOptions, Step, Watched, answering, fail, nothing, scripted

from recalld.actors.kernel import (
    Actor,
    ActorContext,
    ActorEscalated,
    ActorSpec,
    Address,
    AskError,
    AskFailure,
    PostOutcome,
    Reply,
    Restart,
    StopReason,
    Supervisor,
    Trouble,
    TroubleKind,
)
from recalld.models.domain.errors import InvariantError

pytestmark = pytest.mark.anyio

FAR_S = 1e6


async def test_a_failed_actor_is_restarted_at_the_same_address_and_its_mailbox_survives() -> None:
    script, watched = Script(), Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        address.post(fail)
        assert await address.ask(answering(1), deadline_s=FAR_S) == 1
        assert supervisor.restarts == supervisor.restarts_of("scripted") == 1
    assert watched.restarts == [("scripted", "OSError")]
    assert script.stops == [StopReason.FAILED, StopReason.KILLED]


async def test_each_restart_in_a_window_waits_longer_with_jitter_up_to_a_ceiling() -> None:
    script, watched = Script(), Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script, restarts_max=4, window_s=100, backoff_initial_s=1, backoff_max_s=4))
        for _ in range(4):
            address.post(fail)
        await address.ask(answering(1), deadline_s=FAR_S)
    waits_s = [later - earlier for earlier, later in zip(script.starts, script.starts[1:], strict=False)]
    for wait_s, ceiling_s in zip(waits_s, [1, 2, 4, 4], strict=True):
        assert ceiling_s / 2 <= wait_s <= ceiling_s


async def test_the_same_seed_gives_the_same_jitter() -> None:
    async def starts(seed: int) -> list[float]:
        script, watched = Script(), Watched()
        async with watched.supervisor(seed) as supervisor:
            address = supervisor.start(scripted(script))
            address.post(fail)
            await address.ask(answering(1), deadline_s=FAR_S)
        return [round(at_s - script.starts[0], 2) for at_s in script.starts]

    assert await starts(1) == await starts(1)
    assert await starts(1) != await starts(2)


async def test_an_exhausted_window_escalates_with_the_cause_and_kills_the_siblings() -> None:
    script, sibling = Script(), Script()
    with pytest.raises(ActorEscalated) as escalated:  # noqa: PT012 - the whole block is what raises
        async with Watched().supervisor() as supervisor:
            supervisor.start(scripted(sibling, name="sibling"))
            address = supervisor.start(scripted(script, restarts_max=2))
            for _ in range(3):
                address.post(fail)
            await anyio.sleep(100)
    assert escalated.value.actor == "scripted"
    assert escalated.value.error_type == "OSError"
    assert isinstance(escalated.value.__cause__, OSError)
    assert script.stops == [StopReason.FAILED, StopReason.FAILED, StopReason.ESCALATED]
    assert sibling.stops == [StopReason.KILLED]


async def test_failures_further_apart_than_the_window_never_escalate() -> None:
    script, watched = Script(), Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script, restarts_max=1, window_s=10))
        for _ in range(5):
            address.post(fail)
            await anyio.sleep(11)
        assert await address.ask(answering(1), deadline_s=FAR_S) == 1
    assert len(watched.restarts) == 5


async def test_an_ask_that_waits_when_its_actor_escalates_is_told_that_it_is_closed() -> None:
    failures: list[AskFailure] = []

    async def ask(address: Address[Step]) -> None:
        with pytest.raises(AskError) as refused:
            await address.ask(answering(1), deadline_s=FAR_S)
        failures.append(refused.value.failure)

    async def wait_a_second_and_fail(ctx: ActorContext[Step]) -> None:
        await anyio.sleep(1)
        raise OSError

    async with anyio.create_task_group() as tasks:
        with pytest.raises(ActorEscalated):  # noqa: PT012 - the whole block is what raises
            async with Watched().supervisor() as supervisor:
                address = supervisor.start(scripted(Script(), restarts_max=0))
                address.post(wait_a_second_and_fail)
                tasks.start_soon(ask, address)
                await anyio.sleep(100)
    assert failures == [AskFailure.CLOSED]
    assert address.post(nothing) is PostOutcome.CLOSED


async def test_a_failure_in_started_is_retried_with_back_off_and_keeps_the_mailbox() -> None:
    script, watched = Script(), Watched()

    async def fail_twice(ctx: ActorContext[Step]) -> None:
        if ctx.restarts < 2:
            raise OSError

    script.on_start = fail_twice
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        assert await address.ask(answering(4), deadline_s=FAR_S) == 4
    assert watched.restarts == [("scripted", "OSError")] * 2
    assert script.stops == [StopReason.FAILED, StopReason.FAILED, StopReason.KILLED]
    assert script.starts[1] - script.starts[0] >= 0.5


async def test_a_failure_to_build_counts_as_a_failure() -> None:
    built: list[int] = []

    def build() -> Actor[Step]:
        built.append(1)
        raise LookupError

    with pytest.raises(ActorEscalated) as escalated:  # noqa: PT012 - the whole block is what raises
        async with Watched().supervisor() as supervisor:
            supervisor.start(ActorSpec(name="unbuildable", build=build, mailbox_max=1, restarts_max=2))
            await anyio.sleep(100)
    assert escalated.value.error_type == "LookupError"
    assert len(built) == 3


async def test_a_failing_child_task_fails_its_actor_and_cancels_the_other_tasks() -> None:
    ended: list[str] = []
    script, watched = Script(), Watched()

    async def sleeper() -> None:
        try:
            await anyio.sleep(100)
        finally:
            ended.append("sleeper")

    async def failing(after_s: float) -> None:
        await anyio.sleep(after_s)
        raise ZeroDivisionError

    async def start_both(ctx: ActorContext[Step]) -> None:
        ctx.spawn(sleeper, name="sleeper")
        ctx.spawn(failing, 1.0, name="failing")

    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        address.post(start_both)
        await anyio.sleep(1.1)
        assert ended == ["sleeper"]
        assert await address.ask(answering(1), deadline_s=FAR_S) == 1
    assert watched.restarts == [("scripted", "ZeroDivisionError")]


async def test_a_failing_child_task_interrupts_the_handler_and_its_ask_is_told() -> None:
    async def failing() -> None:
        await anyio.sleep(1)
        raise ZeroDivisionError

    def build(reply: Reply[int]) -> Step:
        async def slow(ctx: ActorContext[Step]) -> None:
            ctx.spawn(failing, name="failing")
            await anyio.sleep(100)
            reply.send(1)

        return slow

    watched = Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(Script()))
        started_s = watched.clock.monotonic_s()
        with pytest.raises(AskError) as died:
            await address.ask(build, deadline_s=FAR_S)
        assert died.value.failure is AskFailure.DIED
        assert watched.clock.monotonic_s() - started_s < 2


async def test_a_task_cannot_be_started_after_its_incarnation() -> None:
    contexts: list[ActorContext[Step]] = []

    async def keep(ctx: ActorContext[Step]) -> None:
        contexts.append(ctx)

    async with Watched().supervisor() as supervisor:
        supervisor.start(scripted(Script(on_start=keep)))
        await anyio.sleep(1)
    with pytest.raises(InvariantError, match="late"):
        contexts[0].spawn(anyio.sleep, 1.0, name="late")


async def test_a_temporary_actor_is_gone_after_a_failure_and_can_be_started_anew() -> None:
    script, watched = Script(), Watched()
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script, restart=Restart.TEMPORARY))
        address.post(fail)
        address.post(nothing)
        with pytest.raises(AskError) as refused:
            await address.ask(answering(1), deadline_s=FAR_S)
        assert refused.value.failure is AskFailure.CLOSED
        assert supervisor.names == ()
        again = supervisor.start(scripted(script, restart=Restart.TEMPORARY))
        assert await again.ask(answering(2), deadline_s=FAR_S) == 2
        assert address.post(nothing) is PostOutcome.CLOSED
    assert watched.restarts == []
    assert watched.troubles == [
        Trouble(actor="scripted", kind=TroubleKind.DIED, error_type="OSError"),
        Trouble(actor="scripted", kind=TroubleKind.UNDELIVERED, count=1),
    ]


async def test_two_living_actors_cannot_have_one_name() -> None:
    async with Watched().supervisor() as supervisor:
        supervisor.start(scripted(Script()))
        with pytest.raises(InvariantError, match="scripted"):
            supervisor.start(scripted(Script()))


async def test_an_actor_cannot_be_started_outside_the_block() -> None:
    supervisor = Watched().supervisor()
    with pytest.raises(InvariantError):
        supervisor.start(scripted(Script()))
    async with supervisor:
        pass
    with pytest.raises(InvariantError):
        supervisor.start(scripted(Script()))


async def test_leaving_the_block_kills_what_still_runs_and_lets_it_clean_up() -> None:
    script = Script()
    cleaned: list[StopReason] = []

    async def clean(reason: StopReason) -> None:
        await anyio.sleep(1)
        cleaned.append(reason)

    script.on_stop = clean
    async with Watched().supervisor() as supervisor:
        supervisor.start(scripted(script))
        await anyio.sleep(1)
    assert cleaned == [StopReason.KILLED]


async def test_the_error_of_the_block_itself_comes_out_as_it_was() -> None:
    script = Script()
    with pytest.raises(KeyError, match="mine"):  # noqa: PT012 - the whole block is what raises
        async with Watched().supervisor() as supervisor:
            supervisor.start(scripted(script))
            await anyio.sleep(1)
            raise KeyError("mine")  # noqa: EM101 - the test looks for it
    assert script.stops == [StopReason.KILLED]


async def test_a_cancelled_supervisor_kills_its_actors_and_answers_their_askers() -> None:
    script = Script()
    failures: list[AskFailure] = []

    async def ask(supervisor: Supervisor) -> None:
        address = supervisor.start(scripted(script))
        with pytest.raises(AskError) as died:
            await address.ask(lambda _reply: stuck, deadline_s=FAR_S)
        failures.append(died.value.failure)

    async def stuck(ctx: ActorContext[Step]) -> None:
        await anyio.sleep(1000)

    async with anyio.create_task_group() as tasks:
        with anyio.move_on_after(5):
            async with Watched().supervisor() as supervisor:
                tasks.start_soon(ask, supervisor)
                await anyio.sleep(100)
    assert failures == [AskFailure.DIED]
    assert script.stops == [StopReason.KILLED]


async def test_what_fails_while_it_is_being_cancelled_counts_as_killed() -> None:
    script, watched = Script(), Watched()

    async def stubborn(ctx: ActorContext[Step]) -> None:
        try:
            await anyio.sleep(100)
        finally:
            raise ValueError

    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script, restarts_max=0))
        address.post(stubborn)
        await anyio.sleep(1)
        assert await supervisor.kill("scripted") is StopReason.KILLED
    assert watched.restarts == []
    assert script.stops == [StopReason.KILLED]


async def test_a_kill_that_comes_while_a_failed_actor_unwinds_counts_as_a_kill() -> None:
    script, watched = Script(), Watched()

    async def slow_to_unwind() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(2)

    async def fail_slowly(ctx: ActorContext[Step]) -> None:
        ctx.spawn(slow_to_unwind, name="slow_to_unwind")
        await anyio.sleep(1)
        raise OSError

    async def stay(ctx: ActorContext[Step]) -> None:
        ctx.spawn(anyio.sleep_forever, name="stay")

    script.on_start = stay
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script, restarts_max=0))
        address.post(fail_slowly)
        await anyio.sleep(2)
        assert await supervisor.kill("scripted") is StopReason.KILLED
    assert watched.restarts == []
    assert script.stops == [StopReason.KILLED]


async def test_a_failing_or_endless_stop_hook_is_reported_and_holds_nobody_up() -> None:
    script, watched = Script(), Watched()

    async def trouble(reason: StopReason) -> None:
        if len(script.stops) == 1:
            raise ValueError
        await anyio.sleep_forever()

    script.on_stop = trouble
    async with watched.supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        address.post(fail)
        assert await address.ask(answering(1), deadline_s=FAR_S) == 1
        started_s = watched.clock.monotonic_s()
        assert await supervisor.kill("scripted") is StopReason.KILLED
        assert watched.clock.monotonic_s() - started_s < 10
    assert [(trouble.kind, trouble.error_type) for trouble in watched.troubles] == [
        (TroubleKind.STOP_FAILED, "ValueError"),
        (TroubleKind.STOP_FAILED, "TimeoutError"),
    ]


async def test_a_stop_hook_may_answer_what_is_pending_before_the_kernel_does() -> None:
    kept: list[Reply[int]] = []
    script = Script()

    def build(reply: Reply[int]) -> Step:
        async def keep_and_fail(ctx: ActorContext[Step]) -> None:
            kept.append(reply)
            raise OSError

        return keep_and_fail

    async def answer_degraded(reason: StopReason) -> None:
        for reply in kept:
            reply.send(-1)
        kept.clear()

    script.on_stop = answer_degraded
    async with Watched().supervisor() as supervisor:
        address = supervisor.start(scripted(script))
        assert await address.ask(build, deadline_s=FAR_S) == -1


@pytest.mark.parametrize(
    ("field", "spec"),
    [
        ("mailbox_max", {"mailbox_max": 0}),
        ("restarts_max", {"restarts_max": -1}),
        ("window_s", {"window_s": 0.0}),
        ("backoff_initial_s", {"backoff_initial_s": 5.0, "backoff_max_s": 1.0}),
    ],
)
async def test_a_spec_that_means_nothing_is_refused_by_the_name_of_its_field(field: str, spec: ScriptedOptions) -> None:
    async with Watched().supervisor() as supervisor:
        with pytest.raises(ValueError, match=field):
            supervisor.start(scripted(Script(), **spec))
        assert supervisor.names == ()
