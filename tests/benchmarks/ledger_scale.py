"""How long counting a large ledger takes: `python tests/benchmarks/ledger_scale.py [--rows 1000000]`.

Writes so many decisions of recalls over thirty days, as the daemon does in batches, and prints what a row costs and how
long the figures of a week, of all days and of everything ever counted take. The database lies in a temporary directory
and goes away again.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from recalld.daemon.storage.ledger import append_decision
from recalld.daemon.storage.ledger_tallies import read_tallies
from recalld.daemon.storage.migrations import MigrationContext, migrate
from recalld.daemon.storage.transactions import in_transaction
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import DecisionRow
from recalld.models.lab.ledger.report import ledger_report

DAY_MS = 86_400_000
DAYS = 30
BATCH_ROWS = 64
USERS = 20
FATES = ("below_floor", "below_threshold", "behind_best", "over_max_items")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows: int = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "ledger.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            migrate(db, MigrationContext(now_ms=0, secret=b"k" * 32))
            began_s = time.perf_counter()
            fill(db, rows)
            print(f"{rows} rows written, {(time.perf_counter() - began_s) * 1e6 / rows:.0f} µs each")
            hours = db.execute("SELECT COUNT(*) FROM ledger_tallies").fetchone()[0]
            print(f"{hours} counts in their place, {path.stat().st_size / 1e6:.0f} MB in all")
            now_ms = DAYS * DAY_MS
            for name, since_ms in (("7 days", now_ms - 7 * DAY_MS), ("30 days", 0), ("ever", None)):
                print(f"{name}: {timed(lambda since=since_ms: report(db, since, now_ms)):.0f} ms")


def fill(db: sqlite3.Connection, rows: int) -> None:
    """Write rows, evenly over the days."""
    chance = random.Random(7)
    for first in range(0, rows, BATCH_ROWS):
        batch = [made(chance, number, rows) for number in range(first, min(first + BATCH_ROWS, rows))]
        in_transaction(db, lambda db, batch=batch: [append_decision(db, row) for row in batch])


def made(chance: random.Random, number: int, rows: int) -> DecisionRow:
    """One decision of a recall, with a body of the usual size."""
    dropped = ",".join(
        f'{{"memory_id":"mem_{chance.getrandbits(64):016x}","reason":"{chance.choice(FATES)}",'
        f'"evidence":{{"cosine":{chance.random():.4f},"logit":{chance.random():.4f}}}}}'
        for _ in range(8)
    )
    total_ms = chance.lognormvariate(3.0, 0.6)
    body = (
        f'{{"turn_id":"t","query_chars":40,"items":[],"dropped":[{dropped}],"pairs_scored":8,"kept_back":3,'
        f'"kept_back_chars":240,"total_ms":{total_ms:.3f},"turn_ms":{total_ms * 0.05:.3f},'
        f'"embed_ms":{total_ms * 0.2:.3f},"search_ms":{total_ms * 0.1:.3f},"gate_ms":{total_ms * 0.6:.3f}}}'
    )
    return DecisionRow(
        id=f"rec_{number:09}",
        user=f"user{chance.randrange(USERS)}",
        session="s",
        op=Op.RECALL,
        at_ms=number * DAYS * DAY_MS // rows,
        decision="silent",
        reason="gated",
        mode="gated",
        body=body.encode(),
    )


def report(db: sqlite3.Connection, since_ms: int | None, now_ms: int) -> None:
    """The figures of a window."""
    ledger_report(read_tallies(db, None, since_ms=since_ms, now_ms=now_ms))


def timed(work: Callable[[], None]) -> float:
    """Milliseconds of the best of three."""
    times = []
    for _ in range(3):
        began_s = time.perf_counter()
        work()
        times.append((time.perf_counter() - began_s) * 1000)
    return min(times)


if __name__ == "__main__":
    main()
