"""How threads reach the event loop."""

from __future__ import annotations

import asyncio

from recalld.actors.inference_thread.call import Delivery, Handoff


def loop_handoff() -> Handoff:
    """A hand-off to the asyncio (or uvloop) loop that is running now.

    A delivery that comes after the loop was closed is dropped: nobody is left to take it.
    """
    loop = asyncio.get_running_loop()

    def hand_over(delivery: Delivery) -> None:
        try:
            loop.call_soon_threadsafe(delivery)
        except RuntimeError:
            if not loop.is_closed():
                raise

    return hand_over
