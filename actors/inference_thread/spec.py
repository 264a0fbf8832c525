"""How an actor that runs a model is supervised: for ever, and without hurry."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from recalld.actors.kernel import Actor, ActorSpec

M = TypeVar("M")


def model_actor_spec(*, name: str, build: Callable[[], Actor[M]], mailbox_max: int) -> ActorSpec[M]:
    """A spec whose restarts never escalate.

    A model that fails for ever costs recalls their gate or their vectors, and they say so; it must not cost them the
    daemon. With waits whose ceilings double from a second up to a minute, no window of a minute sees more than eight
    restarts, so the twelve that are allowed are never used up.

    Args:
        name: The actor's name.
        build: Makes a fresh actor for each incarnation.
        mailbox_max: Messages that may wait.
    """
    return ActorSpec(
        name=name,
        build=build,
        mailbox_max=mailbox_max,
        restarts_max=12,
        window_s=60.0,
        backoff_initial_s=1.0,
        backoff_max_s=60.0,
    )
