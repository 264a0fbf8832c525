"""Time the read path, without scoring, as one user's memory grows, and beside many other users' memories.

Run it with `make bench-scale`.

What is timed is a whole recall but for the scoring of pairs, in whose place a model gives made-up answers at once:
reading the turn, embedding the query (the real model), the search by words, the search by vectors, fusion, reading the
memories, the floor, counting what could be seen, planning and judging, and what the items shown bring along. The stores
are synthetic (see `synthetic_store`) and go through SQLite like any other. Half of the questions are those of the
labelled sources; the other half is made of words as common as they are in the memories, which is harder on the search
by words than questions are. Nothing else runs in the process meanwhile but a task that wakes up every few milliseconds.
A cold recall is the first one of a process for a user: its index is loaded for it. The pages of the file lie in the
system's cache, as they do on a machine that has served the user before. These machines are shared, so read the spread,
not one number.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from zlib import crc32

import anyio
import msgspec
from labelled_topics import labelled_questions, topic_vectors
from lexical_scale import Spread, note, spread_of
from synthetic_store import SyntheticStore, Words

from recalld.actors.events import EventBus
from recalld.actors.kernel import Supervisor
from recalld.actors.ports import StopFlag
from recalld.daemon.app import FailureRelay
from recalld.daemon.calibrating import calibration_in_force, embedder_key_of
from recalld.daemon.clock import RandomIds, SystemClock
from recalld.daemon.composition import DRAIN_ORDER, Parts, Running, real_models, start_actors
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import ModelsSettings, ServerSettings, StorageSettings
from recalld.daemon.storage.store import open_store
from recalld.models.domain.reasons import DegradedReason, RecallDecision
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.store import vector_bytes_of
from recalld.models.inference.manifest import MODELS

USER, LONELY, OTHERS = "bench", "lonely", 100
ENVELOPE_S = 30.0
"""Far beyond what a recall takes: nothing is left out for want of time, so that all of it is timed."""
COLD_STARTS = 5
RELEVANT_LOGIT, IRRELEVANT_LOGIT = 6.0, -8.0
ATTEMPTS_MAX = 600
LONELY_ROWS = 1_000
ROWS_OF_ANOTHER = 100


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured at one size of a user's memory; milliseconds.

    Attributes:
        rows: The user's memories.
        total_ms: Recalls, everything but scoring.
        embed_ms: Of that, until the query's vectors were there; the search by words runs beside it.
        search_ms: Of that, the search by vectors, reading the memories, fusion and coverage.
        gate_ms: Of that, the gate: its planning and judging, and handing pairs to a model that answers at once.
        repeated_ms: The same recalls once more, as in a turn's tool loop.
        cold_ms: First recalls of a process.
        lag_ms: How late the event loop was while recalls ran one after another.
    """

    rows: int
    total_ms: Spread
    embed_ms: Spread
    search_ms: Spread
    gate_ms: Spread
    repeated_ms: Spread
    cold_ms: Spread
    lag_ms: Spread


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000], help="memories of the user")
    parser.add_argument("--recalls", type=int, default=100, help="recalls at each size")
    parser.add_argument("--data-dir", type=Path, help="keep the stores here, and use them again; default: a new place")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="recalld-bench-") as directory:
        bench = Bench(options.data_dir or Path(directory), options.model_dir)
        alone, beside = anyio.run(bench.beside_others, options.recalls, backend_options={"use_uvloop": True})
        grown = [
            anyio.run(bench.at_size, rows, options.recalls, backend_options={"use_uvloop": True})
            for rows in sorted(options.rows)
        ]
    if options.json:
        found = {"alone_ms": alone, "beside_others_ms": beside, "sizes": grown}
        print(json.dumps(msgspec.to_builtins(found)))
        return
    for figures in grown:
        report(figures)
    others = OTHERS * ROWS_OF_ANOTHER
    print(f"{LONELY_ROWS} memories alone: p50 {alone.p50} ms; beside {others} memories of others: p50 {beside.p50} ms;")
    print(f"  ratio {beside.p50 / alone.p50:.2f}")


def report(figures: Figures) -> None:
    print(f"{figures.rows} memories of one user, milliseconds")
    for name in ("total_ms", "embed_ms", "search_ms", "gate_ms", "repeated_ms", "cold_ms", "lag_ms"):
        spread: Spread = getattr(figures, name)
        print(f"  {name:<12} min {spread.min}, p50 {spread.p50}, p95 {spread.p95}, max {spread.max}")


class InstantScorer:
    """Stands for the cross-encoder: answers at once, and finds one pair in eight relevant."""

    model_key = "instant"

    def count_tokens(self, query: str, memory: str) -> int:
        return len(query) + len(memory)

    def score(self, query: str, memory: str, stop: StopFlag) -> float:
        return RELEVANT_LOGIT if crc32(memory.encode()) % 8 == 0 else IRRELEVANT_LOGIT


class Bench:
    """Stores in a directory, and recalls of them."""

    def __init__(self, directory: Path, model_dir: Path) -> None:
        self._directory = directory
        self._models = ModelsSettings(dir=model_dir)
        self._spec = MODELS[self._models.embedder]

    async def at_size(self, rows: int, recalls: int) -> Figures:
        """Time the recalls of a user with so many memories."""
        data_dir = await self._store_of(f"size-{rows}", {USER: rows})
        cold = [await self._first_recall(data_dir, number) for number in range(COLD_STARTS)]
        async with self._running(data_dir) as running:
            await recall(running, USER, "Which words come first?")
            texts = questions(recalls)
            lag_ms: list[float] = []
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watch_loop, lag_ms)
                outcomes = [await recall(running, USER, text) for text in texts]
                tasks.cancel_scope.cancel()
            repeated = [await recall(running, USER, text) for text in texts]
        return Figures(
            rows=rows,
            total_ms=spread_of([each.timings.total_ms for each in outcomes]),
            embed_ms=spread_of([each.timings.embed_ms for each in outcomes]),
            search_ms=spread_of([each.timings.search_ms for each in outcomes]),
            gate_ms=spread_of([each.timings.gate_ms for each in outcomes]),
            repeated_ms=spread_of([each.timings.total_ms for each in repeated]),
            cold_ms=spread_of(cold),
            lag_ms=spread_of(lag_ms),
        )

    async def beside_others(self, recalls: int) -> tuple[Spread, Spread]:
        """Time one user's recalls in a store without and in one with other users; the recalls take turns."""
        alone_dir = await self._store_of("alone", {LONELY: LONELY_ROWS})
        others = {f"other-{number}": ROWS_OF_ANOTHER for number in range(OTHERS)}
        beside_dir = await self._store_of("beside", {LONELY: LONELY_ROWS, **others})
        alone, beside = [], []
        async with self._running(alone_dir) as without, self._running(beside_dir) as with_others:
            for running in (without, with_others):
                await recall(running, LONELY, "Which words come first?")
            for text in questions(recalls):
                alone.append((await recall(without, LONELY, text)).timings.total_ms)
                beside.append((await recall(with_others, LONELY, text)).timings.total_ms)
        return spread_of(alone), spread_of(beside)

    async def _store_of(self, name: str, users: dict[str, int]) -> Path:
        """A store with so many memories of each user, made unless it is there.

        Its name tells whose vectors it has: those of another embedder would all be made anew while recalls are timed.
        """
        embedder_key = embedder_key_of(self._models.embedder)
        data_dir = self._directory / f"{name}-{embedder_key[:8]}"
        done = data_dir / "done"
        if not done.exists():
            note(f"storing {sum(users.values())} memories …")
            async with open_store(data_dir, clock=SystemClock()):
                pass
            topics = topic_vectors(self._models.dir, self._models.embedder)
            store = SyntheticStore(data_dir, embedder_key, topics)
            for user, rows in users.items():
                store.add(user, rows)
            done.touch()
        return data_dir

    async def _first_recall(self, data_dir: Path, number: int) -> float:
        async with self._running(data_dir) as running:
            return (await recall(running, USER, questions(COLD_STARTS)[number])).timings.total_ms

    @asynccontextmanager
    async def _running(self, data_dir: Path) -> AsyncIterator[Running]:
        """The daemon's actors over a store, without a socket; the embedder is ready and warm."""
        settings = Settings(
            server=ServerSettings(socket_path=data_dir / "socket"),
            storage=StorageSettings(data_dir=data_dir),
            models=self._models,
        )
        clock = SystemClock()
        vector_bytes = vector_bytes_of(self._spec.dims)
        async with open_store(data_dir, clock=clock, vector_bytes=vector_bytes) as store:
            parts = Parts(
                settings=settings,
                reader=store.reader,
                writer=store.writer,
                models=replace(real_models(settings, clock), load_scorer=InstantScorer),
                clock=clock,
                ids=RandomIds(clock, random.Random(1)),
                rng=random.Random(2),
                events=EventBus(lambda _event, _level: None),
                calibration=calibration_in_force(settings),
                embedder_key=embedder_key_of(self._models.embedder),
                version="0",
            )
            failures = FailureRelay()
            supervisor = Supervisor(
                clock=clock, rng=parts.rng, on_restart=failures.restarted, on_trouble=failures.trouble
            )
            async with supervisor, anyio.create_task_group() as tasks:
                running = start_actors(parts, supervisor, tasks)
                failures.attach(running.root)
                await until_embedding(running)
                yield running
                await supervisor.drain_all(DRAIN_ORDER, clock.monotonic_s() + 5.0)
                tasks.cancel_scope.cancel()


async def recall(running: Running, user: str, text: str) -> RecallOutcome:
    deadline_s = SystemClock().monotonic_s() + ENVELOPE_S
    outcome = await running.service.recall(RecallQuery(user=user, session="", text=text, deadline_s=deadline_s))
    if user in (USER, LONELY) and (outcome.decision is RecallDecision.SKIP or outcome.degraded_detail):
        message = f"this was not a whole recall: {outcome.decision} {outcome.reason} {outcome.degraded_detail}"
        raise RuntimeError(message)
    return outcome


async def until_embedding(running: Running) -> None:
    """Wait until the embedder has loaded its model and has run it once.

    Raises:
        RuntimeError: It takes too long.
    """
    for attempt in range(ATTEMPTS_MAX):
        outcome = await recall(running, "nobody", f"Is the model there at attempt {attempt}?")
        if outcome.degraded_reason is not DegradedReason.EMBEDDER_UNAVAILABLE:
            return
        await anyio.sleep(0.05)
    message = "the embedder does not get ready; is --model-dir right?"
    raise RuntimeError(message)


def questions(count: int) -> list[str]:
    """Of the labelled sources, and of three to eight words as common as they are in the memories; all different."""
    words = Words()
    made_up = [f"What did we say about {' '.join(words.draw(words.number(3, 8)))}?" for _ in range(-(-count // 2))]
    labelled = labelled_questions()[: count - len(made_up)]
    return [text for pair in zip_longest(made_up, labelled) for text in pair if text is not None]


async def watch_loop(lag_ms: list[float]) -> None:
    """Wake up every two milliseconds, and note by how many milliseconds too late."""
    clock = SystemClock()
    while True:
        started_s = clock.monotonic_s()
        await anyio.sleep(0.002)
        lag_ms.append((clock.monotonic_s() - started_s - 0.002) * 1000.0)


if __name__ == "__main__":
    main()
