from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import (
    ASK_CHARS_MAX,
    CUE_CHARS_MAX,
    MEMORY_CHARS_MAX,
    SCOPE_CHARS_MAX,
    USER_BYTES_MAX,
    NewMemory,
)
from recalld.models.policy.memory_checks import check_new_memory, check_scope, check_user

NOW_MS = 1_000_000
GOOD = NewMemory(user="ines", text="Lives in Lisbon", cues=("home",), asks=("Where do I live?",))


def test_a_good_memory_is_kept_as_written_but_for_white_space_around_it() -> None:
    assert check_new_memory(GOOD, now_ms=NOW_MS) == GOOD
    spaced = msgspec.structs.replace(GOOD, text="  Lives in Lisbon\n", cues=(" home ",))
    assert check_new_memory(spaced, now_ms=NOW_MS) == GOOD


def test_inner_line_breaks_and_double_spaces_stay() -> None:
    steps = msgspec.structs.replace(GOOD, text="1.  bump\n\n2. tag\tpush")
    assert check_new_memory(steps, now_ms=NOW_MS).text == steps.text


def test_repeated_cues_and_asks_are_dropped_after_folding_and_the_first_spelling_stays() -> None:
    repeated = msgspec.structs.replace(GOOD, cues=("Home", "home.", "city"), asks=("Where do I live?",) * 6)
    checked = check_new_memory(repeated, now_ms=NOW_MS)
    assert checked.cues == ("Home", "city")
    assert checked.asks == ("Where do I live?",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"user": ""}, "user: is blank"),
        ({"user": " \t"}, "user: is blank"),
        ({"user": "x" * (USER_BYTES_MAX + 1)}, f"user: is 257 bytes; use at most {USER_BYTES_MAX}"),
        ({"user": "\u00e9" * 129}, "user: is 258 bytes"),
        ({"user": "a\0b"}, "user: contains a NUL"),
        ({"user": "a\ud800"}, "user: contains a lone surrogate at character 1"),
        ({"user": "\u200b\u3164"}, "user: is blank"),
        ({"user": "u\0"}, "user: contains a NUL"),
        ({"text": "\u2800"}, "text: is blank"),
        ({"text": "\u3164 \u115f"}, "text: is blank"),
        ({"text": "\ufe0f\u00ad"}, "text: is blank"),
        ({"cues": ("\u2800",)}, r"cues\[0\]: is blank"),
        ({"scope": "\u3164"}, "scope: is only white space"),
        ({"scope": " "}, "scope: is only white space"),
        ({"scope": "x" * (SCOPE_CHARS_MAX + 1)}, "scope: is 257 characters"),
        ({"scope": "a\0"}, "scope: contains a NUL"),
        ({"text": ""}, "text: is blank"),
        ({"text": " \n\u200b\u2060"}, "text: is blank"),
        ({"text": "x" * (MEMORY_CHARS_MAX + 1)}, "text: is 8001 characters"),
        ({"text": "a\0b"}, "text: contains a NUL"),
        ({"text": "a\udfffb"}, "text: contains a lone surrogate"),
        ({"cues": ("a", "b", "c", "d")}, "cues: has 4 entries; use at most 3"),
        ({"cues": ("a", " ")}, r"cues\[1\]: is blank; leave it out"),
        ({"cues": ("x" * (CUE_CHARS_MAX + 1),)}, r"cues\[0\]: is 121 characters"),
        ({"asks": ("a", "b", "c", "d", "e")}, "asks: has 5 entries; use at most 4"),
        ({"asks": ("x" * (ASK_CHARS_MAX + 1),)}, r"asks\[0\]: is 241 characters"),
        ({"asks": ("ok?", "a\0")}, r"asks\[1\]: contains a NUL"),
        ({"expires_at_ms": NOW_MS}, "expires_at: is not in the future"),
    ],
)
def test_a_memory_that_breaks_a_rule_is_refused_by_field_and_remedy(change: dict[str, object], message: str) -> None:
    with pytest.raises(RecalldError, match=message) as caught:
        check_new_memory(msgspec.structs.replace(GOOD, **change), now_ms=NOW_MS)
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_limits_themselves_are_allowed() -> None:
    largest = NewMemory(
        user="x" * USER_BYTES_MAX,
        text="x" * MEMORY_CHARS_MAX,
        scope="s" * SCOPE_CHARS_MAX,
        cues=tuple(letter * CUE_CHARS_MAX for letter in "abc"),
        asks=tuple(letter * ASK_CHARS_MAX for letter in "abcd"),
        expires_at_ms=NOW_MS + 1,
    )
    assert check_new_memory(largest, now_ms=NOW_MS) == largest


@given(st.text(st.characters(), max_size=40))
def test_checking_twice_changes_nothing(text: str) -> None:
    try:
        once = check_new_memory(msgspec.structs.replace(GOOD, text=text), now_ms=NOW_MS)
    except RecalldError:
        return
    assert check_new_memory(once, now_ms=NOW_MS) == once
    once.text.encode()


def test_users_and_scopes_are_checked_alone_too() -> None:
    check_user("test_user%")
    check_scope("")
    with pytest.raises(RecalldError, match="user"):
        check_user("\n")
    with pytest.raises(RecalldError, match="scope"):
        check_scope("\t")
