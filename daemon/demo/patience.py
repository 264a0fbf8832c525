"""Waiting until a busy machine has time: a demo shows what recalld decides, not what else the machine is doing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from recalld.daemon.clock import SystemClock
from recalld.models.domain.reasons import DegradedReason
from recalld.protocol.replies import Recalled

PAUSE_S: Final = 0.25
"""Between two looks at what is waited for."""
TURN_S_MAX: Final = 60.0
"""How long a turn is asked again whose answer was short of time."""
SHORT_OF_TIME: Final = frozenset(
    {
        DegradedReason.SUB_BUDGET_EXCEEDED,
        DegradedReason.ENVELOPE_EXCEEDED,
        DegradedReason.QUEUE_FULL,
        DegradedReason.EMBED_TIMEOUT,
        DegradedReason.BREAKER_OPEN,
    }
)
"""Why a recall is degraded on a machine that is too busy; a failure is none of them."""
_UNAVAILABLE: Final = "unavailable"
"""The mode that the client reports when no answer came at all."""


def until(is_so: Callable[[], bool], *, seconds_max: float) -> bool:
    """Look again and again until something is so. Whether it came to be so within `seconds_max`."""
    clock, pause = SystemClock(), threading.Event()
    deadline_s = clock.monotonic_s() + seconds_max
    while not is_so():
        if clock.monotonic_s() >= deadline_s:
            return False
        pause.wait(PAUSE_S)
    return True


def ask_patiently(ask: Callable[[int], Recalled], *, seconds_max: float = TURN_S_MAX) -> Recalled:
    """The answer to a turn that was not short of time, or the last one if there was none within `seconds_max`.

    Args:
        ask: Asks once, and is told which try it is, from 1.
        seconds_max: How long to ask again.
    """
    answers: list[Recalled] = []

    def is_answered() -> bool:
        answers.append(ask(len(answers) + 1))
        return not _is_short_of_time(answers[-1])

    until(is_answered, seconds_max=seconds_max)
    return answers[-1]


def _is_short_of_time(recalled: Recalled) -> bool:
    return recalled.mode == _UNAVAILABLE or recalled.degraded_reason in SHORT_OF_TIME
