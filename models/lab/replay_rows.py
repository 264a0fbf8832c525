"""Labelled conversations for the write path as a file has them: one JSON object a line, checked before all else."""

from __future__ import annotations

import codecs
import datetime as dt
import re
from collections.abc import Sequence
from functools import cache
from typing import Final
from zoneinfo import available_timezones

import msgspec

from recalld.models.domain.admission import Speaker
from recalld.models.policy.expiry import SAID_MS_MIN

WEAK: Final = "weak"
"""The `label_strength` of rows whose labels say nothing of what is *not* worth storing."""
FIELDS_PAGE: Final = "docs/measuring.md has the fields of a conversation"
SAID_MS_MAX: Final = 4_102_444_800_000
"""The start of 2100."""
_PLACE: Final = re.compile(r" - at `\$\.?(?P<place>[^`]*)`$")


class ReplayRowError(ValueError):
    """A line of a file that is no conversation; the message names file, line, field and remedy."""


class RowTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was said.

    Attributes:
        role: Who said it, as the daemon is told: only what has the role `user` can become a memory.
        speaker: The name of who said it; several users in one conversation have memories of their own.
        text: What was said.
    """

    role: Speaker
    speaker: str = ""
    text: str


class RowFact(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth storing that a turn states.

    Attributes:
        turn: Which turn states it, counted from 0 over all turns of the conversation, whoever said them.
        statement: The fact, in anybody's words.
        quote: The words of the turn that state it; empty: nobody marked them.
        kind: What sort of fact it is, for whoever reads the file.
    """

    turn: int
    statement: str
    quote: str = ""
    kind: str = ""


class ReplayRow(msgspec.Struct, frozen=True, kw_only=True):
    """One labelled conversation.

    Attributes:
        id: Unique in its file.
        source: Where it comes from: figures are given for each source.
        ts: When it began, in ISO 8601; UTC where it has no offset. Empty or None: nobody knows.
        time_zone: The user's, as an IANA name; empty: nobody knows.
        turns: What was said, in order.
        facts: What of it is worth storing.
        reason: Why nothing of it is, for reports.
        label_strength: How far the labels go; `weak` ones say nothing of what is not worth storing.
        disputed: Such a row is left out and counted.

    Raises:
        ValueError: A field that must hold something is blank, or a fact names a turn that is not there.
    """

    id: str
    source: str = ""
    ts: str | None = None
    time_zone: str = ""
    turns: tuple[RowTurn, ...]
    facts: tuple[RowFact, ...] = ()
    reason: str | None = None
    label_strength: str | None = None
    disputed: bool = False

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ValueError(problem)

    @property
    def is_weak(self) -> bool:
        """Whether the labels allow figures of recall alone."""
        return self.label_strength == WEAK

    @property
    def said_ms(self) -> int | None:
        """When it began, Unix epoch milliseconds; None: nobody knows."""
        if not self.ts:
            return None
        at = dt.datetime.fromisoformat(self.ts)
        return round((at if at.tzinfo else at.replace(tzinfo=dt.UTC)).timestamp() * 1000)


def parse_replay_rows(content: bytes, name: str) -> tuple[ReplayRow, ...]:
    """Read and check conversations, one a line; blank lines and a byte order mark are passed over.

    Args:
        content: Of the file.
        name: Of the file, for errors.

    Raises:
        ReplayRowError: A line is no conversation or repeats an id, or there is none at all.
    """
    rows: list[ReplayRow] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(content.removeprefix(codecs.BOM_UTF8).splitlines(), start=1):
        if not line.strip():
            continue
        row = _decoded(line, name, number)
        if row.id in lines:
            message = f"{name}, line {number}: id: {row.id!r} is on line {lines[row.id]} as well; name each row once"
            raise ReplayRowError(message)
        lines[row.id] = number
        rows.append(row)
    if not rows:
        message = f"{name}, line 1: there is no conversation in it; {FIELDS_PAGE}"
        raise ReplayRowError(message)
    return tuple(rows)


def _decoded(line: bytes, name: str, number: int) -> ReplayRow:
    try:
        return msgspec.json.decode(line, type=ReplayRow)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        message = f"{name}, line {number}: {_told(str(error))}; {FIELDS_PAGE}"
        raise ReplayRowError(message) from error


def _told(error: str) -> str:
    """The decoder's message with the field in front, as everywhere else."""
    found = _PLACE.search(error)
    if found is None:
        return error
    said = error[: found.start()]
    return f"{found['place']}: {said}" if found["place"] else said


def _problem(row: ReplayRow) -> str:
    """What is wrong with a row; empty: nothing."""
    if not row.id.strip():
        return "id is blank; name the row"
    if not row.turns:
        return "turns is empty; a conversation has at least one"
    try:
        said_ms = row.said_ms
    except (ValueError, OverflowError):
        return f"ts is {row.ts!r}; give ISO 8601 such as 2026-03-02T09:14:00+01:00, or leave it out"
    if said_ms is not None and not SAID_MS_MIN <= said_ms < SAID_MS_MAX:
        return f"ts is {row.ts!r}, when nobody spoke to an assistant; give a moment from 1990 to 2100, or leave it out"
    if row.time_zone and row.time_zone not in _zones():
        return f"time_zone is {row.time_zone!r}; give an IANA name such as Europe/Berlin, or leave it out"
    return _fact_problem(row.facts, len(row.turns))


def _fact_problem(facts: Sequence[RowFact], turns: int) -> str:
    for place, fact in enumerate(facts):
        if not 0 <= fact.turn < turns:
            return f"facts[{place}].turn is {fact.turn}, but the turns are 0 to {turns - 1}; count them from 0"
        if not fact.statement.strip() and not fact.quote.strip():
            return f"facts[{place}].statement is blank, and so is its quote; say what the turn states"
    return ""


@cache
def _zones() -> frozenset[str]:
    """Names of all time zones: read from the disk once, and not for every row."""
    return frozenset(available_timezones())
