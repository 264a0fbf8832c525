from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.inference_thread.lru import LruCache


@given(st.integers(0, 5), st.lists(st.tuples(st.booleans(), st.integers(0, 8)), max_size=60))
def test_the_cache_keeps_exactly_what_was_used_last(entries_max: int, steps: list[tuple[bool, int]]) -> None:
    cache: LruCache[int, int] = LruCache(entries_max)
    used: list[int] = []
    for is_put, key in steps:
        kept = used[-entries_max:] if entries_max else []
        if is_put:
            cache.put(key, key * 10)
        else:
            assert cache.get(key) == (key * 10 if key in kept else None)
        if is_put or key in kept:
            used = [*(each for each in kept if each != key), key]
        assert len(cache) <= entries_max


def test_a_value_of_zero_is_a_value() -> None:
    cache: LruCache[str, float] = LruCache(1)
    cache.put("a", 0.0)
    assert cache.get("a") == 0.0


def test_a_negative_bound_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="entries_max"):
        LruCache(-1)
