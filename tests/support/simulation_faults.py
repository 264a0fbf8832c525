"""What can break in a simulation: each fault begins, lasts, and is undone."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from actor_system import System, shared_words, word_vector
from numpy.typing import NDArray
from virtual_thread import ThreadScript

from recalld.models.domain.errors import ErrorCode

HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Fault:
    """One kind of fault.

    Attributes:
        name: For the transcript of a failed run.
        begin: Breaks something.
        end: Undoes it.
    """

    name: str
    begin: Callable[[System, random.Random], None]
    end: Callable[[System], None]


def _scorer(system: System) -> ThreadScript:
    return system.scorer_thread


def _embedder(system: System) -> ThreadScript:
    return system.embedder_thread


def heal(system: System) -> None:
    """Undo every fault."""
    for script, call_s in ((system.scorer_thread, 0.01), (system.embedder_thread, 0.004)):
        script.call_s = lambda call_s=call_s: call_s  # type: ignore[misc]
        script.is_dead = script.is_silent = False
    system.scorer.logit = shared_words
    system.embedder.vector = word_vector
    system.missing.clear()
    for trouble in (system.reading, system.writing):
        trouble.code = trouble.crash = None
        trouble.delay_s = 0.0
        trouble.slow_s.clear()


def raising(_query: str, _memory: str) -> float:
    raise ZeroDivisionError


def _nan(_query: str, _memory: str) -> float:
    return math.nan


def _raise_vector(_text: str, _is_query: bool) -> NDArray:  # type: ignore[type-arg] # noqa: FBT001
    raise MemoryError


def _kill_somebody(system: System, rng: random.Random) -> None:
    """Ends a user's actor in the middle of whatever it does, as a bug would."""
    names = sorted(name for name in system.supervisor.names if name.startswith(("recall/", "admission/")))
    if names:
        system.supervisor._children[rng.choice(names)].kill()


def _lose_model(script: Callable[[System], ThreadScript], name: str) -> Callable[[System, random.Random], None]:
    def begin(system: System, _rng: random.Random) -> None:
        system.missing.add(name)
        script(system).is_dead = True

    return begin


def _lanes(script: Callable[[System], ThreadScript], call_s: float | None) -> Callable[[System, random.Random], None]:
    return lambda system, _rng: setattr(script(system), "call_s", lambda: call_s)


def _slow(script: Callable[[System], ThreadScript]) -> Callable[[System, random.Random], None]:
    return lambda system, rng: setattr(script(system), "call_s", lambda: rng.uniform(0.02, 0.2))


def _flag(script: Callable[[System], ThreadScript], flag: str) -> Callable[[System, random.Random], None]:
    return lambda system, _rng: setattr(script(system), flag, True)


FAULTS = (
    *(
        Fault(f"{name} {what}", begin, heal)
        for name, script in (("scorer", _scorer), ("embedder", _embedder))
        for what, begin in (
            ("slow", _slow(script)),
            ("hung", _lanes(script, 60.0)),
            ("deaf", _lanes(script, None)),
            ("dead and back", _flag(script, "is_dead")),
            ("silent", _flag(script, "is_silent")),
            ("missing and back", _lose_model(script, name)),
        )
    ),
    Fault("scorer raises", lambda system, _rng: setattr(system.scorer, "logit", raising), heal),
    Fault("scorer answers NaN", lambda system, _rng: setattr(system.scorer, "logit", _nan), heal),
    Fault("embedder raises", lambda system, _rng: setattr(system.embedder, "vector", _raise_vector), heal),
    Fault("store full", lambda system, _rng: setattr(system.writing, "code", ErrorCode.STORAGE_FULL), heal),
    Fault("writes slow", lambda system, rng: setattr(system.writing, "delay_s", rng.uniform(0.05, 1.0)), heal),
    Fault("reads fail", lambda system, _rng: setattr(system.reading, "code", ErrorCode.STORAGE_UNAVAILABLE), heal),
    Fault("reads slow", lambda system, rng: setattr(system.reading, "delay_s", rng.uniform(0.01, 0.4)), heal),
    Fault("index slow", lambda system, rng: system.reading.slow_s.update(index_delta=rng.uniform(0.1, 1.0)), heal),
    Fault("reads crash", lambda system, _rng: setattr(system.reading, "crash", KeyError("scripted")), heal),
    Fault(
        "clock jumps",
        lambda system, rng: setattr(system.clock, "jump_ms", rng.randrange(-5 * HOUR_MS, 5 * HOUR_MS)),
        lambda _system: None,
    ),
    *(Fault("actor killed", _kill_somebody, lambda _system: None) for _ in range(3)),
)
