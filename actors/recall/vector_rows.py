"""The vectors of one role of one user's memories: which memories are nearest to a query, and how near some of them are.

A memory owns a *slot*, and in each role a span of neighbouring rows. The nearest are found in two looks: by signs over
all rows (see `sign_rows`), then by exact cosines of the few thousand that the signs name. Up to `EXACT_ROWS` rows the
first look is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.recall.half_floats import Halves, cosines
from recalld.actors.recall.sign_rows import SignRows, nearest_rows

ABSENT: Final = -2.0
"""Below every cosine: the memory has no vector of the role."""
EXACT_ROWS: Final = 2_000
"""So many rows are compared one and all: that takes no longer than two looks would."""
FIRST_LOOK_MIN: Final = 1_000
FIRST_LOOK_SHARE: Final = 1 / 64
"""Rows that the first look hands on: so many, and this share of all. See `sign_rows` for where that is measured."""
_MORE: Final = 4
"""By how much the first look is widened when it named too few memories, because each has many rows."""
_RANKED_EACH: Final = 4
"""Rows put in order for each memory that is wanted, before all of them are."""
_ROWS_INITIAL: Final = 64


class Best(msgspec.Struct, frozen=True, kw_only=True):
    """The nearest vector of each of some memories.

    Attributes:
        cosines: Shape (memories,); `ABSENT` where the memory has none.
        ordinals: Which one it is, shape (memories,); 0 where the memory has none.
        means: Mean cosine over all vectors of a memory, shape (memories,); `ABSENT` where it has none.
    """

    cosines: NDArray[np.float32]
    ordinals: NDArray[np.uint8]
    means: NDArray[np.float32]


class VectorRows:
    """Vectors of one role.

    Args:
        dims: Length of every vector.
    """

    def __init__(self, dims: int) -> None:
        self._vectors: Halves = np.empty((_ROWS_INITIAL, dims), dtype=np.float16)
        self._signs = SignRows(dims, _ROWS_INITIAL)
        self._owners: NDArray[np.int32] = np.full(_ROWS_INITIAL, -1, dtype=np.int32)
        self._ordinals: NDArray[np.uint8] = np.zeros(_ROWS_INITIAL, dtype=np.uint8)
        self._starts: NDArray[np.int32] = np.zeros(_ROWS_INITIAL, dtype=np.int32)
        self._counts: NDArray[np.int32] = np.zeros(_ROWS_INITIAL, dtype=np.int32)
        self._free: dict[int, list[int]] = {}
        self.rows = 0
        self.dead = 0

    def reserve(self, rows: int) -> None:
        """Make room for so many rows more at once, instead of little by little."""
        if self.rows + rows > len(self._owners):
            self._resize(self.rows + rows)

    def put(
        self, slots: Sequence[int], counts: NDArray[np.int64], vectors: Halves, ordinals: NDArray[np.uint8]
    ) -> None:
        """Give memories their vectors; they must have none here.

        Args:
            slots: Of the memories.
            counts: How many vectors each has, at least one, shape (len(slots),).
            vectors: All of them, memory by memory, finite, shape (sum of counts, dims).
            ordinals: Of the vectors, shape (sum of counts,).
        """
        if not slots:
            return
        if not self._free:
            self._append(np.asarray(slots), counts, vectors, ordinals)
            return
        first = 0
        for slot, count in zip(slots, counts.tolist(), strict=True):
            mine = slice(first, first + count)
            self._put_one(slot, vectors[mine], ordinals[mine])
            first += count

    def drop(self, slot: int) -> None:
        """Take a memory's vectors out. Their rows are used again by memories with as many."""
        count = int(self._counts[slot]) if slot < len(self._counts) else 0
        if count:
            start = int(self._starts[slot])
            self._owners[start : start + count] = -1
            self._counts[slot] = 0
            self._free.setdefault(count, []).append(start)
            self.dead += count

    def nearest(self, query: NDArray[np.float32], is_eligible: NDArray[np.bool_], limit: int) -> list[int]:
        """The slots of the memories whose best vector is nearest to the query, nearest first.

        Args:
            query: Shape (dims,).
            is_eligible: Which slots may be named, shape (slots,).
            limit: How many.
        """
        shown = self._shown(is_eligible)
        candidates = self.rows if shown is None else int(np.count_nonzero(shown))
        if not candidates or limit <= 0:
            return []
        if candidates <= EXACT_ROWS:
            rows = np.arange(self.rows) if shown is None else np.flatnonzero(shown)
            return self._ranked(query, rows, limit)
        distances = self._signs.distances(query, self.rows)
        if shown is not None:
            distances[~shown] = np.iinfo(np.int16).max
        wanted = max(FIRST_LOOK_MIN, limit) + int(candidates * FIRST_LOOK_SHARE)
        while True:
            wanted = min(wanted, candidates)
            slots = self._ranked(query, nearest_rows(distances, wanted), limit)
            if len(slots) == limit or wanted == candidates:
                return slots
            wanted *= _MORE

    def best(self, query: NDArray[np.float32], slots: NDArray[np.int64]) -> Best:
        """The nearest vector of each of some memories.

        Args:
            query: Shape (dims,).
            slots: Of the memories, without repetitions.
        """
        best = Best(
            cosines=np.full(len(slots), ABSENT, dtype=np.float32),
            ordinals=np.zeros(len(slots), dtype=np.uint8),
            means=np.full(len(slots), ABSENT, dtype=np.float32),
        )
        known = np.flatnonzero(slots < len(self._counts))
        counts = self._counts[slots[known]]
        places = np.repeat(known, counts)
        rows = _spans(self._starts[slots[known]], counts)
        found = cosines(self._vectors, rows, query)
        # Ascending by cosine, so that the best row of each memory is written last and stays.
        ascending = np.argsort(found)
        best.cosines[places[ascending]] = found[ascending]
        best.ordinals[places[ascending]] = self._ordinals[rows[ascending]]
        present = known[counts > 0]
        sums = np.bincount(places, weights=found, minlength=len(slots))[present]
        best.means[present] = sums / counts[counts > 0]
        return best

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        arrays = (self._vectors, self._owners, self._ordinals, self._starts, self._counts)
        return self._signs.nbytes + sum(array.nbytes for array in arrays)

    def _shown(self, is_eligible: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Which rows may be named, shape (rows,); None: all of them."""
        if not self.dead and is_eligible.all():
            return None
        # One place more than there are slots: index -1, where the rows of nobody look, is the last one.
        shown: NDArray[np.bool_] = np.append(is_eligible, np.False_)[self._owners[: self.rows]]
        return shown

    def _ranked(self, query: NDArray[np.float32], rows: NDArray[np.intp], limit: int) -> list[int]:
        found = -cosines(self._vectors, rows, query)
        sorted_first = min(_RANKED_EACH * limit, len(rows))
        while True:
            # Most often a few times as many rows as memories are enough to name them; the others need no order.
            best = np.arange(len(rows)) if sorted_first == len(rows) else np.argpartition(found, sorted_first)
            best = best[:sorted_first]
            owners = self._owners[rows[best[np.argsort(found[best])]]].tolist()
            nearest = list(dict.fromkeys(owners))
            if len(nearest) >= limit or sorted_first == len(rows):
                return nearest[:limit]
            sorted_first = len(rows)

    def _append(
        self, slots: NDArray[np.int64], counts: NDArray[np.int64], vectors: Halves, ordinals: NDArray[np.uint8]
    ) -> None:
        needed = self.rows + len(vectors)
        if needed > len(self._owners):
            self._resize(max(needed, self.rows + self.rows // 4))
        self._fit_slot(int(slots.max()))
        self._starts[slots] = self.rows + np.cumsum(counts) - counts
        self._counts[slots] = counts
        self._write(self.rows, np.repeat(slots, counts), vectors, ordinals)
        self.rows = needed

    def _put_one(self, slot: int, vectors: Halves, ordinals: NDArray[np.uint8]) -> None:
        spans = self._free.get(len(vectors))
        if not spans:
            self._append(np.array([slot]), np.array([len(vectors)]), vectors, ordinals)
            return
        start = spans.pop()
        if not spans:
            del self._free[len(vectors)]
        self._fit_slot(slot)
        self._starts[slot], self._counts[slot] = start, len(vectors)
        self._write(start, np.full(len(vectors), slot), vectors, ordinals)
        self.dead -= len(vectors)

    def _write(self, start: int, owners: NDArray[np.int64], vectors: Halves, ordinals: NDArray[np.uint8]) -> None:
        end = start + len(vectors)
        self._vectors[start:end] = vectors
        self._signs.put(start, vectors)
        self._owners[start:end] = owners
        self._ordinals[start:end] = ordinals

    def _fit_slot(self, slot: int) -> None:
        if slot >= len(self._counts):
            more = np.zeros(max(slot + 1, 2 * len(self._counts)) - len(self._counts), dtype=np.int32)
            self._starts = np.concatenate([self._starts, more])
            self._counts = np.concatenate([self._counts, more])

    def _resize(self, capacity: int) -> None:
        vectors = np.empty((capacity, self._vectors.shape[1]), dtype=np.float16)
        owners = np.full(capacity, -1, dtype=np.int32)
        ordinals = np.zeros(capacity, dtype=np.uint8)
        vectors[: self.rows] = self._vectors[: self.rows]
        owners[: self.rows] = self._owners[: self.rows]
        ordinals[: self.rows] = self._ordinals[: self.rows]
        self._vectors, self._owners, self._ordinals = vectors, owners, ordinals
        self._signs.resize(capacity, self.rows)


def _spans(starts: NDArray[np.int32], counts: NDArray[np.int32]) -> NDArray[np.intp]:
    """The numbers start, start + 1, … of each span, one span behind the other."""
    firsts = np.cumsum(counts) - counts
    return np.repeat(starts.astype(np.intp) - firsts, counts) + np.arange(int(counts.sum()))
