from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Evidence, RecalledItem
from recalld.models.domain.records import Memory
from recalld.models.policy.pack import pack


def items_of(make_memory: Callable[..., Memory], lengths: list[int]) -> list[RecalledItem]:
    return [
        RecalledItem(memory=make_memory(f"mem_{place}", "x" * length), evidence=Evidence(), relevance=0.5)
        for place, length in enumerate(lengths)
    ]


def test_whole_items_are_taken_while_they_fit_and_shorter_ones_after_a_long_one(
    make_memory: Callable[..., Memory],
) -> None:
    packed = pack(items_of(make_memory, [10, 50, 5, 1]), max_items=2, max_chars=20)
    assert [item.memory.id for item in packed.items] == ["mem_0", "mem_2"]
    assert [(item.memory_id, item.reason) for item in packed.dropped] == [
        ("mem_1", DropReason.OVER_MAX_CHARS),
        ("mem_3", DropReason.OVER_MAX_ITEMS),
    ]


def test_an_item_of_exactly_the_limit_fits(make_memory: Callable[..., Memory]) -> None:
    assert len(pack(items_of(make_memory, [20]), max_items=1, max_chars=20).items) == 1
    assert pack(items_of(make_memory, [21]), max_items=1, max_chars=20).items == ()


@given(lengths=st.lists(st.integers(1, 30), max_size=12), max_items=st.integers(0, 6), max_chars=st.integers(0, 90))
def test_limits_hold_and_nothing_is_lost(
    make_memory: Callable[..., Memory], lengths: list[int], max_items: int, max_chars: int
) -> None:
    items = items_of(make_memory, lengths)
    packed = pack(items, max_items=max_items, max_chars=max_chars)
    assert len(packed.items) <= max_items
    assert sum(len(item.memory.text) for item in packed.items) <= max_chars
    assert {item.memory.id for item in packed.items} | {item.memory_id for item in packed.dropped} == {
        item.memory.id for item in items
    }


@pytest.mark.parametrize(("max_items", "max_chars"), [(-1, 0), (0, -1)])
def test_a_negative_limit_is_an_error(max_items: int, max_chars: int) -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        pack([], max_items=max_items, max_chars=max_chars)
