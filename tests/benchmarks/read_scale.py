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
not one number; of the parts, their shares of the whole tell more than their milliseconds.

Most of a recall of a middling memory is the embedding, twice for each query. What that takes by itself, with nothing
else running, is printed last: no recall of a new query is faster than both runs beside each other.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
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
from recalld.daemon.cli.commands.serve import SWITCH_INTERVAL_S
from recalld.daemon.clock import RandomIds, SystemClock
from recalld.daemon.composition import DRAIN_ORDER, Parts, Running, real_models, start_actors
from recalld.daemon.config import Settings
from recalld.daemon.config.settings import ModelsSettings, ServerSettings, StorageSettings
from recalld.daemon.settled_memory import settle_memory
from recalld.daemon.storage.store import open_store
from recalld.models.domain.reasons import DegradedReason, RecallDecision
from recalld.models.domain.recall import RecallOutcome, RecallQuery, RecallTimings
from recalld.models.domain.store import vector_bytes_of
from recalld.models.inference.loading import load_bi_encoder
from recalld.models.inference.manifest import MODELS

USER, LONELY, OTHERS = "bench", "lonely", 10_000
ENVELOPE_S = 30.0
"""Far beyond what a recall takes: nothing is left out for want of time, so that all of it is timed."""
COLD_STARTS = 5
RELEVANT_LOGIT, IRRELEVANT_LOGIT = 6.0, -8.0
ATTEMPTS_MAX = 600
LONELY_ROWS = 1_000
RUNS_ALONE = 60


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured at one size of a user's memory; milliseconds.

    Attributes:
        rows: The user's memories.
        total_ms: Recalls, everything but scoring.
        turn_ms: Of that, reading the turn, and asking the store whether it has its words.
        embed_ms: Of that, until the query's vectors were there; the search by words runs beside it.
        search_ms: Of that, the search by vectors, reading the memories, fusion and coverage.
        gate_ms: Of that, the gate: its planning and judging, and handing pairs to a model that answers at once.
        rest_ms: Of that, everything else: subjects, the floor, exclusions, and what the items bring along.
        repeated_ms: The same recalls once more, as in a turn's tool loop.
        cold_ms: First recalls of a process.
        lag_ms: How late the event loop was while recalls ran one after another.
    """

    rows: int
    total_ms: Spread
    turn_ms: Spread
    embed_ms: Spread
    search_ms: Spread
    gate_ms: Spread
    rest_ms: Spread
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
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    with tempfile.TemporaryDirectory(prefix="recalld-bench-") as directory:
        bench = Bench(options.data_dir or Path(directory), options.model_dir)
        alone, beside = anyio.run(bench.beside_others, options.recalls, backend_options={"use_uvloop": True})
        grown = [
            anyio.run(bench.at_size, rows, options.recalls, backend_options={"use_uvloop": True})
            for rows in sorted(options.rows)
        ]
        embedder = bench.embedder_alone()
    if options.json:
        found = {"alone_ms": alone, "beside_others_ms": beside, "sizes": grown, "embedder_alone": embedder}
        print(json.dumps(msgspec.to_builtins(found)))
        return
    for figures in grown:
        report(figures)
    print(f"{LONELY_ROWS} memories alone: p50 {alone.p50} ms; beside {OTHERS} other users: p50 {beside.p50} ms;")
    print(f"  ratio {beside.p50 / alone.p50:.2f}")
    print("the embedder while nothing else runs, milliseconds")
    print_spread("one_ms", embedder.one_ms)
    print_spread("both_ms", embedder.both_ms)


def report(figures: Figures) -> None:
    print(f"{figures.rows} memories of one user, milliseconds")
    print_spread("total_ms", figures.total_ms)
    parts = {name: getattr(figures, name) for name in ("turn_ms", "embed_ms", "search_ms", "gate_ms", "rest_ms")}
    whole = sum(spread.p50 for spread in parts.values())
    for name, spread in parts.items():
        print_spread(name, spread, f"; {100.0 * spread.p50 / whole:.0f} % of the parts")
    for name in ("repeated_ms", "cold_ms", "lag_ms"):
        print_spread(name, getattr(figures, name))


def print_spread(name: str, spread: Spread, more: str = "") -> None:
    print(f"  {name:<12} min {spread.min}, p50 {spread.p50}, p95 {spread.p95}, max {spread.max}{more}")


def rest_ms(timings: RecallTimings) -> float:
    """What of a recall is none of its timed parts."""
    return timings.total_ms - timings.turn_ms - timings.embed_ms - timings.search_ms - timings.gate_ms


class EmbedderAlone(msgspec.Struct, frozen=True, kw_only=True):
    """What embedding a query takes while nothing else runs; milliseconds.

    Attributes:
        one_ms: One run, with the query prefix.
        both_ms: That and the run without it, beside each other in two threads, as a recall has them.
    """

    one_ms: Spread
    both_ms: Spread


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
        data_dir = await self._store_of(f"size-{rows}", USER, rows)
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
            turn_ms=spread_of([each.timings.turn_ms for each in outcomes]),
            embed_ms=spread_of([each.timings.embed_ms for each in outcomes]),
            search_ms=spread_of([each.timings.search_ms for each in outcomes]),
            gate_ms=spread_of([each.timings.gate_ms for each in outcomes]),
            rest_ms=spread_of([rest_ms(each.timings) for each in outcomes]),
            repeated_ms=spread_of([each.timings.total_ms for each in repeated]),
            cold_ms=spread_of(cold),
            lag_ms=spread_of(lag_ms),
        )

    async def beside_others(self, recalls: int) -> tuple[Spread, Spread]:
        """Time one user's recalls in a store without and in one with other users; the recalls take turns."""
        alone_dir = await self._store_of("alone", LONELY, LONELY_ROWS)
        beside_dir = await self._store_of(f"beside-{OTHERS}", LONELY, LONELY_ROWS, others=OTHERS)
        alone, beside = [], []
        async with self._running(alone_dir) as without, self._running(beside_dir) as with_others:
            for running in (without, with_others):
                await recall(running, LONELY, "Which words come first?")
            for text in questions(recalls):
                alone.append((await recall(without, LONELY, text)).timings.total_ms)
                beside.append((await recall(with_others, LONELY, text)).timings.total_ms)
        return spread_of(alone), spread_of(beside)

    def embedder_alone(self) -> EmbedderAlone:
        """Time the embedder by itself, on the questions that are asked."""
        embed = load_bi_encoder(self._models.dir, self._models.embedder).embed
        one_ms, both_ms = [], []
        clock = SystemClock()
        with ThreadPoolExecutor(max_workers=1) as lane:
            for text in questions(RUNS_ALONE):
                started_s = clock.monotonic_s()
                embed(text, is_query=True)
                one_ms.append((clock.monotonic_s() - started_s) * 1000.0)
                started_s = clock.monotonic_s()
                beside = lane.submit(embed, text, is_query=False)
                embed(text, is_query=True)
                beside.result()
                both_ms.append((clock.monotonic_s() - started_s) * 1000.0)
        return EmbedderAlone(one_ms=spread_of(one_ms), both_ms=spread_of(both_ms))

    async def _store_of(self, name: str, user: str, rows: int, *, others: int = 0) -> Path:
        """A store with so many memories of a user, and one memory of each of others, made unless it is there.

        Its name tells whose vectors it has: those of another embedder would all be made anew while recalls are timed.
        """
        embedder_key = embedder_key_of(self._models.embedder)
        data_dir = self._directory / f"{name}-{embedder_key[:8]}"
        done = data_dir / "done"
        if not done.exists():
            note(f"storing {rows + others} memories …")
            async with open_store(data_dir, clock=SystemClock()):
                pass
            topics = topic_vectors(self._models.dir, self._models.embedder)
            store = SyntheticStore(data_dir, embedder_key, topics)
            store.add(user, rows)
            store.add_users([f"other-{number}" for number in range(others)])
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
                when_prepared=settle_memory,
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
