"""What the ledger keeps of an observed turn, or of an answer to a proposal, in lines a person can read."""

from __future__ import annotations

import collections
from typing import Final

import msgspec

from recalld.daemon.cli.words import ADMISSION_REASONS, FACT_OUTCOMES, GENERATORS, counted, in_words

SUPERSEDED_SHOWN_MAX: Final = 5


class _Fact(msgspec.Struct, frozen=True, kw_only=True):
    outcome: str
    reason: str
    generator: str
    source_rule: str = ""
    decided_by: str = ""
    memory_id: str = ""
    note_id: str = ""
    superseded: tuple[str, ...] = ()


class _Dropped(msgspec.Struct, frozen=True, kw_only=True):
    reason: str
    rule: str = ""
    generator: str | None = None
    source_rule: str = ""
    also: tuple[str, ...] = ()


class _Turn(msgspec.Struct, frozen=True, kw_only=True):
    facts: tuple[_Fact, ...] = ()
    dropped: tuple[_Dropped, ...] = ()


def turn_lines(body: str) -> list[str] | None:
    """The lines; None for a body of another kind, or of a version that this command cannot read.

    Args:
        body: The row's body, JSON.
    """
    try:
        turn = msgspec.json.decode(body, type=_Turn)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None
    if not turn.facts and not turn.dropped:
        return None
    return [
        *_counts(turn),
        *(line for fact in turn.facts for line in _fact_lines(fact)),
        *map(_dropped_line, turn.dropped),
    ]


def _counts(turn: _Turn) -> list[str]:
    """How many facts each generator found; none where nothing was found."""
    found = collections.Counter(
        [fact.generator for fact in turn.facts] + [each.generator for each in turn.dropped if each.generator]
    )
    if not found:
        return []
    each = ", ".join(f"{count} by {in_words(generator, GENERATORS)}" for generator, count in found.items())
    return [f"{counted(found.total(), 'fact')} found: {each}"]


def _fact_lines(fact: _Fact) -> list[str]:
    where = " ".join(filter(None, (fact.memory_id, fact.note_id)))
    by = f", by the rule {fact.decided_by}" if fact.decided_by else ""
    why = f"{in_words(fact.reason, ADMISSION_REASONS)} ({fact.reason}){by}"
    found = f"found by {_finder(fact.generator, fact.source_rule)}"
    lines = [f"{in_words(fact.outcome, FACT_OUTCOMES)}: {why}, {found}{f'  {where}' if where else ''}"]
    if fact.superseded:
        more = len(fact.superseded) - SUPERSEDED_SHOWN_MAX
        shown = ", ".join(fact.superseded[:SUPERSEDED_SHOWN_MAX])
        lines.append(f"  in place of {shown}{f' and {more} more' if more > 0 else ''}")
    return lines


def _dropped_line(dropped: _Dropped) -> str:
    by = f", by the rule {dropped.rule}" if dropped.rule else ""
    found = f", found by {_finder(dropped.generator, dropped.source_rule)}" if dropped.generator else ""
    also = f", and by {', '.join(dropped.also)}" if dropped.also else ""
    return f"dropped: {in_words(dropped.reason, ADMISSION_REASONS)} ({dropped.reason}){by}{found}{also}"


def _finder(generator: str, rule: str) -> str:
    return f"{in_words(generator, GENERATORS)}{f' ({rule})' if rule else ''}"
