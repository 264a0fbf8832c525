"""An index searched in some windows of time only: as if nothing else were there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.recall.index import UserIndex
from recalld.actors.store.packed_vectors import pack_vectors
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, TextVector
from recalld.models.domain.time_window import TimeWindow

MOMENTS = st.integers(min_value=0, max_value=20)
WINDOWS = st.lists(st.builds(TimeWindow, start_ms=st.none() | MOMENTS, end_ms=st.none() | MOMENTS), max_size=3).map(
    tuple
)
QUERY = np.array([1.0, 0.0], dtype=np.float32)


def memory(number: int, created_at_ms: int, updated_at_ms: int) -> EmbeddedMemory:
    data = np.array([0.6, 0.8], dtype="<f2").tobytes()
    return EmbeddedMemory(
        memory_id=f"m{number}",
        revision=1,
        scope="",
        expires_at_ms=None,
        has_asks=False,
        vectors=pack_vectors((TextVector(role=VectorRole.RECORD, ordinal=0, data=data),)),
        created_at_ms=created_at_ms,
        updated_at_ms=updated_at_ms,
    )


@given(times=st.lists(st.tuples(MOMENTS, MOMENTS), max_size=150), windows=WINDOWS)
def test_search_and_counts_see_what_lies_in_a_window_and_nothing_else(
    times: list[tuple[int, int]], windows: tuple[TimeWindow, ...]
) -> None:
    index = UserIndex("e", 2)
    upserts = tuple(memory(number, *moments) for number, moments in enumerate(times))
    index.apply(IndexDelta(is_complete=True, seq=1, upserts=upserts, removed=()))
    expected = {
        f"m{number}"
        for number, moments in enumerate(times)
        if not windows or any(window.holds(at_ms) for window in windows for at_ms in moments)
    }
    also = [each.memory_id for each in upserts]
    found = index.search(QUERY, QUERY, scope=None, now_ms=0, limit=3, also=also, windows=windows)
    assert {each.memory_id for each in found} == expected
    nearest = index.search(QUERY, QUERY, scope=None, now_ms=0, limit=200, windows=windows)
    assert {each.memory_id for each in nearest} == expected
    counts = index.counts(None, 0, windows)
    assert (counts.live, counts.in_scope, counts.searched) == (len(times), len(times), len(expected))


@pytest.mark.parametrize(("at_ms", "is_in"), [(4, False), (5, True), (9, True), (10, False)])
def test_a_window_is_half_open(at_ms: int, *, is_in: bool) -> None:
    assert TimeWindow(start_ms=5, end_ms=10).holds(at_ms) is is_in
    assert TimeWindow().holds(at_ms)
