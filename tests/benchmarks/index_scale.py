"""Time a user's vector index: loading it, and searching it, at several sizes; six vectors a memory.

Run it with `make bench-index`.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from recalld.actors.recall.index import UserIndex
from recalld.actors.recall.index_load import small_parts
from recalld.actors.store.packed_vectors import pack_vectors
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, TextVector

DIMS = 384
ROLES = (
    (VectorRole.RECORD, 0),
    *((VectorRole.CUE, place) for place in range(2)),
    *((VectorRole.ASK, place) for place in range(3)),
)


def memories(count: int, rng: np.random.Generator) -> tuple[EmbeddedMemory, ...]:
    def vector() -> bytes:
        values = rng.standard_normal(DIMS).astype(np.float32)
        return (values / np.linalg.norm(values)).astype("<f2").tobytes()

    return tuple(
        EmbeddedMemory(
            memory_id=f"mem_{number}",
            revision=1,
            scope="",
            expires_at_ms=None,
            has_asks=True,
            vectors=pack_vectors([TextVector(role=role, ordinal=ordinal, data=vector()) for role, ordinal in ROLES]),
        )
        for number in range(count)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--repeats", type=int, default=30)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    for size in options.sizes:
        delta = IndexDelta(is_complete=True, seq=1, upserts=memories(size, rng), removed=())
        index = UserIndex("bench", DIMS)
        started = time.perf_counter()
        index.reserve(delta.upserts, size)
        for part in small_parts(delta.upserts):
            index.upsert(part)
        index.finish(delta)
        load_ms = (time.perf_counter() - started) * 1000.0
        query = rng.standard_normal(DIMS).astype(np.float32)
        query /= np.linalg.norm(query)
        elapsed: list[float] = []
        for _ in range(options.repeats):
            started = time.perf_counter()
            index.counts(None, 0)
            index.search(query, query, scope=None, now_ms=0, limit=50)
            elapsed.append((time.perf_counter() - started) * 1000.0)
        ordered = sorted(elapsed)
        print(
            f"{size:>7} memories: load {load_ms:.0f} ms, search min {ordered[0]:.1f}, "
            f"p50 {ordered[len(ordered) // 2]:.1f}, max {ordered[-1]:.1f} ms, {index.nbytes / 2**20:.0f} MiB"
        )


if __name__ == "__main__":
    main()
