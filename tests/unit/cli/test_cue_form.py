from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.daemon.cli.cue_form import CueForm, FormError, read_form, write_form
from recalld.protocol.items import MemoryItem


def memory(*, cues: tuple[str, ...] = (), asks: tuple[str, ...] = (), text: str = "Prefers tea") -> MemoryItem:
    return MemoryItem(
        id="mem_1",
        user="ines",
        text=text,
        kind="fact",
        scope="",
        cues=cues,
        asks=asks,
        source="explicit",
        status="active",
        created_at_ms=1,
        updated_at_ms=1,
        revision=1,
    )


STORED = memory(cues=("Drinks",), asks=("What do I drink?", "Tea or coffee?"))


def test_an_unedited_form_says_what_is_stored() -> None:
    assert read_form(write_form(STORED), STORED) == CueForm(cues=STORED.cues, asks=STORED.asks)


def test_the_form_shows_the_memory_and_says_how_to_write() -> None:
    form = write_form(STORED)
    assert "#   Prefers tea\n" in form
    assert "\ncue: Drinks\nask: What do I drink?\nask: Tea or coffee?\n" in form


@pytest.mark.parametrize("text", ["a\nask: Injected?", "a\r\nask: Injected?", "a\u2028ask: Injected?", "\x1b[2Jb"])
def test_stored_text_cannot_start_a_line_nor_steer_a_terminal(text: str) -> None:
    stored = memory(text=text, cues=(text,))
    form = write_form(stored)
    assert "\x1b" not in form
    assert read_form(form, stored) == CueForm(cues=(text,), asks=())


def test_lines_are_read_in_any_case_and_spacing_and_comments_and_blanks_are_not() -> None:
    form = read_form("# ask: no\n\n  CUE :  Tea: green \n ask:Which tea?\n", STORED)
    assert form == CueForm(cues=("Tea: green",), asks=("Which tea?",))


def test_removed_lines_remove_their_entries() -> None:
    assert read_form("", STORED) == CueForm(cues=(), asks=())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cue: a\nWhich tea?", "line 2: starts with neither `cue:` nor `ask:`; put one of them in front"),
        ("question: a?", "line 1: starts with neither"),
        ("\n\nask:", "line 3: has no text behind `ask:`; write some, or remove the line"),
        (f"cue: {'x' * 121}", "line 1: has 121 characters; shorten it to 120"),
        (f"ask: {'x' * 241}", "line 1: has 241 characters; shorten it to 240"),
        ("cue: a\ncue: b\ncue: c\ncue: d", "line 4: is one cue too many; at most 3 are kept"),
        ("ask: a\n" * 5, "line 5: is one ask too many; at most 4 are kept"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_with_its_remedy(text: str, message: str) -> None:
    with pytest.raises(FormError, match="line") as error:
        read_form(text, STORED)
    assert message in error.value.message


@given(st.text(max_size=200))
def test_whatever_is_saved_is_read_or_refused_by_its_line(text: str) -> None:
    try:
        form = read_form(text, STORED)
    except FormError as error:
        form, message = CueForm(cues=(), asks=()), error.message
    else:
        message = "line"
    assert message.startswith("line")
    assert len(form.cues) <= 3
    assert len(form.asks) <= 4
