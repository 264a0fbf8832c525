"""The turns that the write path is fitted and measured on: each with the facts it states, and a second reader's word.

The shipped rows lie beside this module, one file per style of writing; the README there says who wrote what and how.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import msgspec

from recalld.models.calibration.intervals import cohen_kappa
from recalld.models.domain.facts import Span
from recalld.models.domain.records import MemoryKind

STYLES = (
    "backend-devs",
    "canonical-short",
    "chatty-informal",
    "coding-agent",
    "corrections-and-rules",
    "creative",
    "data-people",
    "desk-mixed",
    "dictation",
    "everyday-terse",
    "family-desk",
    "french",
    "french-spanish-mixed",
    "french-work",
    "german",
    "german-mixed",
    "german-private",
    "health-money",
    "homelab",
    "household",
    "long-asks",
    "long-private",
    "makers",
    "night-shift",
    "office-formal",
    "oncall",
    "ops-plain",
    "plain-team",
    "platform-owners",
    "platform-team",
    "private-plain",
    "rambling",
    "research",
    "small-business",
    "spanish",
    "spanish-work",
    "terminal",
    "travel-food",
)
"""The shipped files, one per style."""


class AdmissionDataError(ValueError):
    """A file of labelled turns cannot be used; the message names file and line."""


class StatedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact worth storing that a turn states.

    Attributes:
        quote: The words of the turn that state it, literally.
        kind: What sort of memory it is.
        slot: What it states a value of; `other` for none.
        statement: The fact in the third person.
        expires: In words what ends it; None: nothing foreseen.
    """

    quote: str
    kind: MemoryKind
    slot: str = "other"
    statement: str
    expires: str | None = None


class SecondReading(msgspec.Struct, frozen=True, kw_only=True):
    """What a second reader, who saw the text alone, made of a turn.

    Attributes:
        stores: Whether the turn states anything worth storing.
        quotes: The words that state it, literally.
        unsure: The reader called it in between.
    """

    stores: bool
    quotes: tuple[str, ...] = ()
    unsure: bool = False


class AdmissionRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One labelled turn.

    Attributes:
        id: Unique over all files.
        style: The set it belongs to; fits are tried on styles they have not seen.
        language: What it is written in, as a code of two letters.
        text: What the user said.
        facts: What it states that is worth storing.
        reason: Why nothing of it is; empty where something is.
        second: The second reading; None: there was none.
        disputed: The two readings disagree on whether it states anything. Fits and figures leave such rows out.
    """

    id: str
    style: str
    language: str = "en"
    text: str
    facts: tuple[StatedFact, ...] = ()
    reason: str = ""
    second: SecondReading | None = None
    disputed: bool = False

    def quoted(self, text: str) -> tuple[Span, ...]:
        """Where the quotes of both readers stand in `text`, the user's own words of this turn.

        Those of the second reader count only where the first found a fact as well.
        """
        quotes = [fact.quote for fact in self.facts]
        if quotes and self.second is not None:
            quotes += self.second.quotes
        places = ((text.find(quote), len(quote)) for quote in dict.fromkeys(quotes))
        return tuple(Span(start=start, end=start + length) for start, length in places if start >= 0)


def parse_rows(content: bytes, name: str) -> tuple[AdmissionRow, ...]:
    """Read and check rows, one a line.

    Raises:
        AdmissionDataError: A line is no row, repeats an id, or contradicts itself.
    """
    rows: list[AdmissionRow] = []
    seen: set[str] = set()
    for number, line in enumerate(content.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=AdmissionRow)
        except msgspec.DecodeError as error:
            message = f"{name}:{number}: {error}"
            raise AdmissionDataError(message) from error
        problem = f"id {row.id!r} occurs twice" if row.id in seen else _problem(row)
        if problem:
            message = f"{name}:{number}: {problem}"
            raise AdmissionDataError(message)
        seen.add(row.id)
        rows.append(row)
    return tuple(rows)


def shipped_content() -> dict[str, bytes]:
    """The shipped files by style, as bytes."""
    folder = files("recalld.models.calibration").joinpath("data", "admission")
    return {style: folder.joinpath(f"{style}.jsonl").read_bytes() for style in STYLES}


def shipped_rows() -> tuple[AdmissionRow, ...]:
    """All shipped rows, disputed ones included."""
    return tuple(row for style, content in shipped_content().items() for row in parse_rows(content, f"{style}.jsonl"))


def undisputed(rows: Sequence[AdmissionRow]) -> tuple[AdmissionRow, ...]:
    """The rows that fits and figures use."""
    return tuple(row for row in rows if not row.disputed)


def agreement(rows: Sequence[AdmissionRow]) -> float | None:
    """Cohen's kappa of the two readers on whether a turn states anything; None where no row was read twice."""
    pairs = [(bool(row.facts), row.second.stores) for row in rows if row.second is not None]
    return cohen_kappa(pairs) if pairs else None


def _problem(row: AdmissionRow) -> str:
    if not row.text.strip():
        return "text is empty"
    if bool(row.facts) == bool(row.reason):
        return "a row has either facts or a reason why it has none"
    quotes = (*(fact.quote for fact in row.facts), *(row.second.quotes if row.second is not None else ()))
    lost = next((quote for quote in quotes if not quote or quote not in row.text), None)
    if lost is not None:
        return f"quote {lost!r} is not in the text"
    if row.second is not None and row.disputed != (row.second.stores != bool(row.facts)):
        return "disputed must say whether the two readings disagree"
    return ""
