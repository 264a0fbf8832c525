"""SIGTERM and SIGINT: the first asks the daemon to drain, the second ends it at once. Others do not end it.

SIGHUP means a closed terminal, or to most daemons that they are to read their configuration again, which this one does
at its start alone; SIGUSR1 and SIGUSR2 mean nothing here. By default each would end the process without a word.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Final

import anyio
from anyio.abc import TaskStatus

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
IGNORED_SIGNALS: Final = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def ignore_signals() -> None:
    """Ignore `IGNORED_SIGNALS` from now on: also before anybody watches, and after."""
    for number in IGNORED_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


async def watch_stop_signals(
    *,
    on_drain: Callable[[signal.Signals], None],
    on_abort: Callable[[signal.Signals], None],
    on_ignored: Callable[[signal.Signals], None],
    task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
) -> None:
    """Call `on_drain` at the first stop signal and `on_abort` at the second, then return.

    Start it with `TaskGroup.start`: once that returns, the signals are caught. When the task is cancelled the former
    handlers are in place again.

    Args:
        on_drain: Begin an orderly stop; must not block.
        on_abort: End the process; typically `os._exit` with 128 + the signal's number, since whatever holds up the
            orderly stop would hold up an exception as well.
        on_ignored: Told of a signal that changes nothing.
        task_status: Filled in by `TaskGroup.start`.
    """
    former = {number: signal.getsignal(number) for number in IGNORED_SIGNALS}
    try:
        with anyio.open_signal_receiver(*STOP_SIGNALS, *IGNORED_SIGNALS) as received:
            task_status.started()
            is_draining = False
            async for number in received:
                if number in IGNORED_SIGNALS:
                    on_ignored(number)
                elif is_draining:
                    on_abort(number)
                    return
                else:
                    is_draining = True
                    on_drain(number)
    finally:
        # The event loop would leave the default, which ends the process.
        for number, handler in former.items():
            signal.signal(number, handler)
