from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.ids import CROCKFORD_ALPHABET, encode_id

times = st.integers(0, 2**48 - 1)
randoms = st.integers(0, 2**80 - 1)


def test_a_known_moment_gives_the_known_digits() -> None:
    # The time part of the example in the ULID specification.
    assert encode_id("mem", 1_469_918_176_385, 0) == "mem_01ARYZ6S41" + "0" * 16


@given(first=st.tuples(times, randoms), second=st.tuples(times, randoms))
def test_ids_sort_as_time_and_then_random_bits_do(first: tuple[int, int], second: tuple[int, int]) -> None:
    assert (encode_id("mem", *first) < encode_id("mem", *second)) == (first < second)


@given(now_ms=times, random_bits=randoms)
def test_an_id_is_26_crockford_digits(now_ms: int, random_bits: int) -> None:
    digits = encode_id("dec", now_ms, random_bits).removeprefix("dec_")
    assert len(digits) == 26
    assert set(digits) <= set(CROCKFORD_ALPHABET)


@pytest.mark.parametrize(
    ("prefix", "now_ms", "random_bits", "named"),
    [
        ("", 0, 0, "prefix"),
        ("Mem", 0, 0, "prefix"),
        ("mem_x", 0, 0, "prefix"),
        ("mem", -1, 0, "now_ms"),
        ("mem", 2**48, 0, "now_ms"),
        ("mem", 0, -1, "random_bits"),
        ("mem", 0, 2**80, "random_bits"),
    ],
)
def test_an_argument_out_of_range_is_named(prefix: str, now_ms: int, random_bits: int, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        encode_id(prefix, now_ms, random_bits)
