"""One fact that waits, on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from recalld.daemon.cli.commands.review_items import Waiting
from recalld.daemon.cli.commands.review_loop import HELP
from recalld.daemon.cli.commands.why_view import said_lines
from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import ADMISSION_REASONS, counted, duration_in_words, in_words
from recalld.protocol.items import EvidenceItem
from recalld.protocol.portable_items import PortableEvidence

TURNS_SHOWN: Final = 5


class ConsoleScreen:
    """Shows what waits in panels.

    Args:
        console: Where to.
        now_ms: Present time, Unix epoch milliseconds.
    """

    def __init__(self, console: Console, *, now_ms: int) -> None:
        self._console = console
        self._now_ms = now_ms

    def show(self, item: Waiting, place: int, total: int) -> None:
        """One that waits."""
        body = Text("\n".join((printable(item.text), *waiting_lines(item, now_ms=self._now_ms))))
        title = Text(f"{place} of {total}: {item.sort} {printable(item.id)}")
        self._console.print(Panel(body, title=title, subtitle=Text(HELP), title_align="left", subtitle_align="left"))

    def say(self, text: str) -> None:
        """One line."""
        self._console.print(Text(text))


def waiting_lines(item: Waiting, *, now_ms: int) -> Iterator[str]:
    """Why it waits, until when, and which turns speak for it; the newest of them."""
    ends = "  ends what is stored\n" if item.is_ending else ""
    slot = f", {printable(item.slot)}" if item.slot else ""
    yield f"{ends}  {item.kind}, {printable(item.scope) or 'everywhere'}{slot}"
    by = f", brought by {printable(item.proposer)}" if item.proposer else ""
    yield f"  why: {in_words(item.reason, ADMISSION_REASONS)}{by}"
    age_s = max(0, now_ms - item.since_ms) / 1000
    yield f"  for {duration_in_words(age_s)}, until {moment(item.until_ms)}"
    count = f"{counted(item.turns, 'turn')} in {counted(item.sessions, 'session')}"
    yield f"  {count}:" if item.evidence else f"  {count}"
    for each in item.evidence[-TURNS_SHOWN:]:
        first, *why = said_lines(_as_item(each))
        yield f"    {moment(each.at_ms)}  {first}"
        yield from (f"      {line}" for line in why)
    if len(item.evidence) > TURNS_SHOWN:
        yield f"    … and {len(item.evidence) - TURNS_SHOWN} earlier"


def _as_item(evidence: PortableEvidence) -> EvidenceItem:
    return EvidenceItem(
        session=evidence.session,
        turn_id=evidence.turn_id,
        at_ms=evidence.at_ms,
        generator=evidence.generator,
        rule=evidence.rule,
        reason=evidence.reason,
        quote=evidence.quote,
    )
