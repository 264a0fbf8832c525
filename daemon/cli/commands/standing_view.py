"""How a standing block is shown to a person."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recalld.daemon.cli.commands.candidates_table import labelled
from recalld.daemon.cli.consoles import table_console
from recalld.daemon.cli.outcome_lines import counts_in_words
from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import (
    STANDING_REASONS,
    STANDING_VERDICTS,
    STANDING_WORDS,
    age_in_words,
    counted,
    in_words,
)
from recalld.models.domain.standing import StandingVerdict
from recalld.protocol.items import StandingItem, StandingRank
from recalld.protocol.replies import StandingBlock

NEARLY_FULL: Final = 0.9
"""From this share of its characters on, a person is told that the block is nearly full."""
_NOTE: Final = (
    "Useful is the expected share of turns in which a memory averts an error; value is that, in words of error for "
    "each word it costs. `recalld standing pin`, `demote` and `restore` decide otherwise."
)


def write_block(block: StandingBlock, *, is_explained: bool, console: Console | None = None) -> None:
    """Print a block, or why there is none, in words.

    Args:
        block: The daemon's answer.
        is_explained: Also show how every candidate was judged.
        console: Where to print; standard output by default.
    """
    out = console or table_console()
    out.print(Text(_headline(block)), highlight=False)
    for item in block.items:
        out.print(Text(_item_line(item)), highlight=False)
    for pointer in block.pointers:
        out.print(Text(f"  demoted: {pointer.kind} {printable(pointer.id)}: {printable(pointer.cue)}"), highlight=False)
    if is_explained and block.ranking:
        out.print(_table(block.ranking))
        out.print(Text(_NOTE, style="dim"), highlight=False)
    for line in _footnotes(block):
        out.print(Text(line, style="dim"), highlight=False)


def _headline(block: StandingBlock) -> str:
    reason = in_words(block.reason, STANDING_REASONS)
    if not block.items:
        return reason
    noun, verb = ("memory", "stands") if len(block.items) == 1 else ("memories", "stand")
    return f"{len(block.items)} {noun} {verb} before anything is asked:"


def _item_line(item: StandingItem) -> str:
    place = f" ({printable(item.scope)})" if item.scope else ""
    pinned = ", pinned" if item.is_pinned else ""
    return f"  {printable(item.text)}  [{item.kind}{place}, {age_in_words(item.age_s)}{pinned}, {item.id}]"


def _table(ranking: tuple[StandingRank, ...]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for name in ("rank", "useful", "value", "words"):
        table.add_column(name, justify="right")
    for name in ("evidence", "outcomes", "verdict"):
        table.add_column(name)
    table.add_column("memory", overflow="fold", min_width=24)
    for place, row in enumerate(ranking, start=1):
        verdict = Text(in_words(row.verdict, STANDING_VERDICTS))
        if row.verdict == StandingVerdict.SHOWN:
            verdict.stylize("bold")
        table.add_row(
            str(place),
            f"{row.usefulness:.2f}",
            f"{row.value:.2f}",
            str(row.words),
            Text(_evidence(row)),
            Text(counts_in_words(row.outcomes) or "none"),
            verdict,
            Text(labelled(row.id, row.cue)),
        )
    return table


def _evidence(row: StandingRank) -> str:
    said = f", said {row.turns} times" if row.turns > 1 else ""
    choice = f", {row.choice}" if row.choice else ""
    # An older daemon tells which gate let it in, and not whose word it is.
    word = in_words(row.word, STANDING_WORDS) if row.word else row.source
    return f"{word}{said}{choice}"


def _footnotes(block: StandingBlock) -> list[str]:
    lines = []
    if block.chars_max:
        share = block.chars / block.chars_max
        room = " The block is nearly full; `recalld standing demote ID` makes room." if share >= NEARLY_FULL else ""
        lines.append(f"{block.chars} of {block.chars_max} characters, about {counted(block.tokens, 'token')}.{room}")
    if block.left_out:
        lines.append(f"{block.left_out} more without a place; --explain shows them.")
    if block.decision_id:
        lines.append(f"`recalld explain {block.decision_id}` shows the decision.")
    return lines
