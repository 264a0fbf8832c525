"""Finds, activates and puts to rest the actors of each user."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import anyio.abc

from recalld.actors.admission import AdmissionActor, AdmissionMessage
from recalld.actors.directory.residents import ResidencyLimits, Resident, who_leaves
from recalld.actors.kernel import ActorSpec, Address, Restart, Supervisor
from recalld.actors.kernel.bounds import ADMISSION_MAILBOX_MAX, RECALL_MAILBOX_MAX
from recalld.actors.ports import Clock
from recalld.actors.recall import RecallActor, RecallMessage, RecallState

REST_DEADLINE_S = 5.0
"""Seconds a leaving user's actors get to finish what they hold before they are killed."""
STATES_MAX = 2_048
"""Users whose sessions are remembered after their actors have gone to rest (ids only, no index)."""


@dataclass(kw_only=True, slots=True)
class _Residence:
    """The running actors of one user."""

    user: str
    recall: Address[RecallMessage]
    admission: Address[AdmissionMessage]
    state: RecallState
    used_s: float
    in_flight: int = field(default=0)

    @property
    def is_busy(self) -> bool:
        return self.in_flight > 0 or self.recall.depth > 0 or self.admission.depth > 0


class UserActors:
    """A user's actors, held for one request: while it is held, the user is not put to rest.

    Use as a context manager.
    """

    def __init__(self, residence: _Residence) -> None:
        self._residence = residence
        self.recall = residence.recall
        self.admission = residence.admission

    def __enter__(self) -> Self:
        self._residence.in_flight += 1
        return self

    def __exit__(self, *_exc: object) -> None:
        self._residence.in_flight -= 1


class Directory:
    """The actors of all users, started on demand, bounded, and put to rest when idle.

    Args:
        supervisor: Runs the actors.
        tasks: Where leaving actors are drained, so that nobody waits for them.
        clock: Time.
        limits: How much may stay in memory.
        build_recall: Makes a user's recall actor around its state.
        build_admission: Makes a user's admission actor, which may ask that user's recall actor.
    """

    def __init__(
        self,
        *,
        supervisor: Supervisor,
        tasks: anyio.abc.TaskGroup,
        clock: Clock,
        limits: ResidencyLimits,
        build_recall: Callable[[str, RecallState], RecallActor],
        build_admission: Callable[[str, Address[RecallMessage]], AdmissionActor],
    ) -> None:
        self._supervisor = supervisor
        self._tasks = tasks
        self._clock = clock
        self._limits = limits
        self._build_recall = build_recall
        self._build_admission = build_admission
        self._residences: dict[str, _Residence] = {}
        self._states: collections.OrderedDict[str, RecallState] = collections.OrderedDict()
        self._generation = itertools.count(1)

    @property
    def active(self) -> int:
        """Users that are ready."""
        return len(self._residences)

    @property
    def depth(self) -> int:
        """Messages waiting for users' actors."""
        return sum(each.recall.depth + each.admission.depth for each in self._residences.values())

    def actors_of(self, user: str) -> UserActors:
        """The user's actors, activated if need be.

        Raises:
            RecalldError: `DRAINING` while the daemon shuts down.
        """
        residence = self._residences.get(user)
        # An actor that exhausted its own restarts is gone (they are temporary); the next request starts it anew.
        if residence is None or not (residence.recall.is_open and residence.admission.is_open):
            residence = self._activate(user)
        residence.used_s = self._clock.monotonic_s()
        return UserActors(residence)

    def _activate(self, user: str) -> _Residence:
        stale = self._residences.pop(user, None)
        if stale is not None:
            self._rest(stale)
        state = self._states.pop(user, None) or RecallState()
        self._states[user] = state
        while len(self._states) > STATES_MAX:
            self._states.popitem(last=False)
        generation = next(self._generation)
        recall: Address[RecallMessage] = self._supervisor.start(
            ActorSpec(
                name=f"recall/{generation}",
                build=lambda: self._build_recall(user, state),
                mailbox_max=RECALL_MAILBOX_MAX,
                restart=Restart.TEMPORARY,
            )
        )
        residence = _Residence(
            user=user,
            recall=recall,
            admission=self._supervisor.start(
                ActorSpec(
                    name=f"admission/{generation}",
                    build=lambda: self._build_admission(user, recall),
                    mailbox_max=ADMISSION_MAILBOX_MAX,
                    restart=Restart.TEMPORARY,
                )
            ),
            state=state,
            used_s=self._clock.monotonic_s(),
        )
        self._residences[user] = residence
        self.tidy()
        return residence

    def tidy(self) -> int:
        """Put to rest whoever should leave. Returns how many. Called at each activation and now and then."""
        leaving = who_leaves(
            (
                Resident(key=each.user, used_s=each.used_s, is_busy=each.is_busy, index_bytes=each.state.index_bytes)
                for each in self._residences.values()
            ),
            self._limits,
            now_s=self._clock.monotonic_s(),
        )
        for user in leaving:
            self._rest(self._residences.pop(user))
        return len(leaving)

    def _rest(self, residence: _Residence) -> None:
        residence.state.drop_index()
        # The newest rest is forgotten last, however long ago the user was activated.
        self._states[residence.user] = residence.state
        self._states.move_to_end(residence.user)
        self._tasks.start_soon(self._drain, residence)

    async def _drain(self, residence: _Residence) -> None:
        deadline_s = self._clock.monotonic_s() + REST_DEADLINE_S
        await self._supervisor.drain(residence.recall, deadline_s)
        await self._supervisor.drain(residence.admission, deadline_s)
        if residence.user not in self._residences:
            # A recall whose asker had left may have finished loading the index meanwhile.
            residence.state.drop_index()
