from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import (
    EVICTIONS_MAX,
    SOON_MS,
    EvictionCandidate,
    fits,
    is_nearly_full,
    suggested,
    used_by,
    with_separators,
)


def capped(records: int, chars: int, records_max: int = 0, chars_max: int = 0) -> Usage:
    return Usage(records=records, chars=chars, records_max=records_max, chars_max=chars_max)


def candidate(
    number: int, *, created_at_ms: int = 0, expires_at_ms: int | None = None, used: int = 0
) -> EvictionCandidate:
    return EvictionCandidate(
        memory_id=f"m{number}", created_at_ms=created_at_ms, expires_at_ms=expires_at_ms, used=used
    )


def test_separators_stand_between_records_only() -> None:
    assert used_by([]) == capped(0, 0)
    assert used_by([5]) == capped(1, 5)
    assert used_by([5, 7, 1]) == capped(3, 15)
    assert with_separators(13, 3) == 15


@pytest.mark.parametrize(
    ("before", "after", "may"),
    [
        (capped(1, 9), capped(2, 20, 2, 20), True),
        (capped(2, 9), capped(3, 9, 2), False),
        (capped(2, 9), capped(2, 21, 0, 20), False),
        (capped(5, 50), capped(5, 50, 2, 20), True),
        (capped(5, 50), capped(4, 60, 2, 20), False),
        (capped(5, 50), capped(5, 49, 2, 20), True),
        (capped(5, 50), capped(6, 49, 2, 20), False),
        (capped(9, 999), capped(99, 9_999), True),
    ],
)
def test_a_batch_fits_under_the_caps_or_where_it_does_not_grow(before: Usage, after: Usage, *, may: bool) -> None:
    assert fits(before, after) is may


@pytest.mark.parametrize(
    ("usage", "is_near"),
    [
        (capped(8, 0, 10), False),
        (capped(9, 0, 10), True),
        (capped(0, 89, 0, 100), False),
        (capped(0, 90, 0, 100), True),
        (capped(999, 999), False),
    ],
)
def test_a_warning_is_due_from_nine_tenths_on(usage: Usage, *, is_near: bool) -> None:
    assert is_nearly_full(usage) is is_near


def test_what_expires_soon_goes_first_then_the_least_used_then_the_oldest() -> None:
    candidates = [
        candidate(1, created_at_ms=1, used=2),
        candidate(2, created_at_ms=9),
        candidate(3, created_at_ms=3),
        candidate(4, created_at_ms=2, expires_at_ms=SOON_MS, used=9),
        candidate(5, created_at_ms=2, expires_at_ms=SOON_MS - 1, used=9),
        candidate(6, created_at_ms=5, expires_at_ms=SOON_MS + 1),
    ]
    assert suggested(candidates, now_ms=0) == ("m5", "m4", "m3", "m6", "m2")
    assert len(suggested(candidates, now_ms=0)) == EVICTIONS_MAX


NUMBERS = st.integers(0, 50)


@given(before=st.builds(capped, NUMBERS, NUMBERS), records=NUMBERS, chars=NUMBERS, caps=st.tuples(NUMBERS, NUMBERS))
def test_less_always_fits_where_more_does(before: Usage, records: int, chars: int, caps: tuple[int, int]) -> None:
    if fits(before, capped(records, chars, *caps)):
        assert fits(before, capped(max(records - 1, 0), max(chars - 1, 0), *caps))
    assert fits(before, capped(before.records, before.chars, *caps))
