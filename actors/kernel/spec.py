"""How an actor is to be run, and what a supervisor reports about it."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from recalld.actors.kernel.actor import Actor
from recalld.models.policy.restart_window import RestartPolicy

M = TypeVar("M")


class Restart(enum.StrEnum):
    """What follows when an actor fails."""

    PERMANENT = "permanent"
    """It is restarted within its window, and escalates beyond."""
    TEMPORARY = "temporary"
    """It is gone; whoever needs it starts it anew."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ActorSpec(Generic[M]):
    """How to build and run one actor.

    Attributes:
        name: Unique among the living actors of a supervisor. A slash groups names: `recall/…`.
        build: Makes a fresh actor for each incarnation; if it raises, that counts as a failure.
        mailbox_max: Messages that may wait (see `bounds`).
        restart: What follows a failure.
        restarts_max: Restarts granted within any `window_s` seconds.
        window_s: Length of the sliding restart window in seconds.
        backoff_initial_s: Longest wait before the first restart of a window, in seconds.
        backoff_max_s: Longest wait before any restart, in seconds.
    """

    name: str
    build: Callable[[], Actor[M]]
    mailbox_max: int
    restart: Restart = Restart.PERMANENT
    restarts_max: int = 5
    window_s: float = 60.0
    backoff_initial_s: float = 0.1
    backoff_max_s: float = 10.0

    @property
    def restart_policy(self) -> RestartPolicy:
        """The part of the spec that decides about restarts."""
        return RestartPolicy(
            restarts_max=self.restarts_max,
            window_s=self.window_s,
            backoff_initial_s=self.backoff_initial_s,
            backoff_max_s=self.backoff_max_s,
        )


class ActorEscalated(Exception):  # noqa: N818 - a typed exit reason, named like the others
    """An actor failed more often than its restart window allows; its supervisor ends with it.

    Attributes:
        actor: The actor's name.
        error_type: Type name of its last failure; the failure itself is chained as the cause.
    """

    def __init__(self, actor: str, error_type: str) -> None:
        super().__init__(f"{actor} failed too often; the last failure was {error_type}")
        self.actor = actor
        self.error_type = error_type


class TroubleKind(enum.StrEnum):
    """What went wrong around an actor without restarting it."""

    DIED = "died"
    """A temporary actor failed, and is gone."""
    STOP_FAILED = "stop_failed"
    """A `stopped` hook raised, or took longer than it may."""
    UNDELIVERED = "undelivered"
    """An actor ended with posts in its mailbox; asks among them were told, posts have nobody to tell."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Trouble:
    """Something a supervisor wants known. `count` is the number of undelivered posts, else 1."""

    actor: str
    kind: TroubleKind
    error_type: str = ""
    count: int = 1
