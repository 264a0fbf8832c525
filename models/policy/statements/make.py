"""Candidates made of a rule's match: quote and span, slot and value, statement, headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from recalld.models.domain.facts import FactCandidate, Generator, Span
from recalld.models.policy.gazetteer import Sighting
from recalld.models.policy.save_turn import SaveTurn
from recalld.models.policy.slot_values import is_single_valued
from recalld.models.policy.statements.names import MarkedTurn, slot_by_noun, slot_by_use, spelled
from recalld.models.policy.statements.rule import BY_NAME, Rule
from recalld.models.policy.statements.rule_book import headings
from recalld.models.policy.statements.wording import (
    filled,
    holder,
    inflected,
    instruction,
    third_person,
    to_be,
    trimmed,
)

SUCCESSOR = "successor"
"""The group of an ending that holds the name that takes the place of what ended."""
VALUE_CHARS_MAX = 240
"""Longest value; what is longer is no value but a text."""

_VERSION = re.compile(r" v?\d+(?:\.[\dx]+)*\b(?! ?%)")
_PURPOSE = re.compile(
    r" (?:for|as) (?:the |our |my |an? )(?:(?:main|primary|only|new|production|company|team) )?"
    r"(?P<noun>[\w ]{2,40}?)\s*",
    re.IGNORECASE,
)
_WIDE_TAIL = re.compile(r" (?:for (?:everything|all|our|my)\b|everywhere|in production|throughout).*", re.IGNORECASE)


class _Named(msgspec.Struct, frozen=True, kw_only=True):
    """A name in a match.

    Attributes:
        text: As it is said.
        value: As it is compared: the gazetteer's own name for it.
    """

    sighting: Sighting
    text: str
    value: str


def make_candidates(rule: Rule, match: re.Match[str], turn: SaveTurn, marked: MarkedTurn) -> Iterator[FactCandidate]:
    """The facts of one match: one, or one for each name where the rule's slot is that of the names."""
    names = _names(match, turn, marked)
    if _is_faulty(match, turn):
        return
    if rule.slot != BY_NAME:
        yield _candidate(rule, match, turn, names, rule.slot)
        return
    tail = _group(match, turn, "tail")
    purpose = _PURPOSE.fullmatch(tail)
    if purpose is not None and len(names) == 1 and (slot := slot_by_noun(names[0].sighting, purpose["noun"])):
        yield _candidate(rule, match, turn, names, slot)  # "for the warehouse" names the slot and narrows nothing down
        return
    if tail and _WIDE_TAIL.fullmatch(tail) is None:  # of several names it says something only together
        yield _candidate(rule, match, turn, names, "")
        return
    for name in names:
        slot = slot_by_noun(name.sighting, noun) if (noun := _group(match, turn, "noun")) else ""
        slot = slot or slot_by_use(name.sighting)
        if not _is_replaced(slot, match, turn, marked):
            yield _candidate(rule, match, turn, [name], slot)


def _candidate(rule: Rule, match: re.Match[str], turn: SaveTurn, names: list[_Named], slot: str) -> FactCandidate:
    said = trimmed(_group(match, turn, "value"))
    value = said or (names[0].value if names else "")
    tail = _group(match, turn, "tail").rstrip()
    clause = trimmed(turn.text[match.start() : match.end()])
    noun = _group(match, turn, "noun")
    subject = trimmed(_group(match, turn, "subject")).lower()
    statement = filled(
        rule,
        {
            "who": lambda: holder(rule, is_team=_has(match, "we")),
            "value": lambda: third_person(said),
            "said": lambda: instruction(said),
            "names": lambda: _listed([name.text for name in names]),
            "tail": lambda: third_person(tail),
            "subject": lambda: subject,
            "noun": lambda: noun,
            "is": lambda: to_be(noun),
            "does": lambda: inflected(said),
            "clause": lambda: third_person(clause),
        },
    )
    start, end = _quote_span(match, turn)
    cues, asks = headings(slot, value) if slot or rule.slot else ((rule.cue,), rule.asks)
    return FactCandidate(
        statement=statement,
        kind=rule.kind,
        quote=turn.text[start:end],
        span=Span(start=start, end=end),
        generator=Generator.RULE,
        rule=rule.id,
        slot=slot,
        subject=f"the user's {subject}" if subject else "",
        value=(value or clause) if slot else "",
        is_ending=rule.is_ending and bool(slot),
        cues=cues,
        asks=asks,
    )


def _is_replaced(slot: str, match: re.Match[str], turn: SaveTurn, marked: MarkedTurn) -> bool:
    """Whether the new value closes the old one's record by itself: the slot holds one value, and both are of it."""
    successors = _names(match, turn, marked, SUCCESSOR) if _has(match, SUCCESSOR) else []
    return is_single_valued(slot) and any(slot_by_use(each.sighting) == slot for each in successors)


def _is_faulty(match: re.Match[str], turn: SaveTurn) -> bool:
    """Whether the value is too long, nothing but signs, or reaches what was left out of a long turn."""
    value = _group(match, turn, "value")
    is_blank = _has(match, "value") and not any(map(str.isalnum, value))
    return is_blank or len(value) > VALUE_CHARS_MAX or turn.is_cut_short(match.start(), match.end())


def _quote_span(match: re.Match[str], turn: SaveTurn) -> tuple[int, int]:
    """Where the user's words for it stand, white space and stray signs at the ends left out."""
    said = turn.text[match.start() : match.end()]
    start = match.start() + len(said) - len(said.lstrip(" \t\n,;:*-"))
    return start, match.start() + len(said.rstrip(" \t\n,;:"))


def _names(match: re.Match[str], turn: SaveTurn, marked: MarkedTurn, group: str = "") -> list[_Named]:
    group = group or ("names" if _has(match, "names") else "name")
    if not _has(match, group):
        return []
    start, end = match.span(group)
    found: list[_Named] = []
    for place in range(start, end):
        name = marked.names.get(place)
        if name is None or name.end > end:
            continue
        version = _VERSION.match(turn.text, name.end, end)
        number = "" if version is None else version.group()
        found.append(_Named(sighting=name, text=f"{spelled(name)}{number}", value=f"{name.entry.name}{number}"))
    return found


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def _has(match: re.Match[str], group: str) -> bool:
    return group in match.re.groupindex and match[group] is not None


def _group(match: re.Match[str], turn: SaveTurn, group: str) -> str:
    """A group's text as the user wrote it; empty if it is not there."""
    return turn.text[match.start(group) : match.end(group)] if _has(match, group) else ""
