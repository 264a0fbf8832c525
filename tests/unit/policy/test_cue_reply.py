from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.records import ASK_CHARS_MAX, ASKS_MAX, CUE_CHARS_MAX, CUES_MAX
from recalld.models.policy.cue_prompt import REPLY_CHARS_MAX
from recalld.models.policy.cue_reply import CueReply, CueReplyError, CueReplyFault, parse_cue_reply

GOOD = '{"cues": ["Database"], "asks": ["Which database do we use?"]}'
READ = CueReply(cues=("Database",), asks=("Which database do we use?",))


def read(text: str, *, was_truncated: bool = False) -> CueReply | CueReplyError:
    return parse_cue_reply(text, was_truncated=was_truncated)


def fault_of(text: str, *, was_truncated: bool = False) -> CueReplyFault:
    error = read(text, was_truncated=was_truncated)
    assert isinstance(error, CueReplyError)
    return error.fault


def lists(cues: object, asks: object) -> str:
    return json.dumps({"cues": cues, "asks": asks})


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Sure! Here it is:\n{GOOD}\nAnything else?",
        f"```json\n{GOOD}\n```",
        f'<think>Maybe {{"cues": ["Draft"], "asks": ["Draft?"]}}? No.</think>\n{GOOD}',
        f'{{"thought": "{{}}"}} {GOOD}',
        f'{{"broken" {GOOD}',
        GOOD.replace("}", ', "confidence": 0.9}'),
        '{"cues": ["  Database "], "asks": [" Which database do we use? "]}',
    ],
)
def test_an_answer_is_found_in_whatever_stands_around_it(text: str) -> None:
    assert read(text) == READ


def test_no_cues_are_as_good_as_some() -> None:
    assert read(lists([], ["Which database?"])) == CueReply(cues=(), asks=("Which database?",))


def test_as_many_entries_as_there_may_be_and_as_long_ones_are_taken() -> None:
    cues = [f"{place}".ljust(CUE_CHARS_MAX, "x") for place in range(CUES_MAX)]
    asks = [f"{place}".ljust(ASK_CHARS_MAX, "x") for place in range(ASKS_MAX)]
    assert read(lists(cues, asks)) == CueReply(cues=tuple(cues), asks=tuple(asks))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", CueReplyFault.UNREADABLE),
        ("I cannot help with that.", CueReplyFault.UNREADABLE),
        ('{"cues": ["a"], "asks": ["b?"', CueReplyFault.UNREADABLE),
        (f'{{"broken": {GOOD}', CueReplyFault.UNREADABLE),
        ('{"a": ' * 2_000, CueReplyFault.UNREADABLE),
        ('{"cues": NaN, "asks": ["b?"]}', CueReplyFault.UNREADABLE),
        (r'{"cues": [], "asks": ["\ud83d"]}', CueReplyFault.UNREADABLE),
        ('{"asks": ["b?"]}', CueReplyFault.NO_LISTS),
        ('{"answer": {"cues": [], "asks": ["b?"]}}', CueReplyFault.NO_LISTS),
        (lists("Database", ["b?"]), CueReplyFault.WRONG_TYPE),
        (lists([], {"1": "b?"}), CueReplyFault.WRONG_TYPE),
        (lists([], ["b?", 7]), CueReplyFault.WRONG_TYPE),
        (lists([], ["b?", None]), CueReplyFault.WRONG_TYPE),
        (lists(None, ["b?"]), CueReplyFault.WRONG_TYPE),
        (lists([["a"]], ["b?"]), CueReplyFault.WRONG_TYPE),
        (lists(["a"], []), CueReplyFault.NO_ASKS),
        (lists(list("abcd"), ["b?"]), CueReplyFault.TOO_MANY),
        (lists([], ["a?", "b?", "c?", "d?", "e?"]), CueReplyFault.TOO_MANY),
        (lists([], ["b?", "  "]), CueReplyFault.EMPTY_ENTRY),
        (lists(["???"], ["b?"]), CueReplyFault.EMPTY_ENTRY),
        (lists(["x" * (CUE_CHARS_MAX + 1)], ["b?"]), CueReplyFault.ENTRY_TOO_LONG),
        (lists([], ["x" * (ASK_CHARS_MAX + 1)]), CueReplyFault.ENTRY_TOO_LONG),
        (lists(["a\nb"], ["b?"]), CueReplyFault.CONTROL_CHARACTER),
        (lists([], ["b\x00?"]), CueReplyFault.CONTROL_CHARACTER),
        (lists([], ["\x1b[2Jb?"]), CueReplyFault.CONTROL_CHARACTER),
        (lists([], ["b \u202e?"]), CueReplyFault.CONTROL_CHARACTER),
        (lists(["Tea", "tea "], ["b?"]), CueReplyFault.REPEATED),
        (lists([], ["Which tea?", "which  tea?"]), CueReplyFault.REPEATED),
        ("x" * (REPLY_CHARS_MAX + 1), CueReplyFault.REPLY_TOO_LONG),
    ],
)
def test_one_fault_refuses_the_whole_answer(text: str, fault: CueReplyFault) -> None:
    assert fault_of(text) is fault


def test_a_later_answer_that_is_wrong_is_not_made_up_for_by_a_draft() -> None:
    assert fault_of(f"{GOOD} {lists([], [7])}") is CueReplyFault.WRONG_TYPE


def test_an_answer_cut_at_the_token_ceiling_is_refused_however_good_it_looks() -> None:
    assert fault_of(GOOD, was_truncated=True) is CueReplyFault.TRUNCATED


def test_an_emoji_joined_of_several_is_no_control_character() -> None:
    assert read(lists(["\N{WOMAN}\u200d\N{PERSONAL COMPUTER}"], ["Who codes?"])) == CueReply(
        cues=("\N{WOMAN}\u200d\N{PERSONAL COMPUTER}",), asks=("Who codes?",)
    )


@pytest.mark.parametrize("text", [lists(["secret-word"] * 2, ["b?"]), lists(["secret-word\n!"], ["b?"])])
def test_what_is_said_of_a_refused_answer_quotes_nothing_of_it(text: str) -> None:
    error = read(text)
    assert isinstance(error, CueReplyError)
    assert "secret" not in error.detail


@given(st.text(max_size=200), st.booleans())
def test_no_text_makes_the_reader_fail(text: str, was_truncated: bool) -> None:  # noqa: FBT001 - hypothesis gives it
    assert isinstance(read(text, was_truncated=was_truncated), CueReply | CueReplyError)


@given(st.recursive(st.none() | st.booleans() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=4)))
def test_what_is_taken_is_always_within_the_limits(asks: object) -> None:
    reply = read(lists([], asks))
    if isinstance(reply, CueReply):
        assert 1 <= len(reply.asks) <= ASKS_MAX
        assert all(ask.strip() for ask in reply.asks)
