from __future__ import annotations

import pytest
from actor_system import System, drain, running_system
from scripted_actor import Watched

from recalld.actors.kernel import ActorEscalated, ActorSpec
from recalld.actors.supervisor import ActorFailed
from recalld.daemon.app import FailureRelay, exit_code_of
from recalld.daemon.composition import DRAIN_ORDER
from recalld.daemon.config.settings import AdmissionSettings
from recalld.daemon.exit_codes import ExitCode
from recalld.daemon.gateway.listener import ListenError, ListenFault
from recalld.daemon.storage.errors import AlreadyRunningError, DatabaseRefusedError
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.position import Position

pytestmark = pytest.mark.anyio


async def test_a_writer_in_an_unknown_state_ends_everything_and_leaves_as_itself() -> None:
    async def break_the_writer() -> None:
        async with running_system(System()) as system:
            system.writing.crash = MemoryError()
            await system.remember("ines", "The office is in Bern")

    with pytest.raises(ActorEscalated) as caught:
        await break_the_writer()
    assert (caught.value.actor, caught.value.error_type) == ("store", "MemoryError")


async def test_every_actor_has_its_place_in_the_order_of_the_drain() -> None:
    gate = AdmissionSettings(position=Position.BALANCED, model_gate="runtime")
    async with running_system(System(), admission=gate) as system:
        await system.store_text("ines", "The office is in Bern")
        groups = {name.split("/")[0] for name in system.supervisor.names}
        assert groups == set(DRAIN_ORDER)
        await drain(system)
        assert system.supervisor.names == ()
        assert system.watched.troubles == []


async def test_the_drain_is_quick_even_when_models_hang() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "The office is in Bern")
        system.scorer_thread.call_s = system.embedder_thread.call_s = lambda: None
        await system.recall("ines", "where is the office in Bern?")
        started_s = system.now_s()
        await drain(system)
        assert system.now_s() - started_s < 8


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AlreadyRunningError("in use"), ExitCode.UNAVAILABLE),
        (DatabaseRefusedError("a newer schema"), ExitCode.CONFIG),
        (ListenError(ListenFault.ALREADY_RUNNING, "in use"), ExitCode.UNAVAILABLE),
        (ListenError(ListenFault.PATH_UNUSABLE, "too long"), ExitCode.CONFIG),
        (RecalldError(ErrorCode.STORAGE_FULL, "full"), ExitCode.TEMPORARY),
        (RecalldError(ErrorCode.BAD_REQUEST, "wrong"), ExitCode.CONFIG),
    ],
)
def test_errors_that_starting_again_cannot_mend_have_exit_codes_of_their_own(
    error: RecalldError, code: ExitCode
) -> None:
    assert exit_code_of(error) is code


async def test_failures_before_there_is_anybody_to_tell_are_no_trouble() -> None:
    relay = FailureRelay()
    relay.restarted("store", "OSError")
    heard: list[ActorFailed] = []

    class Listening:
        @staticmethod
        def build() -> object:
            from recalld.actors.kernel import Actor, ActorContext

            class Listener(Actor[ActorFailed]):
                async def handle(self, message: ActorFailed, ctx: ActorContext[ActorFailed]) -> None:
                    heard.append(message)

            return Listener()

    watched = Watched()
    async with watched.supervisor() as supervisor:
        root = supervisor.start(ActorSpec(name="root", build=Listening.build, mailbox_max=8))  # type: ignore[arg-type]
        relay.attach(root)  # type: ignore[arg-type]
        relay.restarted("scorer", "OSError")
        await supervisor.drain("root", watched.clock.monotonic_s() + 1)
    assert heard == [ActorFailed(actor="scorer", error_type="OSError")]
