"""The table of a recall's candidates: what it shows, what it leaves out, and how it fits a narrow terminal."""

from __future__ import annotations

import io

import msgspec
import pytest
from rich.console import Console

from recalld.daemon.cli.commands.candidates_table import SCORES, CandidateLine, write_candidates

FULL = CandidateLine(
    memory_id="mem_1",
    text="Mei works from Monday to Thursday.",
    verdict="recalled",
    is_recalled=True,
    cosine=0.71,
    cue=0.5,
    ask=0.8,
    words=1.5,
    mention=1.0,
    logit=-10.25,
    relevance=0.93,
    threshold=0.02,
)
BARE = CandidateLine(memory_id="mem_2", verdict="dropped, not relevant", is_recalled=False, cosine=0.6)


def shown(*lines: CandidateLine, width: int = 200) -> str:
    out = io.StringIO()
    write_candidates(lines, Console(file=out, width=width, soft_wrap=True))
    return out.getvalue()


def test_each_candidate_has_a_rank_a_verdict_its_scores_and_the_start_of_its_text() -> None:
    out = shown(FULL, BARE)
    header, _, first, second = out.splitlines()
    assert [name for name in SCORES if name in header] == list(SCORES)
    for cell in ("1", "recalled", "0.710", "0.500", "0.800", "1.500", "1.000", "-10.250", "0.930", "0.020"):
        assert cell in first
    assert "Mei works from Monday to Thursday. [mem_1]" in first
    assert "2" in second
    assert "dropped, not relevant" in second
    assert "mem_2" in second


@pytest.mark.parametrize("name", SCORES)
def test_a_column_that_no_row_fills_is_left_out(name: str) -> None:
    assert name not in shown(BARE).splitlines()[0] or name == "cosine"
    assert name in shown(FULL).splitlines()[0]


def test_a_column_of_zeros_for_what_is_mentioned_is_left_out() -> None:
    unmentioned = msgspec.structs.replace(FULL, mention=0.0)
    assert "mention" not in shown(unmentioned, BARE)
    assert "mention" in shown(unmentioned, FULL)


@pytest.mark.parametrize("width", [36, 60, 80, 100, 120, 160])
def test_no_number_is_cut_and_no_line_is_wider_than_the_terminal(width: int) -> None:
    out = shown(FULL, BARE, width=width)
    for number in ("0.710", "0.500", "0.800", "1.500", "1.000", "-10.250", "0.930", "0.020"):
        assert number in out
    assert max(map(len, out.splitlines())) <= width
    assert "mem_1" in out
    if "│" in out:
        assert len(out.splitlines()) == 2 + len((FULL, BARE))


def test_memories_are_shortened_to_the_width_that_is_left_and_their_ids_are_not() -> None:
    rows = [line for line in shown(FULL, BARE, width=125).splitlines() if "mem_" in line]
    assert [("… [mem_1]" in row, "mem_2" in row) for row in rows] == [(True, False), (False, True)]
    assert "Monday to Thursday. [mem_1]" in shown(FULL, BARE, width=160)


def test_those_left_out_are_counted_by_what_they_came_to() -> None:
    far = [
        CandidateLine(memory_id=f"mem_{n}", verdict=f"dropped, {why}", is_recalled=False)
        for n, why in enumerate(["too far", "too far", "excluded"], start=3)
    ]
    out = io.StringIO()
    write_candidates((FULL, *far), Console(file=out, width=200, soft_wrap=True), rest_max=1)
    assert "mem_3" in out.getvalue()
    assert "mem_4" not in out.getvalue()
    assert out.getvalue().splitlines()[-1] == "… and 1 too far, 1 excluded (--all shows them)"


def test_nothing_is_printed_for_no_candidates() -> None:
    assert shown() == ""


def test_stored_text_is_cut_and_cannot_steer_the_terminal() -> None:
    long = CandidateLine(
        memory_id="mem_\x1b[2J", text="\x1b]0;x\x07" + "word " * 100, verdict="recalled", is_recalled=True
    )
    out = shown(long)
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "…" in out
