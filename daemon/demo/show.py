"""The demo for people: each turn with what floor-only recall would have injected, what the gate injects, and why."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from recalld.daemon.demo.material import DemoTurn
from recalld.daemon.demo.outcome import Summary, TurnDocument

INDENT_AND_SCORE = 34
"""Columns around a memory's text; the text gets the rest of one line."""

_WHY = {
    "relevant": "the gate found it relevant",
    "passed_floor": "no gate judged it: it passed the similarity floor",
    "gated": "near, but the gate found none of it relevant",
    "below_floor": "nothing stored is near enough to be worth judging",
    "no_candidates": "neither words nor meaning nominated anything",
    "acknowledgement": "a bare thanks or acknowledgement: no search was warranted",
    "no_user_text": "no words of the user's own",
    "no_searchable_terms": "only punctuation: nothing to search for",
    "slash_command": "a command: no search was warranted",
    "arithmetic": "plain arithmetic: no search was warranted",
}


class Screen:
    """Prints the demo.

    Args:
        console: Where to.
        texts: Text of each memory by the daemon's id.
    """

    def __init__(self, console: Console, texts: Mapping[str, str]) -> None:
        self._console = console
        self._texts = texts

    def heading(self, text: str) -> None:
        """A new section."""
        self._console.print(f"\n[bold]{escape(text)}[/bold]")

    def note(self, text: str) -> None:
        """A plain line."""
        self._console.print(escape(text))

    def turn(self, document: TurnDocument, turn: DemoTurn) -> None:
        """One turn."""
        self._console.print(f"\n[bold]{document.turn:>2}  {escape(turn.query)}[/bold]")
        self._line("floor only", _count(len(document.floor_items)) or "nothing")
        for memory_id in document.floor_items:
            self._memory(memory_id, None, document)
        self._line("recalld", _count(len(document.items)) or "silent")
        for item in document.items:
            self._memory(item.id, item.relevance, document)
        why = _WHY.get(document.reason, document.reason)
        timing = f"gate {document.gate_ms:.0f} ms, in all {document.total_ms:.0f} ms"
        self._line("why", f"{why} ({document.mode}/{document.reason}; {timing})")
        self._line("right?", _verdict(document))

    def _line(self, label: str, text: str) -> None:
        self._console.print(f"    [dim]{label:<10}[/dim] {escape(text)}")

    def _memory(self, memory_id: str, relevance: float | None, document: TurnDocument) -> None:
        mark = "[green]+[/green]" if memory_id in document.relevant else "[red]-[/red]"
        score = "" if relevance is None else f" [dim](relevance {relevance:.2f})[/dim]"
        text = Text(self._texts.get(memory_id, memory_id))
        text.truncate(max(20, self._console.width - INDENT_AND_SCORE), overflow="ellipsis")
        self._console.print(f"               {mark} {escape(text.plain)}{score}")

    def summary(self, summary: Summary, floor_silent: int, floor_kept: int) -> None:
        """The last section."""
        self.heading("In short")
        self.note(
            f"{summary.nothing_relevant} turns with nothing relevant: recalld silent on {summary.silent_correct}, "
            f"floor only on {floor_silent}"
        )
        self.note(
            f"{summary.relevant_turns} turns with something relevant: recalld kept {summary.relevant_kept}, "
            f"floor only {floor_kept}"
        )
        self.note(f"{summary.degraded_events} memory_recall_gate_degraded event(s) while the scorer was broken")


def _count(memories: int) -> str:
    return "" if not memories else f"{memories} memor{'y' if memories == 1 else 'ies'}"


def _verdict(document: TurnDocument) -> str:
    if not document.relevant:
        return "yes, nothing stored helps" if document.is_silent else "no, nothing stored helps here"
    if document.has_kept:
        return "yes, what helps is there"
    return "no, what helps is missing"
