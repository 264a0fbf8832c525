"""The first stop signal drains, the second aborts."""

import os
import signal
from collections.abc import Callable

import anyio
import pytest

from recalld.daemon.notify import ignore_signals, watch_stop_signals
from recalld.daemon.notify.signals import IGNORED_SIGNALS

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _recorder(seen: list[tuple[str, int]], what: str, done: anyio.Event) -> Callable[[signal.Signals], None]:
    def record(number: signal.Signals) -> None:
        seen.append((what, number))
        done.set()

    return record


async def test_the_first_signal_drains_and_the_second_aborts() -> None:
    seen: list[tuple[str, int]] = []
    drained, aborted = anyio.Event(), anyio.Event()

    async def watch(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await watch_stop_signals(
            on_drain=_recorder(seen, "drain", drained),
            on_abort=_recorder(seen, "abort", aborted),
            on_ignored=_recorder(seen, "ignored", anyio.Event()),
            task_status=task_status,
        )

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            await tasks.start(watch)
            os.kill(os.getpid(), signal.SIGTERM)
            await drained.wait()
            assert seen == [("drain", signal.SIGTERM)]
            os.kill(os.getpid(), signal.SIGINT)
            await aborted.wait()
    assert seen == [("drain", signal.SIGTERM), ("abort", signal.SIGINT)]


async def test_cancelling_the_watcher_puts_the_former_handler_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    done = anyio.Event()

    async def watch(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await watch_stop_signals(
            on_drain=_recorder([], "drain", done),
            on_abort=_recorder([], "abort", done),
            on_ignored=_recorder([], "ignored", done),
            task_status=task_status,
        )

    async with anyio.create_task_group() as tasks:
        await tasks.start(watch)
        tasks.cancel_scope.cancel()
    assert signal.getsignal(signal.SIGTERM) == before


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2])
async def test_a_signal_that_means_nothing_here_is_noted_and_changes_nothing(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    signal.signal(number, signal.SIG_IGN)
    seen: list[tuple[str, int]] = []
    ignored, drained = anyio.Event(), anyio.Event()

    async def watch(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        await watch_stop_signals(
            on_drain=_recorder(seen, "drain", drained),
            on_abort=_recorder(seen, "abort", drained),
            on_ignored=_recorder(seen, "ignored", ignored),
            task_status=task_status,
        )

    try:
        with anyio.fail_after(10):
            async with anyio.create_task_group() as tasks:
                await tasks.start(watch)
                os.kill(os.getpid(), number)
                await ignored.wait()
                os.kill(os.getpid(), signal.SIGTERM)
                await drained.wait()
                tasks.cancel_scope.cancel()
        assert seen == [("ignored", number), ("drain", signal.SIGTERM)]
        assert signal.getsignal(number) is signal.SIG_IGN  # not the default, which would end the process
    finally:
        signal.signal(number, before)


def test_signals_that_mean_nothing_are_ignored_before_anybody_watches() -> None:
    before = {number: signal.getsignal(number) for number in IGNORED_SIGNALS}
    try:
        ignore_signals()
        for number in IGNORED_SIGNALS:
            os.kill(os.getpid(), number)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
