from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy import host_text
from recalld.models.policy.host_text import strip_host_text

pieces = st.lists(
    st.sampled_from(
        [
            "<system-reminder>",
            "</system-reminder>",
            "<recalled-memory a='b'>",
            "</recalled-memory>",
            "hello",
            "\n",
            " ",
            "<sys",
            "tem-reminder>",
            "System: [",
            "```",
            "```json",
            "{",
            "}",
            "[2026-04-13 12:34]",
            "Conversation info (untrusted metadata)",
        ]
    ),
    max_size=25,
).map("".join)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain words", "plain words"),
        ("  a\n\nb  ", "a\n\nb"),
        ("<system-reminder>x</system-reminder>hello", "hello"),
        ("hello <SYSTEM-REMINDER>x</System-Reminder>", "hello"),
        ("a <system-reminder>x<system-reminder>y</system-reminder>z</system-reminder> b", "a \n b"),
        ("hello <system-reminder>never closed", "hello"),
        ('hello <recalled-memory user="x" n="1">tea', "hello"),
        ("<recalled-memory>a <system-reminder> b</recalled-memory>hello", "hello"),
        ("<recalled-memory>a</recalled-memory>b<recalled-memory>c</recalled-memory>", "b"),
        ("<system_reminder>x</system-reminder>hello", "hello"),
        ("< system reminder >x</ system_reminder >hello", "hello"),
        ("&lt;system-reminder&gt;x&lt;/system-reminder&gt;hello &lt;b&gt;", "hello &lt;b&gt;"),
        ("\uff1csystem-reminder\uff1ex\uff1c/system-reminder\uff1ehello", "hello"),
        ("<system-reminder/>hello", "hello"),
        ("<tool_result>a<tool_result/>b</tool_result>hello", "hello"),
        ("<document>x</document> is what I wrote", "<document>x</document> is what I wrote"),
        ("lone </recalled-memory> end", "lone \n end"),
        ("<tool_result>always use metric</tool_result>ok then", "ok then"),
        ("<system-reminders>are not ours</system-reminders>", "<system-reminders>are not ours</system-reminders>"),
        ('Conversation info (untrusted metadata): {"note":"from now on use UTC"}\nhi', "hi"),
        ('Conversation info (untrusted metadata):\n```json\n{"a": 1}\n```\nhi', "hi"),
        ("Conversation info (untrusted metadata):\n```json\nnever closed", ""),
        ('Conversation info (untrusted metadata):\n{\n  "a": {}\n}\nhi', "hi"),
        ('SENDER (Untrusted Metadata): {\n  "a": 1\n}\nhi', "hi"),
        ('Sender (untrusted metadata):\n\n{"a": 1}\nhi', "hi"),
        ("Sender (untrusted metadata):\nhi", "hi"),
        ('Sender (untrusted metadata):\n["a", "b"]\nhi', '["a", "b"]\nhi'),
        ("Sender (untrusted metadata):\n[\n1\n]\nhi", "hi"),
        ("Sender (untrusted metadata):\n{ never closed\nhi", "{ never closed\nhi"),
        ("[media attached: a.jpg]\nwhat is this", "what is this"),
        ("[Mon 2026-04-13 12:34 EDT] thanks", "thanks"),
        ("[2026-04-13T12:34:56Z] [WhatsApp 2026-04-13 12:34] thanks", "thanks"),
        ("see [Mon 2026-04-13 12:34 EDT] above", "see [Mon 2026-04-13 12:34 EDT] above"),
        ("[1] a footnote", "[1] a footnote"),
        ("", ""),
    ],
)
def test_host_text_goes_and_the_users_words_stay(text: str, expected: str) -> None:
    assert strip_host_text(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("lone </recalled-memory> end", ""),
        ("<recalled-memory>a</recalled-memory></recalled-memory>b", ""),
        ("Sender (untrusted metadata):\nhi\n\nhello", "hello"),
        ('Sender (untrusted metadata):\n{"a": 1}\nhi', "hi"),
        ("[media attached: a.jpg]\nDescription: tea", ""),
        ("\n    indented", "    indented"),
        ("<system-reminder>x</system-reminder>hello", "hello"),
    ],
)
def test_strictly_what_may_be_the_hosts_goes_too(text: str, expected: str) -> None:
    assert strip_host_text(text, is_strict=True).strip("\n") == expected


def test_cutting_a_block_never_joins_two_halves_of_a_tag() -> None:
    text = "<sys<system-reminder>x</system-reminder>tem-reminder>kept"
    assert strip_host_text(text) == "<sys\ntem-reminder>kept"


def test_markers_can_be_replaced() -> None:
    assert strip_host_text("HOST: x\nhi", line_markers=("HOST:",)) == "hi"
    assert strip_host_text("System: [x\nhi", line_markers=()) == "System: [x\nhi"


def test_text_built_to_uncover_more_host_text_each_time_is_nobodys() -> None:
    def nested(depth: int) -> str:
        inner = "System: [<"
        for _ in range(depth):
            inner = f"<system-reminder\n{inner}\n></system-reminder\n{inner}\n>"
        return f"{inner}evil"

    assert strip_host_text(nested(1)) == strip_host_text(nested(3)) == "evil"
    assert strip_host_text(nested(9)) == ""


@given(pieces)
def test_stripping_twice_changes_nothing(text: str) -> None:
    for is_strict in (False, True):
        once = strip_host_text(text, is_strict=is_strict)
        assert strip_host_text(once, is_strict=is_strict) == once


@given(pieces, st.booleans())
def test_the_quick_look_for_marked_lines_changes_nothing(text: str, is_strict: bool) -> None:  # noqa: FBT001 - drawn
    quick = strip_host_text(text, is_strict=is_strict)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_text, "_may_have_marked_lines", lambda _text, _markers: True)
        assert strip_host_text(text, is_strict=is_strict) == quick


def test_lines_without_any_mark_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(host_text, "_without_stamps", lambda line: looked_at.append(line) or line)
    assert strip_host_text("a\n" * 30_000 + "b").endswith("b")
    assert looked_at == []
    strip_host_text("a\nSystem: [x]\nb")
    assert looked_at
