from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.store.cursors import PagePosition, decode_cursor, encode_cursor
from recalld.models.domain.errors import ErrorCode, RecalldError


@given(created_at_ms=st.integers(-(2**63), 2**63 - 1), memory_id=st.text(st.characters(codec="utf-8")))
def test_a_cursor_gives_its_position_back(created_at_ms: int, memory_id: str) -> None:
    position = PagePosition(created_at_ms, memory_id)
    cursor = encode_cursor(position)
    assert decode_cursor(cursor) == position
    assert cursor.replace("-", "").replace("_", "").isalnum()


@given(st.text())
def test_any_other_text_is_a_bad_request(text: str) -> None:
    with pytest.raises(RecalldError) as caught:
        decode_cursor(text)
    assert caught.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize("end", ["=", "==", "\n", "A"])
def test_a_cursor_written_in_another_way_is_a_bad_request(end: str) -> None:
    for length in range(4):
        cursor = encode_cursor(PagePosition(1, "m" * length))
        with pytest.raises(RecalldError):
            decode_cursor(cursor + end)
        respelled = cursor.translate(str.maketrans("-_", "+/"))
        if respelled != cursor:
            with pytest.raises(RecalldError):
                decode_cursor(respelled)
