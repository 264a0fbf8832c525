"""An asker is told which request was wrong, also when the request cannot be read as a whole."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.protocol.codec import decode_request
from recalld.protocol.errors import WireError
from recalld.protocol.fields import REQUEST_ID_MAX
from recalld.protocol.request_id import ENTRIES_MAX, find_request_id

SIMPLE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=300),
    st.binary(max_size=300),
)


@pytest.mark.parametrize(
    "wrong",
    [
        b"\xa4text\xa3\xed\xa0\x80",  # a surrogate
        b"\xa4text\xa2\xff\xfe",
        b"\xa3new" + b"\x91" * 100_000 + b"\xc0",  # deeper than any decoder goes
        b"\xa4text\xdb\xff\xff\xff\xffab",  # longer than it is
    ],
)
@pytest.mark.parametrize("header", [b"\x84", b"\xde\x00\x04", b"\xdf\x00\x00\x00\x04"])
def test_the_id_before_what_is_wrong_is_given_back(wrong: bytes, header: bytes) -> None:
    body = header + b"\xa4type\xa6recall" + b"\xa4user\xa1u" + b"\xa2id\xcd\x01\x07" + wrong
    with pytest.raises(WireError) as caught:
        decode_request(body)
    assert caught.value.request_id == 0x107


@given(
    request_id=st.integers(0, REQUEST_ID_MAX),
    before=st.dictionaries(st.text(max_size=40).filter(lambda key: key != "id"), SIMPLE, max_size=ENTRIES_MAX - 1),
)
def test_every_id_behind_simple_values_is_found(request_id: int, before: dict[str, object]) -> None:
    assert find_request_id(msgspec.msgpack.encode({**before, "id": request_id})) == request_id


@pytest.mark.parametrize("value", [-1, REQUEST_ID_MAX + 1, 1.5, "7", None, True, [7]])
def test_what_is_no_id_is_not_taken_for_one(value: object) -> None:
    assert find_request_id(msgspec.msgpack.encode({"id": value})) is None


def test_an_id_that_comes_after_a_list_or_very_many_entries_is_not_looked_for() -> None:
    assert find_request_id(msgspec.msgpack.encode({"parts": [], "id": 7})) is None
    assert find_request_id(msgspec.msgpack.encode({**{str(n): n for n in range(ENTRIES_MAX)}, "id": 7})) is None


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    found = find_request_id(body)
    assert found is None or 0 <= found <= REQUEST_ID_MAX
