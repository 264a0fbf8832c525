from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recalld.actors.recall.index import Cosines, UserIndex
from recalld.actors.store.packed_vectors import pack_vectors, unpack_vectors
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, TextVector

DIMS = 4
NOW_MS = 1_000_000
SCOPES = ("", "a", "b")


def unit(numbers: tuple[int, ...]) -> NDArray[np.float32]:
    vector = np.array(numbers, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def stored(vector: NDArray[np.float32]) -> bytes:
    return vector.astype("<f2").tobytes()


directions = st.tuples(*[st.integers(-3, 3)] * DIMS).filter(any).map(unit)


@st.composite
def memories(draw: st.DrawFn) -> EmbeddedMemory:
    counts = {VectorRole.RECORD: draw(st.integers(0, 1)), VectorRole.CUE: draw(st.integers(0, 3))}
    counts[VectorRole.ASK] = draw(st.integers(0, 2))
    vectors = tuple(
        TextVector(role=role, ordinal=ordinal, data=stored(draw(directions)))
        for role, count in counts.items()
        for ordinal in range(count)
    )
    return EmbeddedMemory(
        memory_id=f"mem{draw(st.integers(0, 12)):02}",
        revision=1,
        scope=draw(st.sampled_from(SCOPES)),
        expires_at_ms=draw(st.sampled_from((None, NOW_MS, NOW_MS + 1))),
        has_asks=counts[VectorRole.ASK] > 0,
        vectors=pack_vectors(vectors),
    )


@st.composite
def deltas(draw: st.DrawFn) -> tuple[bool, tuple[EmbeddedMemory, ...], tuple[str, ...]]:
    upserts = {memory.memory_id: memory for memory in draw(st.lists(memories(), max_size=8))}
    removed = draw(st.lists(st.integers(0, 12).map(lambda number: f"mem{number:02}"), max_size=4))
    is_complete = draw(st.integers(0, 9)) == 0
    return is_complete, tuple(upserts.values()), tuple(each for each in removed if each not in upserts)


class Oracle:
    """The same, by a dictionary and by looking at everything."""

    def __init__(self) -> None:
        self.held: dict[str, EmbeddedMemory] = {}

    def apply(self, delta: IndexDelta) -> None:
        if delta.is_complete:
            self.held.clear()
        for memory_id in delta.removed:
            self.held.pop(memory_id, None)
        self.held |= {memory.memory_id: memory for memory in delta.upserts}

    def eligible(self, scope: str | None) -> list[EmbeddedMemory]:
        return [
            memory
            for memory in self.held.values()
            if (memory.expires_at_ms is None or memory.expires_at_ms > NOW_MS)
            and (scope is None or memory.scope in ("", scope))
        ]

    def best(self, memory: EmbeddedMemory, role: VectorRole, query: NDArray[np.float32]) -> float | None:
        cosines = [
            float(np.frombuffer(vector.data, dtype="<f2").astype(np.float32) @ query)
            for vector in unpack_vectors(memory.vectors)
            if vector.role is role
        ]
        return max(cosines, default=None)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(deltas(), min_size=1, max_size=6),
    directions,
    directions,
    st.sampled_from((None, "a")),
    st.integers(1, 5),
)
def test_the_index_finds_what_looking_at_everything_finds(
    script: list[tuple[bool, tuple[EmbeddedMemory, ...], tuple[str, ...]]],
    query: NDArray[np.float32],
    question: NDArray[np.float32],
    scope: str | None,
    limit: int,
) -> None:
    index, oracle = UserIndex("e", DIMS), Oracle()
    for seq, (is_complete, upserts, removed) in enumerate(script, start=1):
        delta = IndexDelta(is_complete=is_complete, seq=seq, upserts=upserts, removed=removed)
        index.apply(delta)
        oracle.apply(delta)
    assert index.seq == len(script)
    found = {
        cosines.memory_id: cosines for cosines in index.search(query, question, scope=scope, now_ms=NOW_MS, limit=limit)
    }
    eligible = {memory.memory_id: memory for memory in oracle.eligible(scope)}
    assert found.keys() <= eligible.keys()
    legs = ((VectorRole.RECORD, query, "record"), (VectorRole.CUE, query, "cue"), (VectorRole.ASK, question, "ask"))
    for role, target, field in legs:
        cosines = {id_: oracle.best(memory, role, target) for id_, memory in eligible.items()}
        for memory_id, hit in found.items():
            expected = cosines[memory_id]
            got = getattr(hit, field)
            assert (got is None) == (expected is None)
            if expected is not None:
                assert got == pytest.approx(expected, abs=1e-5)
        # However many ghosts there are, each leg fills all of its places.
        ranked = sorted((value for value in cosines.values() if value is not None), reverse=True)[:limit]
        nominated = sorted((cosines[id_] for id_ in found if cosines[id_] is not None), reverse=True)[:limit]  # type: ignore[type-var]
        assert nominated == pytest.approx(ranked, abs=1e-5)
    _check_cues(found, eligible, query)
    counts = index.counts(scope, NOW_MS)
    assert counts.live == len(oracle.eligible(None))
    assert counts.in_scope == len(eligible)
    assert counts.pending == sum(not memory.vectors for memory in eligible.values())
    assert counts.without_asks == sum(not memory.has_asks for memory in eligible.values())


def _check_cues(found: dict[str, Cosines], eligible: dict[str, EmbeddedMemory], query: NDArray[np.float32]) -> None:
    for memory_id, hit in found.items():
        cues = {
            vector.ordinal: float(np.frombuffer(vector.data, dtype="<f2").astype(np.float32) @ query)
            for vector in unpack_vectors(eligible[memory_id].vectors)
            if vector.role is VectorRole.CUE
        }
        if not cues:
            assert hit.best_cue is None
        else:
            assert hit.best_cue is not None
            assert cues[hit.best_cue] == pytest.approx(max(cues.values()), abs=1e-5)


def of(memory_id: str, *numbers: int, expires_at_ms: int | None = None, scope: str = "") -> EmbeddedMemory:
    vector = TextVector(role=VectorRole.RECORD, ordinal=0, data=stored(unit(numbers)))
    return EmbeddedMemory(
        memory_id=memory_id,
        revision=1,
        scope=scope,
        expires_at_ms=expires_at_ms,
        has_asks=False,
        vectors=pack_vectors((vector,)),
    )


def nearest(index: UserIndex, limit: int = 1, scope: str | None = None, also: tuple[str, ...] = ()) -> list[str]:
    query = unit((1, 0, 0, 0))
    return [hit.memory_id for hit in index.search(query, query, scope=scope, now_ms=NOW_MS, limit=limit, also=also)]


def filled(*memories_: EmbeddedMemory) -> UserIndex:
    index = UserIndex("e", DIMS)
    index.apply(IndexDelta(is_complete=True, seq=1, upserts=memories_, removed=()))
    return index


def test_an_expired_or_forgotten_or_foreign_neighbour_never_takes_the_place_of_a_live_one() -> None:  # S05
    index = filled(
        of("forgotten", 1, 0, 0, 0),
        of("expired", 1, 0, 0, 0, expires_at_ms=NOW_MS),
        of("elsewhere", 1, 0, 0, 0, scope="b"),
        of("live", 1, 1, 1, 1, scope="a"),
    )
    index.apply(IndexDelta(is_complete=False, seq=2, upserts=(), removed=("forgotten",)))
    assert nearest(index, scope="a") == ["live"]


def test_a_damaged_or_foreign_vector_takes_no_place_and_its_memory_counts_as_pending() -> None:
    broken = of("nan", 1, 0, 0, 0)
    nan = TextVector(role=VectorRole.RECORD, ordinal=0, data=np.full(DIMS, np.nan, dtype="<f2").tobytes())
    short = TextVector(role=VectorRole.RECORD, ordinal=0, data=b"\0\0")
    index = filled(
        EmbeddedMemory(**{**_fields(broken), "vectors": pack_vectors((nan,))}),
        EmbeddedMemory(**{**_fields(of("short", 1, 0, 0, 0)), "vectors": pack_vectors((short,))}),
        of("sound", 0, 1, 0, 0),
    )
    assert nearest(index) == ["sound"]
    assert index.counts(None, NOW_MS).pending == 2


def _fields(memory: EmbeddedMemory) -> dict[str, object]:
    return {name: getattr(memory, name) for name in memory.__struct_fields__}


def test_memories_named_by_the_other_leg_get_their_cosines_if_they_may_be_shown() -> None:
    index = filled(of("near", 1, 0, 0, 0), of("far", 0, 1, 0, 0), of("hidden", 0, 0, 1, 0, scope="b"))
    assert nearest(index, scope="a", also=("far", "hidden", "unknown")) == ["near", "far"]


def test_memory_stays_bounded_when_the_same_memory_changes_for_ever() -> None:
    index = filled(*(of(f"m{number}", 1, number + 1, 0, 0) for number in range(100)))
    before = index.nbytes
    for seq in range(2, 2_000):
        index.apply(IndexDelta(is_complete=False, seq=seq, upserts=(of("m7", 1, seq, 0, 0),), removed=()))
    assert index.nbytes <= 4 * before
    assert math.isclose(len(nearest(index, limit=500)), 100)
