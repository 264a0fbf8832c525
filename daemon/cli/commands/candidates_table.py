"""The candidates of a recall as a table: what was measured of each, and what it came to.

Columns that no row fills are left out, and memories are shortened to the width that is left, so that each candidate
takes one line. Where the terminal is too narrow for that, each gets lines of its own: neither a number nor an id is
ever cut.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recalld.daemon.cli.output import printable

TEXT_CHARS_MAX: Final = 90
REST_MAX: Final = 5
"""Candidates shown of those that never came to the gate: enough to see how near the others were."""
_TEXT_WIDTH_MIN: Final = 12
"""Shorter beginnings say nothing; then the id stands alone."""
_DROPPED: Final = "dropped, "
_GAP_WIDTH: Final = 3
"""What stands between two columns."""
_NO_SCORE: Final = "-"


class CandidateLine(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate.

    Attributes:
        memory_id: Its id.
        text: The start of its text; empty when it is not known.
        verdict: What it came to and why, in words.
        is_recalled: Whether it was handed over.
        cosine: Query against its text.
        cue: Query against its nearest heading.
        ask: Query against the nearest question it answers.
        words: Full-text score.
        mention: How far the query names what it is about.
        logit: The cross-encoder's output.
        relevance: What the gate made of all that.
        threshold: What the relevance was held against.
    """

    memory_id: str
    text: str = ""
    verdict: str
    is_recalled: bool
    cosine: float | None = None
    cue: float | None = None
    ask: float | None = None
    words: float | None = None
    mention: float | None = None
    logit: float | None = None
    relevance: float | None = None
    threshold: float | None = None


SCORES: Final = ("cosine", "cue", "ask", "words", "mention", "logit", "relevance", "threshold")


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate and its place among all of them, from 1."""

    rank: int
    line: CandidateLine


def chosen(lines: Sequence[CandidateLine], *, rest_max: int | None = REST_MAX) -> list[Ranked]:
    """The candidates to show: those that came to the gate or were handed over, and a few of the others.

    Args:
        lines: All candidates, in the order in which they are numbered.
        rest_max: Others at most; None: all.
    """
    found: list[Ranked] = []
    rest = 0
    for rank, line in enumerate(lines, start=1):
        if not (line.is_recalled or line.logit is not None or line.relevance is not None):
            rest += 1
            if rest_max is not None and rest > rest_max:
                continue
        found.append(Ranked(rank=rank, line=line))
    return found


def write_candidates(
    lines: Sequence[CandidateLine], out: Console, *, rest_max: int | None = None, all_option: str = "--all"
) -> None:
    """Print candidates in the order given, numbered from 1; nothing when there are none.

    Args:
        lines: All candidates.
        out: Where to print.
        rest_max: As in `chosen`; what is left out is counted in a last line.
        all_option: The option that shows all of them.
    """
    if not lines:
        return
    shown = chosen(lines, rest_max=rest_max)
    columns = [name for name in SCORES if any(_says_something(each.line, name) for each in shown)]
    room = out.width - _table_width(shown, columns)
    if room >= max(len(printable(each.line.memory_id)) for each in shown):
        out.print(_table(shown, columns, room))
    else:
        _write_list(shown, columns, out)
    if left_out := _left_out(lines, shown):
        out.print(Text(f"… and {left_out} ({all_option} shows them)", style="dim"), highlight=False)


def _left_out(lines: Sequence[CandidateLine], shown: Sequence[Ranked]) -> str:
    """What is not shown, by verdict, such as `16 not similar enough`; empty when all of it is."""
    ranks = {each.rank for each in shown}
    hidden = Counter(
        line.verdict.removeprefix(_DROPPED) for rank, line in enumerate(lines, start=1) if rank not in ranks
    )
    return ", ".join(f"{count} {verdict}" for verdict, count in hidden.most_common())


def _write_list(shown: Sequence[Ranked], columns: Sequence[str], out: Console) -> None:
    for each in shown:
        line, start = each.line, f"{each.rank}. {each.line.verdict}: "
        out.print(Text(start + _fitted(line, out.width - len(start))), highlight=False)
        scores = ", ".join(
            f"{name}\N{NO-BREAK SPACE}{_shown(line, name)}" for name in columns if _score(line, name) is not None
        )
        for part in textwrap.wrap(scores, out.width, initial_indent="   ", subsequent_indent="   "):
            out.print(Text(part.replace("\N{NO-BREAK SPACE}", " "), style="dim"), highlight=False)


def _fitted(line: CandidateLine, width: int) -> str:
    """A memory in one cell of a width: as much of its text as there is room for, and its id whole."""
    room = width - len(f" [{printable(line.memory_id)}]")
    if not line.text or room < min(_TEXT_WIDTH_MIN, len(line.text)):
        return printable(line.memory_id)
    return f"{printable(line.text, chars_max=min(room, TEXT_CHARS_MAX))} [{printable(line.memory_id)}]"


def labelled(memory_id: str, text: str | None) -> str:
    """A memory in one cell: the start of its text if that is known, and its id."""
    return f"{printable(text, chars_max=TEXT_CHARS_MAX)} [{printable(memory_id)}]" if text else printable(memory_id)


def _table(shown: Sequence[Ranked], columns: Sequence[str], room: int) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("memory", no_wrap=True)
    for each in shown:
        line = each.line
        verdict = Text(line.verdict, style="bold" if line.is_recalled else "")
        scores = (_shown(line, name) for name in columns)
        table.add_row(str(each.rank), verdict, *scores, Text(_fitted(line, room)))
    return table


def _table_width(shown: Sequence[Ranked], columns: Sequence[str]) -> int:
    """Columns of a terminal that the table needs beside its memories."""
    lines = [each.line for each in shown]
    widths = [
        len(str(shown[-1].rank)),
        max(len("verdict"), *(len(line.verdict) for line in lines)),
        *(max(len(name), *(len(_shown(line, name)) for line in lines)) for name in columns),
    ]
    return sum(widths) + _GAP_WIDTH * len(widths)


def _says_something(line: CandidateLine, name: str) -> bool:
    """Whether a row fills a column; that the query names none of the candidates' subjects is no column of zeros."""
    value = _score(line, name)
    return value is not None and (name != "mention" or value > 0.0)


def _score(line: CandidateLine, name: str) -> float | None:
    value: float | None = getattr(line, name)
    return value


def _shown(line: CandidateLine, name: str) -> str:
    value = _score(line, name)
    return _NO_SCORE if value is None else f"{value:.3f}"
