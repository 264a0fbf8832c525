"""One user's vector index: search over the user's own records, cues and asks.

A memory owns a *slot*; scope and expiry are checked per slot before anything is ranked, so a ghost never takes a place
in the list. The vectors of each role lie in rows of their own (see `vector_rows`), as float16, which is how they are
stored: cosines are exact, and a small index is searched exhaustively.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.recall.half_floats import Halves, are_finite
from recalld.actors.recall.slot_table import SlotTable
from recalld.actors.recall.vector_rows import ABSENT, VectorRows
from recalld.actors.store.packed_vectors import ROLE_CODES
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, vector_bytes_of
from recalld.models.domain.time_window import TimeWindow


class Cosines(msgspec.Struct, frozen=True, kw_only=True):
    """Best cosine of one memory per role; None where it has no such vector.

    Attributes:
        best_passage: The ordinal of its nearest record vector: of the passage that it stands for.
        best_cue: The ordinal of its nearest cue.
        ask_mean: Mean cosine over all of its asks.
    """

    memory_id: str
    record: float | None
    cue: float | None
    ask: float | None
    best_passage: int | None
    best_cue: int | None
    ask_mean: float | None = None


class VectorSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for in an index; see `UserIndex.search` for each."""

    query: NDArray[np.float32]
    question: NDArray[np.float32]
    scope: str | None
    now_ms: int
    limit: int
    also: tuple[str, ...] = ()
    windows: Sequence[TimeWindow] = ()

    def target_of(self, role: VectorRole) -> NDArray[np.float32]:
        """What the vectors of a role are compared with: asks are questions themselves."""
        return self.question if role is VectorRole.ASK else self.query


class IndexCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the index holds at a moment: live memories, those in scope, those searched, and what these lack."""

    live: int
    in_scope: int
    searched: int
    """In scope, and in the windows if there are any."""
    pending: int
    without_asks: int


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
        self._rows = {role: VectorRows(self.dims) for role in VectorRole}
        self._slots = SlotTable()

    def apply(self, delta: IndexDelta) -> None:
        """Bring the index up to `delta.seq` in one go."""
        if delta.is_complete:
            self._clear()
        self.upsert(delta.upserts)
        self.finish(delta)

    def upsert(self, memories: Sequence[EmbeddedMemory]) -> None:
        """Put memories in, each in place of what the index has of it; the sequence number stays as it is."""
        # While a whole index is loaded, there is nothing that they could take the place of.
        for memory_id in self._slots.known([memory.memory_id for memory in memories]):
            self._remove(memory_id)
        self._insert(memories)

    def finish(self, delta: IndexDelta) -> None:
        """Take out what a delta says is gone, once its memories are in, and bring the sequence number up."""
        for memory_id in delta.removed:
            self._remove(memory_id)
        self.seq = delta.seq

    def reserve(self, sample: Sequence[EmbeddedMemory], total: int) -> None:
        """Make room for so many memories with as many vectors as those of a sample have.

        What comes part by part is then moved nowhere, and takes no more than the memory it needs.
        """
        codes = np.frombuffer(b"".join(memory.vectors.layout[::2] for memory in sample), dtype=np.uint8)
        of_code = np.bincount(codes, minlength=len(ROLE_CODES)) * (total / max(len(sample), 1))
        for role, rows in self._rows.items():
            rows.reserve(int(of_code[ROLE_CODES[role]]))

    def _remove(self, memory_id: str) -> None:
        slot = self._slots.remove(memory_id)
        if slot is not None:
            for rows in self._rows.values():
                rows.drop(slot)

    def _insert(self, memories: Sequence[EmbeddedMemory]) -> None:
        """Insert many at once: converting and checking vectors one by one would cost more than everything else."""
        if not memories:
            return
        slots = self._slots.add(memories)
        # Two bytes of layout for each vector. Memories without vectors have neither.
        wanted = vector_bytes_of(self.dims) // 2
        packed = [memory.vectors for memory in memories]
        layout_bytes = np.array([len(each.layout) for each in packed], dtype=np.int64)
        data_bytes = np.array([len(each.data) for each in packed], dtype=np.int64)
        is_whole = (layout_bytes > 0) & (data_bytes == wanted * layout_bytes)
        if not is_whole.all():
            packed = [each for each, is_fit in zip(packed, is_whole.tolist(), strict=True) if is_fit]
        if not packed:
            return
        layout = np.frombuffer(b"".join([each.layout for each in packed]), dtype=np.uint8).reshape(-1, 2)
        vectors: Halves = np.frombuffer(b"".join([each.data for each in packed]), dtype="<f2").astype(
            np.float16, copy=False
        )
        vectors = vectors.reshape(len(layout), self.dims)
        owners = np.repeat(slots[is_whole], layout_bytes[is_whole] // 2)
        # A NaN would rank before every real neighbour.
        usable = are_finite(vectors)
        for role, rows in self._rows.items():
            mine = np.flatnonzero((layout[:, 0] == ROLE_CODES[role]) & usable)
            firsts = np.flatnonzero(np.diff(owners[mine], prepend=-1))
            of_each = np.diff(firsts, append=len(mine))
            rows.put(owners[mine[firsts]].tolist(), of_each, vectors[mine], layout[mine, 1])
        self._slots.mark_embedded(owners[usable])

    def counts(self, scope: str | None, now_ms: int, windows: Sequence[TimeWindow] = ()) -> IndexCounts:
        """Live memories at `now_ms`, and of those in scope and windows how many are pending or carry no asks."""
        live = self._slots.live(now_ms)
        in_scope = live & self._slots.in_scope(scope)
        searched = in_scope & self._slots.in_windows(windows)
        return IndexCounts(
            live=int(live.sum()),
            in_scope=int(in_scope.sum()),
            searched=int(searched.sum()),
            pending=int((searched & self._slots.pending()).sum()),
            without_asks=int((searched & self._slots.without_asks()).sum()),
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
        windows: Sequence[TimeWindow] = (),
    ) -> list[Cosines]:
        """The nearest memories by any leg, and those named in `also`, with their exact cosines.

        Args:
            query: The query embedded with the query prefix, shape (dims,); compared with records and cues.
            question: The query embedded without it, shape (dims,); compared with asks, question to question.
            scope: None: all scopes; otherwise this one and the global one.
            now_ms: Expired memories are left out.
            limit: Nearest memories taken from each of the three legs.
            also: Ids (of the other legs) to give cosines for as well, where they are eligible too.
            windows: Only memories made or changed in one of them; none given: all.

        Returns:
            Each nominated memory once; no particular order.
        """
        search = VectorSearch(
            query=query, question=question, scope=scope, now_ms=now_ms, limit=limit, also=tuple(also), windows=windows
        )
        return self.compared(search, self.nominated(search, tuple(VectorRole)))

    def nominated(self, search: VectorSearch, roles: Sequence[VectorRole]) -> set[int]:
        """The slots of what is nearest in some of the roles, and of what else is to be compared.

        Most of a search; different roles may be looked at in different threads.
        """
        if self._slots.size == 0:
            return set()
        slots = self._slots
        eligible = slots.live(search.now_ms) & slots.in_scope(search.scope) & slots.in_windows(search.windows)
        nominated = {slot for slot in map(slots.slot_of, search.also) if slot is not None and eligible[slot]}
        for role in roles:
            nominated.update(self._rows[role].nearest(search.target_of(role), eligible, search.limit))
        return nominated

    def compared(self, search: VectorSearch, nominated: Collection[int]) -> list[Cosines]:
        """The exact cosines of the memories in some slots, from `nominated`."""
        if not nominated:
            return []
        slots = np.array(sorted(nominated), dtype=np.int64)
        best = {role: rows.best(search.target_of(role), slots) for role, rows in self._rows.items()}
        record, cue, ask = best[VectorRole.RECORD], best[VectorRole.CUE], best[VectorRole.ASK]
        return [
            Cosines(
                memory_id=self._slots.id_of(slot),
                record=of_record,
                cue=of_cue,
                ask=of_ask,
                best_passage=None if of_record is None else passage,
                best_cue=None if of_cue is None else ordinal,
                ask_mean=mean,
            )
            for slot, of_record, passage, of_cue, ordinal, of_ask, mean in zip(
                slots.tolist(),
                _present(record.cosines),
                record.ordinals.tolist(),
                _present(cue.cosines),
                cue.ordinals.tolist(),
                _present(ask.cosines),
                _present(ask.means),
                strict=True,
            )
        ]

    def times_of(self, memory_id: str) -> tuple[int, int]:
        """When a memory of the index was made and last changed, Unix epoch milliseconds; zeros for any other."""
        slot = self._slots.slot_of(memory_id)
        return (0, 0) if slot is None else self._slots.times_of(slot)

    @property
    def rows(self) -> int:
        """Vectors held, those of nobody included: what a search looks at."""
        return sum(rows.rows for rows in self._rows.values())

    @property
    def is_wasteful(self) -> bool:
        """Whether more than half of its rows are nobody's, so that loading it anew is worth the while."""
        return sum(rows.dead for rows in self._rows.values()) > max(_WASTED_MIN, self.rows // 2)

    @property
    def nbytes(self) -> int:
        """Bytes held by slots and vectors, for the bound over all users."""
        return self._slots.nbytes + sum(rows.nbytes for rows in self._rows.values())


_WASTED_MIN = 4_096
"""So few rows of nobody are no waste in an index of any size."""


def _present(cosines: NDArray[np.float32]) -> list[float | None]:
    return [None if cosine <= ABSENT else cosine for cosine in cosines.tolist()]
