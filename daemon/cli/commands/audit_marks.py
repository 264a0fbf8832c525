"""Going through sampled decisions, one key for each mark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from recalld.daemon.cli.commands.review_loop import Keys, Said
from recalld.protocol.audit_items import SampleItem
from recalld.protocol.fields import SampleAnswerName

HELP: Final = "y yes, n no, u unsure, s skip, b back, q quit"
_END: Final = frozenset({"", "q", "quit", "\x03", "\x04", "\x1b"})
"""Nothing left to read, q, Ctrl-C, Ctrl-D and escape."""
_ANSWERS: Final[dict[str, SampleAnswerName]] = {
    "y": "yes",
    "yes": "yes",
    "n": "no",
    "no": "no",
    "u": "unsure",
    "unsure": "unsure",
}


class MarkScreen(Protocol):
    """Where samples are shown."""

    def show(self, sample: SampleItem, place: int, total: int) -> None:
        """One sample with what is asked of it, as the `place`th of `total`."""
        ...

    def say(self, text: str) -> None:
        """One line."""
        ...


class MarkDesk(Protocol):
    """Notes marks."""

    def mark(self, sample: SampleItem, answer: SampleAnswerName) -> Said:
        """Note what was said of it."""
        ...


class Marked(msgspec.Struct, kw_only=True):
    """What was said of each sample, by its id; what was skipped is not there."""

    answers: dict[str, SampleAnswerName] = {}
    left: int = 0
    """Not marked."""

    def count(self, answer: SampleAnswerName) -> int:
        """How many were marked so."""
        return sum(each == answer for each in self.answers.values())


def mark_all(samples: Sequence[SampleItem], desk: MarkDesk, keys: Keys, screen: MarkScreen) -> Marked:
    """Show each sample until a key marks or skips it; a mark that cannot be noted asks again.

    Args:
        samples: What is to be judged. "Back" returns to the one before, and a new mark takes the place of the old one.
        desk: Notes marks.
        keys: Where they come from.
        screen: Where samples are shown.
    """
    marked = Marked()
    place = 0
    while place < len(samples):
        sample = samples[place]
        screen.show(sample, place + 1, len(samples))
        key = _key(sample, desk, keys, screen, marked)
        if key == "q":
            break
        place = max(0, place - 1) if key == "b" else place + 1
    marked.left = len(samples) - len(marked.answers)
    return marked


def _key(sample: SampleItem, desk: MarkDesk, keys: Keys, screen: MarkScreen, marked: Marked) -> str:
    """Carry out what the keys say of one sample: `m` (marked), `s`, `b` or `q`."""
    while True:
        key = keys.next_key()
        match key:
            case "s" | "skip":
                return "s"
            case "b" | "back":
                return "b"
            case _ if key in _END:
                return "q"
            case _ if key in _ANSWERS:
                said = desk.mark(sample, _ANSWERS[key])
                if said.is_done:
                    marked.answers[sample.id] = _ANSWERS[key]
                    return "m"
                screen.say(said.text)
            case _:
                screen.say(HELP)
