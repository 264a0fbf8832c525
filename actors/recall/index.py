"""One user's vector index: exact search over the user's own records, cues and asks.

The vectors of each role lie in one growing float32 matrix; a memory owns a *slot*, and each row names its slot. Scope
and expiry are checked per slot before anything is ranked, so a ghost never takes a place in the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.recall.slot_table import SlotTable
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta

_ABSENT = -2.0
"""Below every cosine: the slot has no vector of that role."""
_ROWS_INITIAL = 64


class Cosines(msgspec.Struct, frozen=True, kw_only=True):
    """Best cosine of one memory per role; None where it has no such vector.

    Attributes:
        best_cue: The ordinal of its nearest cue.
    """

    memory_id: str
    record: float | None
    cue: float | None
    ask: float | None
    best_cue: int | None


class IndexCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the index holds for a scope at a moment: live memories, those in scope, and how many lack what."""

    live: int
    in_scope: int
    pending: int
    without_asks: int


class _RoleMatrix:
    """Rows of one role: vectors (rows, dims) float32, the owning slot (-1: dead) and the ordinal of each."""

    def __init__(self, dims: int) -> None:
        self.vectors: NDArray[np.float32] = np.empty((_ROWS_INITIAL, dims), dtype=np.float32)
        self.owners: NDArray[np.int64] = np.full(_ROWS_INITIAL, -1, dtype=np.int64)
        self.ordinals: NDArray[np.int64] = np.zeros(_ROWS_INITIAL, dtype=np.int64)
        self.rows = 0
        self.dead = 0

    def extend(self, rows: NDArray[np.float32], owners: Sequence[int], ordinals: Sequence[int]) -> None:
        """Append rows, shape (n, dims), with their slots and ordinals."""
        needed = self.rows + len(rows)
        if needed > len(self.owners):
            self._resize(max(needed, 2 * self.rows))
        self.vectors[self.rows : needed] = rows
        self.owners[self.rows : needed] = owners
        self.ordinals[self.rows : needed] = ordinals
        self.rows = needed

    def drop_owner(self, owner: int) -> None:
        mine = self.owners[: self.rows] == owner
        self.owners[: self.rows][mine] = -1
        self.dead += int(mine.sum())
        if self.dead > max(_ROWS_INITIAL, self.rows // 2):
            self._compact()

    def best_per_slot(self, query: NDArray[np.float32], slots: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Best cosine per slot, shape (slots,), and the cosine of each row, shape (rows,)."""
        cosines = self.vectors[: self.rows] @ query
        owners = self.owners[: self.rows]
        # One place more than there are slots: index -1, where the rows of dead owners go, is the last one.
        best = np.full(slots + 1, _ABSENT, dtype=np.float32)
        np.maximum.at(best, owners, cosines)
        return best[:slots], cosines

    def best_ordinals(self, cosines: NDArray[np.float32], slots: set[int]) -> dict[int, int]:
        """For each of the slots that has rows here, the ordinal of its best one."""
        wanted = np.flatnonzero(np.isin(self.owners[: self.rows], list(slots)))
        best: dict[int, int] = {}
        # Ascending by cosine, so that the best row of each owner is written last and stays.
        for row in wanted[np.argsort(cosines[wanted], kind="stable")]:
            best[int(self.owners[row])] = int(self.ordinals[row])
        return best

    @property
    def nbytes(self) -> int:
        return self.vectors.nbytes + self.owners.nbytes + self.ordinals.nbytes

    def _resize(self, capacity: int) -> None:
        vectors = np.empty((capacity, self.vectors.shape[1]), dtype=np.float32)
        owners = np.full(capacity, -1, dtype=np.int64)
        ordinals = np.zeros(capacity, dtype=np.int64)
        vectors[: self.rows] = self.vectors[: self.rows]
        owners[: self.rows] = self.owners[: self.rows]
        ordinals[: self.rows] = self.ordinals[: self.rows]
        self.vectors, self.owners, self.ordinals = vectors, owners, ordinals

    def _compact(self) -> None:
        alive = np.flatnonzero(self.owners[: self.rows] >= 0)
        self.vectors[: len(alive)] = self.vectors[alive]
        self.owners[: len(alive)] = self.owners[alive]
        self.ordinals[: len(alive)] = self.ordinals[alive]
        self.owners[len(alive) : self.rows] = -1
        self.rows, self.dead = len(alive), 0


class UserIndex:
    """The vectors of one user for one embedder, brought up to date by deltas.

    Args:
        embedder_key: Vectors of another embedder never enter.
        dims: Length of every vector.
    """

    def __init__(self, embedder_key: str, dims: int) -> None:
        self.embedder_key = embedder_key
        self.dims = dims
        self.seq = 0
        self._clear()

    def _clear(self) -> None:
        self._matrices = {role: _RoleMatrix(self.dims) for role in VectorRole}
        self._slots = SlotTable()

    def apply(self, delta: IndexDelta) -> None:
        """Bring the index up to `delta.seq`."""
        if delta.is_complete:
            self._clear()
        for memory_id in delta.removed:
            self._remove(memory_id)
        for memory in delta.upserts:
            self._remove(memory.memory_id)
        self._insert(delta.upserts)
        self.seq = delta.seq

    def _remove(self, memory_id: str) -> None:
        slot = self._slots.remove(memory_id)
        if slot is not None:
            for matrix in self._matrices.values():
                matrix.drop_owner(slot)

    def _insert(self, memories: Sequence[EmbeddedMemory]) -> None:
        """Insert many at once: converting and checking vectors one by one would cost more than everything else."""
        slots = [self._slots.add(memory) for memory in memories]
        for role, matrix in self._matrices.items():
            found = [
                (slot, vector.ordinal, vector.data)
                for slot, memory in zip(slots, memories, strict=True)
                for vector in memory.vectors
                if vector.role is role and len(vector.data) == 2 * self.dims
            ]
            if not found:
                continue
            halves = np.frombuffer(b"".join(data for _, _, data in found), dtype="<f2")
            rows = halves.astype(np.float32).reshape(len(found), self.dims)
            # A NaN would rank before every real neighbour. Their sum of squares is finite exactly when all are.
            usable = np.isfinite(np.einsum("ij,ij->i", rows, rows))
            if not usable.all():
                rows = rows[usable]
                found = [entry for entry, is_usable in zip(found, usable, strict=True) if is_usable]
            matrix.extend(rows, [slot for slot, _, _ in found], [ordinal for _, ordinal, _ in found])
            self._slots.mark_embedded([slot for slot, _, _ in found])

    def counts(self, scope: str | None, now_ms: int) -> IndexCounts:
        """Live memories at `now_ms`, and of those in scope how many are pending or carry no asks."""
        live = self._slots.live(now_ms)
        in_scope = live & self._slots.in_scope(scope)
        return IndexCounts(
            live=int(live.sum()),
            in_scope=int(in_scope.sum()),
            pending=int((in_scope & self._slots.pending()).sum()),
            without_asks=int((in_scope & self._slots.without_asks()).sum()),
        )

    def search(
        self,
        query: NDArray[np.float32],
        question: NDArray[np.float32],
        *,
        scope: str | None,
        now_ms: int,
        limit: int,
        also: Iterable[str] = (),
    ) -> list[Cosines]:
        """The nearest memories by any leg, and those named in `also`, with their cosines.

        Args:
            query: The query embedded with the query prefix, shape (dims,); compared with records and cues.
            question: The query embedded without it, shape (dims,); compared with asks, question to question.
            scope: None: all scopes; otherwise this one and the global one.
            now_ms: Expired memories are left out.
            limit: Nearest memories taken from each of the three legs.
            also: Ids (of the lexical leg) to give cosines for as well, where they are live and in scope.

        Returns:
            Each nominated memory once; no particular order.
        """
        slots = self._slots.size
        if slots == 0:
            return []
        record, _ = self._matrices[VectorRole.RECORD].best_per_slot(query, slots)
        cue, cue_rows = self._matrices[VectorRole.CUE].best_per_slot(query, slots)
        ask, _ = self._matrices[VectorRole.ASK].best_per_slot(question, slots)
        eligible = self._slots.live(now_ms) & self._slots.in_scope(scope)
        nominated: set[int] = set()
        for leg in (record, cue, ask):
            nominated.update(_top(np.where(eligible, leg, _ABSENT), limit))
        nominated.update(slot for slot in map(self._slots.slot_of, also) if slot is not None and eligible[slot])
        best_cues = self._matrices[VectorRole.CUE].best_ordinals(cue_rows, nominated)
        return [
            Cosines(
                memory_id=self._slots.id_of(slot),
                record=_present(record[slot]),
                cue=_present(cue[slot]),
                ask=_present(ask[slot]),
                best_cue=best_cues.get(slot),
            )
            for slot in sorted(nominated)
        ]

    @property
    def nbytes(self) -> int:
        """Bytes held by the matrices, for the bound over all users."""
        return self._slots.nbytes + sum(matrix.nbytes for matrix in self._matrices.values())


def _top(cosines: NDArray[np.float32], limit: int) -> list[int]:
    nearest = np.argpartition(cosines, -limit)[-limit:] if len(cosines) > limit else np.arange(len(cosines))
    return [int(slot) for slot in nearest if cosines[slot] > _ABSENT]


def _present(cosine: np.float32) -> float | None:
    return None if cosine <= _ABSENT else float(cosine)
