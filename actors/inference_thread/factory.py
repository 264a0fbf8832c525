"""How an actor comes by its thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from recalld.actors.inference_thread.call import Delivery
from recalld.actors.inference_thread.handoff import loop_handoff
from recalld.actors.inference_thread.thread import InferenceThread, WorkerThread
from recalld.actors.ports import Clock


class ThreadFactory(Protocol):
    """Makes a fresh thread for each incarnation of an actor."""

    def __call__(self, *, take: Callable[[Delivery], None], on_lost: Callable[[str], None]) -> WorkerThread:
        """Make a thread without starting it.

        Args:
            take: Takes deliveries; to be called on the event loop's thread.
            on_lost: A delivery of the thread itself, with a word for why it can no longer be used.
        """
        ...


def inference_threads(*, name: str, lanes: int, clock: Clock) -> ThreadFactory:
    """A factory of real threads that deliver to the event loop which runs when they are made.

    Args:
        name: Name of the dispatching thread; lanes are named after it.
        lanes: Calls that may run at once: one per core that inference may use.
        clock: Time; must be readable from any thread.
    """

    def make(*, take: Callable[[Delivery], None], on_lost: Callable[[str], None]) -> WorkerThread:
        hand_over = loop_handoff()
        return InferenceThread(
            name=name,
            lanes=lanes,
            clock=clock,
            handoff=lambda delivery: hand_over(lambda: take(delivery)),
            on_lost=on_lost,
        )

    return make
