"""How `recalld audit` shows sampled decisions."""

from __future__ import annotations

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from recalld.daemon.cli.commands.audit_marks import HELP
from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import SAMPLE_QUESTIONS, in_words
from recalld.protocol.audit_items import SampleItem


class ConsoleMarkScreen:
    """Shows samples in panels.

    Args:
        console: Where to.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def show(self, sample: SampleItem, place: int, total: int) -> None:
        """One sample, with the question that its kind asks."""
        question = in_words(sample.kind, SAMPLE_QUESTIONS)
        body = Text("\n".join(sample_lines(sample)))
        title = Text(f"{place} of {total}: {question}")
        self._console.print(Panel(body, title=title, subtitle=Text(HELP), title_align="left", subtitle_align="left"))

    def say(self, text: str) -> None:
        """One line."""
        self._console.print(Text(text))


def sample_lines(sample: SampleItem) -> list[str]:
    """A sample in words: the turn, the memory, and what was decided when."""
    lines = [f"  said:   {printable(sample.text)}"] if sample.text else []
    if sample.memory_id:
        gone = "(not there any more)"
        lines.append(f"  memory: {printable(sample.memory_text) or gone}")
    judged = f", relevance {sample.relevance:.2f}" if sample.relevance is not None else ""
    lines.append(f"  {moment(sample.at_ms)}  {printable(sample.reason)}{judged}  {printable(sample.decision_id)}")
    if sample.answer is not None:
        lines.append(f"  marked {printable(sample.answer)} by {printable(sample.marked_by)}")
    return lines
