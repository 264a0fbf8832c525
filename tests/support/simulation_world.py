"""Users who save, forget and recall while things break, and a record of everything they were told."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import anyio
from actor_system import System, drain
from simulation_faults import FAULTS, heal

from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.recall import RecallOutcome, RecallQuery

USERS = ("ann", "ann1", "ANN", "an")
"""Alike on purpose."""
LOAD_S = 6.0
FAULT_S_MAX = 1.5
SETTLE_S = 150.0
"""Longer than any back-off or retry of an actor, and long enough to embed what is pending."""
TOPICS = ("deploy", "billing", "search", "kitchen", "travel")


@dataclass(frozen=True)
class Saved:
    """A memory whose save was acknowledged."""

    memory_id: str
    user: str
    number: int

    @property
    def question(self) -> str:
        return f"which note{self.number} mark{self.number} was that?"


@dataclass(frozen=True)
class Answered:
    """One recall from request to answer."""

    query: RecallQuery
    outcome: RecallOutcome
    asked_s: float
    answered_s: float
    gone: frozenset[str]
    """Memories whose forgetting had been acknowledged before it was asked."""


@dataclass
class World:
    """A system under load.

    Attributes:
        saved: Acknowledged and not asked to be forgotten, by id.
        unsure: Forgetting was asked for and not acknowledged: gone or not.
        gone: Forgetting was acknowledged.
        open: Requests that have not been answered.
        twins: Pairs of answers to the same question asked at the same moment, with nothing written meanwhile.
        transcript: What broke when, for a failed run.
    """

    system: System
    seed: int
    saved: dict[str, Saved] = field(default_factory=dict)
    unsure: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    answers: list[Answered] = field(default_factory=list)
    asked: int = 0
    open: int = 0
    twins: list[tuple[Answered, Answered]] = field(default_factory=list)
    errors: dict[str, int] = field(default_factory=dict)
    transcript: list[str] = field(default_factory=list)
    _numbers: int = 0

    def rng(self, name: str) -> random.Random:
        return random.Random(f"{self.seed}/{name}")

    async def run(self) -> None:
        """Load and faults, then peace, then an end in the middle of work."""
        async with anyio.create_task_group() as tasks:
            for user in USERS:
                tasks.start_soon(self._use, user)
            tasks.start_soon(self._break_things)
            if self.seed % 6 == 5:
                tasks.start_soon(self._flood)
        heal(self.system)
        await anyio.sleep(SETTLE_S)

    async def end(self) -> None:
        """Drain while requests are in flight."""
        rng = self.rng("end")
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                user = USERS[number % len(USERS)]
                tasks.start_soon(self.recall, user, f"deploy note{number} mark{number}")
                tasks.start_soon(self.save, user, rng)
            await anyio.sleep(rng.uniform(0.0, 0.05))
            await drain(self.system)

    async def _break_things(self) -> None:
        rng = self.rng("faults")
        until_s = self.system.now_s() + LOAD_S
        while self.system.now_s() < until_s:
            fault = rng.choice(FAULTS)
            self.transcript.append(f"{self.system.now_s():.3f} {fault.name}")
            fault.begin(self.system, rng)
            await anyio.sleep(rng.uniform(0.1, FAULT_S_MAX))
            fault.end(self.system)
            await anyio.sleep(rng.uniform(0.0, 0.5))

    async def _use(self, user: str) -> None:
        rng = self.rng(user)
        until_s = self.system.now_s() + LOAD_S
        actions: list[tuple[int, Callable[[], object]]] = [
            (6, partial(self.save, user, rng)),
            (10, partial(self._ask, user, rng)),
            (3, partial(self._ask_twice, user, rng)),
            (1, partial(self._burst, user, rng)),
            (1, partial(self._forget, user, rng)),
            (1, partial(self._compact, user, rng)),
        ]
        weights = [weight for weight, _ in actions]
        async with anyio.create_task_group() as tasks:
            while self.system.now_s() < until_s:
                _, action = rng.choices(actions, weights)[0]
                tasks.start_soon(action)  # type: ignore[arg-type]
                await anyio.sleep(rng.uniform(0.05, 0.8))

    async def save(self, user: str, rng: random.Random) -> None:
        self._numbers += 1
        number = self._numbers
        text = f"{rng.choice(TOPICS)} note{number} mark{number} of {user}"
        with self._counted():
            reply = await self.system.remember(user, text)
            self.saved[reply.memory.id] = Saved(reply.memory.id, user, number)

    def _counted(self) -> _Counted:
        return _Counted(self)

    async def recall(self, user: str, text: str, **options: object) -> Answered:
        query = self.system.query(user, text, **options)  # type: ignore[arg-type]
        gone, asked_s = frozenset(self.gone), self.system.now_s()
        self.asked += 1
        self.open += 1
        outcome = await self.system.service.recall(query)
        self.open -= 1
        answered = Answered(query, outcome, asked_s, self.system.now_s(), gone)
        self.answers.append(answered)
        return answered

    def _question(self, user: str, rng: random.Random) -> str:
        own = [saved for saved in self.saved.values() if saved.user == user]
        if own and rng.random() < 0.6:
            return rng.choice(own).question
        return f"what about {rng.choice(TOPICS)} note{rng.randrange(40)} mark{rng.randrange(40)}?"

    async def _ask(self, user: str, rng: random.Random) -> None:
        await self.recall(
            user,
            self._question(user, rng),
            session=rng.choice(("", "one", "two")),
            envelope_s=rng.choice((0.05, 0.1, 0.3, 0.3)),
            is_search=rng.random() < 0.1,
        )

    async def _ask_twice(self, user: str, rng: random.Random) -> None:
        question, found = self._question(user, rng), []
        before = self.system.store.reader.seq(user)

        async def ask() -> None:
            found.append(await self.recall(user, question))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(ask)
        if self.system.store.reader.seq(user) == before:
            self.twins.append((found[0], found[1]))

    async def _burst(self, user: str, rng: random.Random) -> None:
        """More at once than the scorer can take in time."""
        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(self.recall, user, self._question(user, rng))

    async def _flood(self) -> None:
        """More at once than a mailbox holds."""
        rng = self.rng("flood")
        await anyio.sleep(rng.uniform(1.0, LOAD_S))
        async with anyio.create_task_group() as tasks:
            for _ in range(280):
                tasks.start_soon(self.recall, USERS[0], self._question(USERS[0], rng))

    async def _forget(self, user: str, rng: random.Random) -> None:
        own = sorted(id_ for id_, saved in self.saved.items() if saved.user == user)
        if not own:
            return
        chosen = rng.choice(own)
        del self.saved[chosen]
        self.unsure.add(chosen)
        with self._counted():
            await self.system.forget(user, chosen)
            self.unsure.discard(chosen)
            self.gone.add(chosen)

    async def _compact(self, user: str, rng: random.Random) -> None:
        with self._counted():
            await self.system.service.session(user, rng.choice(("one", "two")), SessionEvent.COMPACTED)


class _Counted:
    """Counts an open request; an operating error is an answer, too."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __enter__(self) -> None:
        self._world.open += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self._world.open -= 1
        if isinstance(error, RecalldError):
            self._world.errors[error.code] = self._world.errors.get(error.code, 0) + 1
            return True
        return False
