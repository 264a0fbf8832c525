"""Time the search by words, and what a write costs, as one user's memory grows.

    python tests/benchmarks/lexical_scale.py --rows 10000 100000

The memories are synthetic: words drawn by Zipf's law, 8 to 24 of them in each, from a seed. A second user has a million
words in memories of its own. These machines are shared, so read the spread, not one number.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
import numpy as np

from recalld.actors.supervisor.latency import percentile
from recalld.daemon.storage.connection import open_writing
from recalld.daemon.storage.files import database_path
from recalld.daemon.storage.memories import insert_memory
from recalld.daemon.storage.store import SqliteStore, open_store
from recalld.daemon.storage.transactions import in_transaction
from recalld.daemon.storage.users import ensure_user
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus, NewMemory
from recalld.models.domain.store import DecisionRow, Remember

NOW_MS = 1_790_000_000_000
USER, NEIGHBOUR = "bench", "neighbour"
MEMORY_WORDS_MIN, MEMORY_WORDS_MAX = 8, 24
LIMIT = 20
"""Hits of a query, as the daemon asks for by default."""
SEED = 20_090_403
BATCH = 5_000
WATCH_S = 0.002


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """Milliseconds."""

    min: float
    p50: float
    p95: float
    max: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured at one size of a user's memory.

    Attributes:
        rows: The user's memories.
        build_ms: What each cost to store and index, many in a transaction.
        db_bytes: The database, with the neighbour's memories.
        common_ms: Queries of the 12 most common words.
        realistic_ms: Queries of 3 to 8 words as common as they are in the memories.
        rare_ms: Queries of 3 words out of the last nine tenths of the vocabulary.
        loop_lag_ms: How late the event loop was while all of these ran.
        remember_ms: Storing one more memory, durably.
    """

    rows: int
    build_ms: float
    db_bytes: int
    common_ms: Spread
    realistic_ms: Spread
    rare_ms: Spread
    loop_lag_ms: Spread
    remember_ms: Spread


class StandingClock:
    """A clock that stands still."""

    def monotonic_s(self) -> float:
        return 0.0

    def now_ms(self) -> int:
        return NOW_MS


class Corpus:
    """Words by Zipf's law: the one of rank r is drawn in proportion to 1 / (r + 2)."""

    def __init__(self, words: int = 20_000) -> None:
        self._random = np.random.default_rng(SEED)
        self.words = [_word(number) for number in range(words)]
        weights = 1.0 / np.arange(2, words + 2)
        self._cumulative = np.cumsum(weights / weights.sum())

    def draw(self, count: int) -> list[str]:
        """So many words, as common as they are."""
        ranks = np.searchsorted(self._cumulative, self._random.random(count))
        return [self.words[min(rank, len(self.words) - 1)] for rank in ranks.tolist()]

    def text(self) -> str:
        """The text of a memory."""
        return " ".join(self.draw(self.number(MEMORY_WORDS_MIN, MEMORY_WORDS_MAX)))

    def rare(self, count: int) -> list[str]:
        """So many words out of the last nine tenths."""
        return [self.words[self.number(len(self.words) // 10, len(self.words) - 1)] for _ in range(count)]

    def number(self, least: int, most: int) -> int:
        """A number out of a range."""
        return int(self._random.integers(least, most, endpoint=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[300, 10_000, 100_000], help="memories of the user")
    parser.add_argument("--neighbour-words", type=int, default=1_000_000, help="words in another user's memories")
    parser.add_argument("--queries", type=int, default=60, help="queries of each kind")
    parser.add_argument("--writes", type=int, default=60, help="memories stored one by one at each size")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    corpus = Corpus()
    all_figures = []
    with tempfile.TemporaryDirectory(prefix="recalld-bench-") as directory:
        bench = Bench(Path(directory) / "data", corpus)
        note(f"storing the neighbour's {options.neighbour_words} words …")
        bench.store(NEIGHBOUR, options.neighbour_words * 2 // (MEMORY_WORDS_MIN + MEMORY_WORDS_MAX))
        for rows in sorted(options.rows):
            note(f"storing {rows} memories …")
            all_figures.append(asyncio.run(bench.measure(rows, options.queries, options.writes)))
    if options.json:
        print(json.dumps([msgspec.to_builtins(figures) for figures in all_figures]))
        return
    for figures in all_figures:
        report(figures)


def note(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr)


def report(figures: Figures) -> None:
    print(f"{figures.rows} memories, one more in {figures.build_ms} ms in bulk; {figures.db_bytes >> 20} MiB in all")
    for name in ("common_ms", "realistic_ms", "rare_ms", "loop_lag_ms", "remember_ms"):
        spread: Spread = getattr(figures, name)
        print(f"  {name:<13} min {spread.min}, p50 {spread.p50}, p95 {spread.p95}, max {spread.max}")


class Bench:
    """A store that grows from one measurement to the next."""

    def __init__(self, data_dir: Path, corpus: Corpus) -> None:
        self._data_dir = data_dir
        self._corpus = corpus
        self._stored = 0
        self._stored_of_user = 0
        asyncio.run(self._create())

    def store(self, user: str, count: int) -> None:
        """Store so many memories through the code that the daemon uses, many in a transaction."""
        with closing(open_writing(database_path(self._data_dir))) as db:
            for start in range(0, count, BATCH):
                in_transaction(db, partial(self._store_batch, user=user, count=min(BATCH, count - start)))

    async def measure(self, rows: int, queries: int, writes: int) -> Figures:
        """Grow the user's memory to so many rows, and time it."""
        missing = max(rows - self._stored_of_user, 0)
        start_s = time.perf_counter()
        self.store(USER, missing)
        build_ms = (time.perf_counter() - start_s) * 1_000 / max(missing, 1)
        async with open_store(self._data_dir, clock=StandingClock()) as store:
            lag_ms: list[float] = []
            watch = asyncio.create_task(watch_loop(lag_ms))
            corpus = self._corpus
            common = await time_queries(store, [corpus.words[:12]] * queries)
            realistic = await time_queries(store, [corpus.draw(corpus.number(3, 8)) for _ in range(queries)])
            rare = await time_queries(store, [corpus.rare(3) for _ in range(queries)])
            watch.cancel()
            remembers = [await time_call(store.writer.remember(self._remember_command())) for _ in range(writes)]
        figures = Figures(
            rows=rows,
            build_ms=round(build_ms, 2),
            db_bytes=database_path(self._data_dir).stat().st_size,
            common_ms=spread_of(common),
            realistic_ms=spread_of(realistic),
            rare_ms=spread_of(rare),
            loop_lag_ms=spread_of(lag_ms),
            remember_ms=spread_of(remembers),
        )
        self._stored_of_user = rows + writes
        return figures

    async def _create(self) -> None:
        async with open_store(self._data_dir, clock=StandingClock()):
            pass

    def _store_batch(self, db: sqlite3.Connection, user: str, count: int) -> None:
        user_no = ensure_user(db, user)
        for _ in range(count):
            memory = self._memory(user)
            insert_memory(db, user_no, memory, memory.id.encode())

    def _memory(self, user: str) -> Memory:
        self._stored += 1
        at_ms = NOW_MS + self._stored
        return Memory(
            id=f"mem_{self._stored:08}",
            user=user,
            text=self._corpus.text(),
            kind=MemoryKind.FACT,
            scope="",
            cues=(),
            asks=(),
            source=MemorySource.EXPLICIT,
            status=MemoryStatus.ACTIVE,
            created_at_ms=at_ms,
            updated_at_ms=at_ms,
            expires_at_ms=None,
            revision=1,
        )

    def _remember_command(self) -> Remember:
        memory = self._memory(USER)
        decision = DecisionRow(
            id=f"dec_{memory.id}",
            user=USER,
            session="",
            op=Op.REMEMBER,
            at_ms=memory.created_at_ms,
            decision="kept",
            reason="explicit_save",
            body=b"{}",
        )
        return Remember(
            memory=NewMemory(user=USER, text=memory.text),
            memory_id=memory.id,
            now_ms=memory.created_at_ms,
            is_explicit=True,
            embedder_key="",
            vectors=(),
            decision=decision,
            turn_key="",
        )


async def time_queries(store: SqliteStore, queries: Sequence[Sequence[str]]) -> list[float]:
    """Milliseconds of each query, as its caller sees it."""
    return [
        await time_call(store.reader.lexical(USER, terms, now_ms=NOW_MS, limit=LIMIT, scope=None)) for terms in queries
    ]


async def time_call(call: Awaitable[object]) -> float:
    """Milliseconds until the call has answered."""
    start_s = time.perf_counter()
    await call
    return (time.perf_counter() - start_s) * 1_000


async def watch_loop(lag_ms: list[float]) -> None:
    """Wake up every two milliseconds, and note by how many milliseconds too late."""
    while True:
        start_s = time.perf_counter()
        await asyncio.sleep(WATCH_S)
        lag_ms.append((time.perf_counter() - start_s - WATCH_S) * 1_000)


def spread_of(values: list[float]) -> Spread:
    ordered = sorted(values)
    return Spread(
        min=round(ordered[0], 2),
        p50=round(percentile(ordered, 0.5), 2),
        p95=round(percentile(ordered, 0.95), 2),
        max=round(ordered[-1], 2),
    )


def _word(number: int) -> str:
    """A word of its own for each number, which the stemmer leaves alone."""
    letters = "bdfgklmnpt"
    return "".join(f"{letters[int(digit)]}o" for digit in f"{number:05}") + "k"


if __name__ == "__main__":
    main()
