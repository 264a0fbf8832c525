"""Labelled conversations as a file has them: whatever is wrong with one is named by file, line and field."""

from __future__ import annotations

import json

import pytest

from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_rows import ReplayRowError, parse_replay_rows

TURN = {"role": "user", "speaker": "user", "text": "I work at Acme."}
FACT = {"turn": 0, "statement": "The user works at Acme.", "kind": "fact"}


def line(**changes: object) -> bytes:
    row: dict[str, object] = {"id": "a", "turns": [TURN], "facts": [FACT], **changes}
    return json.dumps({name: value for name, value in row.items() if value != "absent"}).encode()


def test_a_byte_order_mark_blank_lines_and_windows_line_ends_are_passed_over() -> None:
    content = b"\xef\xbb\xbf\r\n" + line() + b"\r\n  \r\n" + line(id="b") + b"\r\n\r\n"
    rows = parse_replay_rows(content, "f.jsonl")
    assert [row.id for row in rows] == ["a", "b"]
    assert rows[0].turns[0].role is Speaker.USER


def test_unknown_fields_and_fields_that_hold_nothing_are_no_fault() -> None:
    (row,) = parse_replay_rows(line(ts=None, reject=[], notes="x", reason=None, facts=[{**FACT, "expires": None}]), "f")
    assert (row.said_ms, row.is_weak, len(row.facts)) == (None, False, 1)


def test_a_time_without_an_offset_is_utc() -> None:
    (plain,) = parse_replay_rows(line(ts="2026-03-02T09:00:00"), "f")
    (offset,) = parse_replay_rows(line(ts="2026-03-02T10:00:00+01:00"), "f")
    assert plain.said_ms == offset.said_ms == 1_772_442_000_000


def test_a_very_long_line_is_read() -> None:
    (row,) = parse_replay_rows(line(turns=[{**TURN, "text": "word " * 400_000}]), "f")
    assert len(row.turns[0].text) == 2_000_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "f.jsonl, line 1: there is no conversation in it"),
        (b"\n \n", "there is no conversation in it"),
        (b"{", "f.jsonl, line 1: "),
        (b"\xff\xfe{", "f.jsonl, line 1: "),
        (b"[]", "Expected `object`, got `array`"),
        (line(id="absent"), "required field `id`"),
        (line(id=" "), "id is blank"),
        (line(turns="absent"), "required field `turns`"),
        (line(turns=[]), "turns is empty"),
        (line(turns="hello"), "turns: Expected `array`, got `str`"),
        (line(turns=[{**TURN, "role": "boss"}]), "turns[0].role: Invalid enum value 'boss'"),
        (line(turns=[{**TURN, "text": 3}]), "turns[0].text: Expected `str`, got `int`"),
        (line(ts="yesterday"), "ts is 'yesterday'; give ISO 8601"),
        (line(ts="0001-01-01T00:00:00+14:00"), "ts is '0001-01-01T00:00:00+14:00'"),
        (line(ts="1985-01-01"), "give a moment from 1990 to 2100"),
        (line(time_zone="Mars/X"), "time_zone is 'Mars/X'; give an IANA name"),
        (line(facts=[{**FACT, "turn": 1}]), "facts[0].turn is 1, but the turns are 0 to 0; count them from 0"),
        (line(facts=[{**FACT, "turn": -1}]), "facts[0].turn is -1"),
        (line(facts=[{**FACT, "turn": "0"}]), "facts[0].turn: Expected `int`, got `str`"),
        (line(facts=[{"turn": 0, "statement": " "}]), "facts[0].statement is blank"),
        (line() + b"\n\n" + line(), "f.jsonl, line 3: id: 'a' is on line 1 as well"),
        (line() + b"\n" + b"[" * 100_000, "f.jsonl, line 2: "),
    ],
)
def test_a_line_that_is_no_conversation_is_named(content: bytes, said: str) -> None:
    with pytest.raises(ReplayRowError) as raised:
        parse_replay_rows(content, "f.jsonl")
    assert said in str(raised.value)
    assert "docs/measuring.md" in str(raised.value) or "as well" in str(raised.value)
