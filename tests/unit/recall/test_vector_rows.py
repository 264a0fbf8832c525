from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from recalld.actors.recall import vector_rows
from recalld.actors.recall.half_floats import are_finite, cosines, widened
from recalld.actors.recall.sign_rows import SignRows, nearest_rows
from recalld.actors.recall.vector_rows import ABSENT, VectorRows

DIMS = 384


def unit_rows(rng: np.random.Generator, count: int, dims: int = DIMS) -> NDArray[np.float16]:
    rows = rng.standard_normal((count, dims), dtype=np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.astype(np.float16)


def filled(vectors: NDArray[np.float16], rows_of_each: int = 1) -> VectorRows:
    memories = len(vectors) // rows_of_each
    rows = VectorRows(vectors.shape[1])
    ordinals = np.tile(np.arange(rows_of_each, dtype=np.uint8), memories)
    rows.put(list(range(memories)), np.full(memories, rows_of_each), vectors, ordinals)
    return rows


def everybody(rows: int) -> NDArray[np.bool_]:
    return np.ones(rows, dtype=np.bool_)


@given(st.lists(st.floats(width=16, allow_nan=False, allow_infinity=False), min_size=1))
def test_widening_gives_the_very_number_subnormal_ones_and_zeros_included(numbers: list[float]) -> None:
    halves = np.array([numbers], dtype=np.float16)
    wide = widened(halves)
    assert np.array_equal(wide, halves.astype(np.float32))
    assert np.array_equal(np.signbit(wide), np.signbit(halves))


@pytest.mark.parametrize("damage", [np.nan, np.inf, -np.inf])
def test_a_row_with_one_number_that_is_none_is_not_finite(damage: float) -> None:
    rows = unit_rows(np.random.default_rng(1), 600)
    rows[300, 17] = damage
    assert np.flatnonzero(~are_finite(rows)).tolist() == [300]


def test_cosines_are_those_of_float32_in_any_order_of_rows() -> None:
    rng = np.random.default_rng(2)
    vectors, query = unit_rows(rng, 700), unit_rows(rng, 1)[0].astype(np.float32)
    chosen = rng.permutation(700)
    assert cosines(vectors, chosen, query) == pytest.approx(vectors[chosen].astype(np.float32) @ query, abs=1e-6)


@pytest.mark.parametrize("dims", [1, 63, 64, 65, 384])
def test_the_distance_is_the_number_of_signs_that_differ_whatever_the_width(dims: int) -> None:
    rng = np.random.default_rng(dims)
    vectors, query = unit_rows(rng, 100, dims), unit_rows(rng, 1, dims)[0].astype(np.float32)
    signs = SignRows(dims, 100)
    signs.put(0, vectors)
    expected = ((vectors >= 0) != (query >= 0)).sum(axis=1)
    assert signs.distances(query, 100).tolist() == expected.tolist()


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 31))
def test_the_nearest_rows_are_as_many_as_wanted_and_none_left_out_is_nearer(distances: list[int], wanted: int) -> None:
    found = nearest_rows(np.array(distances, dtype=np.uint16), wanted).tolist()
    assert found == sorted(set(found))
    assert len(found) == min(wanted, len(distances))
    left = [distance for row, distance in enumerate(distances) if row not in found]
    assert not left or not found or max(distances[row] for row in found) <= min(left)


def test_two_looks_find_nearly_all_that_one_exact_look_finds() -> None:
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((400, DIMS), dtype=np.float32)
    around = centres[rng.integers(0, 400, 20_000)] + 0.8 * rng.standard_normal((20_000, DIMS), dtype=np.float32)
    vectors = (around / np.linalg.norm(around, axis=1, keepdims=True)).astype(np.float16)
    rows, exact = filled(vectors), vectors.astype(np.float32)
    hits = 0
    for number in range(50):
        query = centres[number] + 0.8 * rng.standard_normal(DIMS, dtype=np.float32)
        query /= np.linalg.norm(query)
        expected = np.argsort(-(exact @ query))[:20]
        hits += len(set(expected.tolist()) & set(rows.nearest(query, everybody(20_000), 20)))
    assert hits >= 0.995 * 50 * 20


@pytest.mark.parametrize("exact_rows", [0, 10_000])
def test_a_list_is_filled_even_if_the_nearest_rows_belong_to_few_memories(
    monkeypatch: pytest.MonkeyPatch, exact_rows: int
) -> None:
    monkeypatch.setattr(vector_rows, "EXACT_ROWS", exact_rows)
    monkeypatch.setattr(vector_rows, "FIRST_LOOK_MIN", 1)
    monkeypatch.setattr(vector_rows, "FIRST_LOOK_SHARE", 0)
    rng = np.random.default_rng(4)
    vectors = unit_rows(rng, 2_000)
    vectors[:1_000] = vectors[0]
    rows = filled(vectors, rows_of_each=20)
    nearest = rows.nearest(vectors[0].astype(np.float32), everybody(100), 60)
    assert len(set(nearest)) == 60
    assert set(nearest[:50]) == set(range(50))


@pytest.mark.parametrize("exact_rows", [0, 10_000])
def test_who_is_not_eligible_takes_no_place(monkeypatch: pytest.MonkeyPatch, exact_rows: int) -> None:
    monkeypatch.setattr(vector_rows, "EXACT_ROWS", exact_rows)
    vectors = unit_rows(np.random.default_rng(5), 3_000)
    rows = filled(vectors)
    eligible = np.zeros(3_000, dtype=np.bool_)
    eligible[[7, 2_900]] = True
    assert sorted(rows.nearest(vectors[0].astype(np.float32), eligible, 5)) == [7, 2_900]
    rows.drop(7)
    assert rows.nearest(vectors[0].astype(np.float32), eligible, 5) == [2_900]


def test_the_best_of_a_memory_is_told_by_its_ordinal_and_none_is_absent() -> None:
    vectors = unit_rows(np.random.default_rng(6), 30)
    rows = filled(vectors, rows_of_each=10)
    best = rows.best(vectors[24].astype(np.float32), np.array([0, 2, 9]))
    assert best.ordinals.tolist()[1] == 4
    assert best.cosines[1] == pytest.approx(1.0, abs=1e-3)
    assert best.cosines[2] == ABSENT


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=60))
def test_rows_are_used_again_and_every_memory_keeps_its_own_vectors(script: list[tuple[int, int]]) -> None:
    rng = np.random.default_rng(7)
    rows, held = VectorRows(8), {}
    for slot, count in script:
        rows.drop(slot)
        held.pop(slot, None)
        if count:
            held[slot] = unit_rows(rng, count, 8)
            rows.put([slot], np.array([count]), held[slot], np.arange(count, dtype=np.uint8))
    for slot, vectors in held.items():
        for ordinal, vector in enumerate(vectors):
            best = rows.best(vector.astype(np.float32), np.array([slot]))
            assert (best.ordinals[0], best.cosines[0]) == (ordinal, pytest.approx(1.0, abs=2e-3))
    assert rows.rows - rows.dead == sum(map(len, held.values()))
    # Each length of span is reused, so there are never more rows than all memories had at their largest of each.
    assert rows.rows <= 10 * (1 + 2 + 3 + 4)
