"""From files of labelled conversations, and from those of the package, to what is replayed and reported together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

import msgspec

from recalld.models.calibration.admission_data import AdmissionRow, shipped_rows
from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_cases import Case, LeftOut, case_of
from recalld.models.lab.replay_labels import LabelledTurn, StatedFact
from recalld.models.lab.replay_match import places_of
from recalld.models.lab.replay_rows import ReplayRow, RowFact, RowTurn, parse_replay_rows

CONVERSATIONS: Final = "conversations"
"""The set of the conversations of the package."""
FITTED_TURNS: Final = "fitted-turns"
"""The set of the single turns of the package, which the shipped judge was fitted on."""
DRAWN_PER_STYLE: Final = 20
"""How many of these turns are replayed of each style, where not all are: enough to compare gates, in little time."""


class ReplaySource(msgspec.Struct, frozen=True, kw_only=True):
    """Conversations that are reported together.

    Attributes:
        name: In the report.
        is_weak: Whether the labels allow figures of recall alone.
        cases: Without those left out.
        excluded: The rows that were.
    """

    name: str
    is_weak: bool
    cases: tuple[Case, ...]
    excluded: LeftOut


def read_sources(paths: Sequence[Path]) -> list[ReplaySource]:
    """The sets of some files, one for each source in them; weak rows of a source are a set of their own.

    Raises:
        ReplayRowError: A line is no conversation; the message names file, line and field.
        OSError: A file cannot be read.
    """
    found: list[ReplaySource] = []
    for path in paths:
        found += sources_of(parse_replay_rows(path.read_bytes(), str(path)), path.stem, {each.name for each in found})
    return found


def sources_of(rows: Iterable[ReplayRow], name: str, taken: Iterable[str] = ()) -> list[ReplaySource]:
    """The sets of the rows of one file.

    Args:
        rows: At least one.
        name: Of the set of rows that name no source.
        taken: Names of other sets.
    """
    groups: dict[tuple[str, bool], list[ReplayRow]] = {}
    for row in rows:
        groups.setdefault((row.source or name, row.is_weak), []).append(row)
    names = set(taken)
    sources: list[ReplaySource] = []
    for (source, is_weak), mine in groups.items():
        free = _free(f"{source}/weak" if is_weak and (source, False) in groups else source, names)
        names.add(free)
        sources.append(_source(free, mine, is_weak=is_weak))
    return sources


def builtin_sources(taken: Iterable[str] = (), *, drawn_max: int | None = DRAWN_PER_STYLE) -> list[ReplaySource]:
    """The conversations that come with the package, and single turns that the shipped judge was fitted on.

    Args:
        taken: Names of other sets.
        drawn_max: How many of the turns of each style; None: all.
    """
    content = (files("recalld.models.lab") / "data" / "conversations.jsonl").read_bytes()
    conversations = sources_of(parse_replay_rows(content, "conversations.jsonl"), CONVERSATIONS, taken)
    turns = fitted_turns(shipped_rows(), drawn_max=drawn_max)
    names = {*taken, *(each.name for each in conversations)}
    return [*conversations, msgspec.structs.replace(turns, name=_free(turns.name, names))]


def fitted_turns(rows: Sequence[AdmissionRow], *, drawn_max: int | None = None) -> ReplaySource:
    """Labelled single turns as conversations of one turn. What the second reader marked beside a fact is no mistake.

    Args:
        rows: Disputed ones are left out.
        drawn_max: How many of each style are taken, evenly spread over it and the same each time; None: all.
    """
    kept = [row for row in rows if not row.disputed]
    drawn = kept if drawn_max is None else _drawn(kept, drawn_max)
    return ReplaySource(
        name=FITTED_TURNS,
        is_weak=False,
        cases=tuple(map(_fitted_case, drawn)),
        excluded=LeftOut(rows_disputed=len(rows) - len(kept), rows_not_drawn=len(kept) - len(drawn)),
    )


def _drawn(rows: Sequence[AdmissionRow], drawn_max: int) -> list[AdmissionRow]:
    styles: dict[str, list[AdmissionRow]] = {}
    for row in rows:
        styles.setdefault(row.style, []).append(row)
    return [row for each in styles.values() for row in _spread(each, min(drawn_max, len(each)))]


def _spread(rows: Sequence[AdmissionRow], count: int) -> list[AdmissionRow]:
    return [rows[place * len(rows) // count] for place in range(count)]


def _fitted_case(row: AdmissionRow) -> Case:
    case = case_of(
        ReplayRow(
            id=row.id,
            turns=(RowTurn(role=Speaker.USER, text=row.text),),
            facts=tuple(
                RowFact(turn=0, statement=fact.statement, quote=fact.quote, kind=fact.kind.value) for fact in row.facts
            ),
            reason=row.reason,
        ),
        row.style,
    )
    seconds = row.second.quotes if row.second is not None and row.facts else ()
    return msgspec.structs.replace(case, labels=tuple(_also(turn, seconds) for turn in case.labels))


def _also(turn: LabelledTurn, quotes: Sequence[str]) -> LabelledTurn:
    further = tuple(StatedFact(statement=quote, places=places_of(quote, turn.own)) for quote in quotes)
    return msgspec.structs.replace(turn, also_right=further)


def _source(name: str, rows: Sequence[ReplayRow], *, is_weak: bool) -> ReplaySource:
    kept = [row for row in rows if not row.disputed]
    heard = [row for row in kept if any(turn.role is Speaker.USER for turn in row.turns)]
    return ReplaySource(
        name=name,
        is_weak=is_weak,
        cases=tuple(case_of(row, name) for row in heard),
        excluded=LeftOut(rows_disputed=len(rows) - len(kept), rows_without_user=len(kept) - len(heard)),
    )


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken: two files may hold rows of the same source."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    return free
