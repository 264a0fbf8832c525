"""Slots: which questions a statement answers, recognised by patterns on its own words.

Guards: that "Works at Acme" is found by "where do I work again?", which shares no word with it.
Cost: a few dozen searches in a short text, once, when it is stored. Fails: towards no slot. What is said of somebody
else, asked, denied or only supposed matches none.

The patterns are data (`data/slots.toml`), written with these shorthands:

| shorthand | stands for |
|---|---|
| `{start}` | the start of the text, a sentence or a clause behind a semicolon |
| `{who}` | `{start}`, then nothing, "I", "we" or "the user", and adverbs such as "usually" |
| `{person}` | as `{who}`, but only a person: "I" or "the user" must be said |
| `{mine}` | `{start}`, then "my" or "the user's" |
| `{our}` | `{start}`, then nothing, "my", "our", "the user's" or "the" |
| `{name}` | a name of the slot's gazetteer categories |
| `{capital}` | a word with a capital letter |
| `{words}` | up to three words |
| `{uses}` | `{who}` and a verb of using, choosing or moving to something |
| `{only}` | nothing behind the name that makes the statement one of a part, such as "for rate limiting" |
| `{profession}`, `{language}`, `{currency}` | one of a list |
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NoReturn

import msgspec

from recalld.models.domain.records import ASK_CHARS_MAX, CUE_CHARS_MAX
from recalld.models.policy import word_lists
from recalld.models.policy.gazetteer import Sighting, gazetteer

TEXT_CHARS_MAX = 600
"""A longer text states more than a slot can say."""
NAME_MARK = "\ue000"
"""Stands for a gazetteer name while patterns are tried: a private character, blanked in the text before."""

_START = r"(?:^|[.;!\n][ \t]*)(?:- |\* )?"
_ADVERBS = (
    r"(?:(?:always|usually|currently|now|also|mostly|still|strongly|really|generally|mainly|only|primarily|normally|"
    r"typically|just|fully) )*"
)
_PERSON = r"(?:i|the user|user)(?: |(?='m))"
_ONLY = (
    r"(?=(?: v?\d[\w.]*)?\s*(?:\Z|[.,;!(]|\b(?:and|with|from|on|now|over|everywhere|here)\b|"
    r"\bfor (?:everything|all|this|our|my)\b|\bin (?:this|all|every|our)\b))"
)
"""What may follow a name for the statement to be about no more than it: not "Redis for rate limiting"."""
_USES = (
    r"{who}(?:uses?|using|(?:are|is|am|'m|'re) using|prefers?|chose|adopted|runs?|standardi[sz]ed on|settled on|"
    r"(?:switched|moved|migrated|migrating|moving|switching)(?: (?:fully|completely|everything))?"
    r"(?: from [^.;!\n]{1,40}?)?(?: over)? to)(?: the)?"
)
_MACROS: Mapping[str, str] = {
    "{uses}": _USES,
    "{only}": _ONLY,
    "{start}": _START,
    "{who}": rf"{_START}(?:{_PERSON}|we(?: |(?='re))|(?:the|our) (?:team|company|project|repo|repository) )?{_ADVERBS}",
    "{person}": rf"{_START}{_PERSON}{_ADVERBS}",
    "{mine}": rf"{_START}(?:my|the user's|user's)",
    "{our}": rf"{_START}(?!(?:his|her|their) )(?:my |our |the user's |the team's |the )?",
    "{name}": f"(?P<name>{NAME_MARK})",
    "{capital}": "(?-i:[A-Z\u00c0-\u00de])",
    "{words}": r"(?:[\w-]+ ){0,3}",
}
_LISTS: Mapping[str, str] = {
    "{profession}": "slot_professions.en.txt",
    "{language}": "slot_languages.en.txt",
    "{currency}": "slot_currencies.en.txt",
}
_NOUN_IS = (
    r"{our}(?:(?:main|primary|default|new|current|production|whole|entire|own|team|work|company) )?"
    r"(?:{nouns})(?:: | ?= ?| (?:is|are)(?: now)?(?: (?:in|on|with|at|using|called|an?))? |"
    r" (?:now )?(?:uses?|use|runs?(?: on)?|lives? in|goes to|"
    r"(?:has |have )?(?:moved|switched|migrated)(?: from [^.;!\n]{1,40}?)? to) )(?:the )?{name}"
)
_NOT_MEANT = re.compile(
    r"\b(?:not|never|no longer|cannot|without|instead of|rather than|used to|former(?:ly)?|previous(?:ly)?|if|whether|"
    r"maybe|perhaps|might|hardly|rarely|neither|stopped|\w+n't)\b",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[^.;!\n]*\b(?:no more|any ?more|no longer|until|till|before|in the past)\b", re.IGNORECASE)
"""Behind a statement: it holds no more, or not for ever."""
_PROPER_NAME = re.compile(r"[\w&.'/+-]+(?: (?:(?:of|de|du|da|van|von|der|&|the) )?[A-Z\u00c0-\u00de0-9][\w&.'/+-]*)*")
"""From the capital letter at which a pattern ends: all words of the name."""
_REST_OF_CLAUSE = re.compile(r"[^,;!?()\n]{1,60}?(?=[,;!?()\n]|\.(?:\s|\Z)|\s-\s|\Z)")
ASKS_PER_SLOT_MAX = 2
"""Ways to put a slot's one question: relevance looks at the mean over a record's asks, so others would lower it."""


class SlotError(ValueError):
    """The slots' file cannot be used; the message names the slot and what is wrong."""


class Slot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One slot as the file gives it.

    Attributes:
        id: Names it in the ledger.
        cue: Heading for a matching record; `{name}` stands for the name that was found.
        asks: One question in the user's voice, put in at most `ASKS_PER_SLOT_MAX` ways.
        patterns: Regular expressions with shorthands.
        categories: Of the gazetteer; what `{name}` may be.
        nouns: What such a name may be said to be.
        by_use: Whether its nouns may be left out: "We use pnpm" says for what, "We use Redis" does not.
        negated: Whether a negation belongs to the statement itself.
        matches: Texts that must match; these are the slot's tests.
        misses: Texts that must not.
    """

    id: str
    cue: str
    asks: tuple[str, ...]
    patterns: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    by_use: bool = True
    negated: bool = False
    matches: tuple[str, ...]
    misses: tuple[str, ...]


class SlotMatch(msgspec.Struct, frozen=True, kw_only=True):
    """A slot that a text fills, and the heading for it.

    Attributes:
        value: What it is filled with, where the pattern shows it: a name of the gazetteer, a proper name, or the rest
            of the clause; else empty.
    """

    slot: Slot
    cue: str
    value: str = ""


class _SlotFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    slot: tuple[Slot, ...]


@cache
def slots() -> tuple[Slot, ...]:
    """The shipped slots."""
    return parse_slots(files("recalld.models.policy").joinpath("data", "slots.toml").read_bytes())


def parse_slots(data: bytes) -> tuple[Slot, ...]:
    """Read slots from TOML.

    Raises:
        SlotError: A field is missing, unknown or too long, an id is used twice, or a pattern is no regular expression.
    """
    try:
        found = msgspec.toml.decode(data, type=_SlotFile).slot
    except msgspec.DecodeError as error:
        message = f"slots cannot be read: {error}"
        raise SlotError(message) from error
    seen: set[str] = set()
    for slot in found:
        _check(slot, seen)
        seen.add(slot.id)
    return found


def match_slots(text: str, sightings: Sequence[Sighting] | None = None) -> tuple[SlotMatch, ...]:
    """The slots that a record's text fills, in the file's order; none for a long text or a question.

    Args:
        text: The record's text, in English.
        sightings: The gazetteer names in it, if they are known already.
    """
    if len(text) > TEXT_CHARS_MAX or text.rstrip().endswith("?"):
        return ()
    plain = text.replace(NAME_MARK, " ").replace("\u2019", "'")
    names = gazetteer().find(plain) if sightings is None else sightings
    return tuple(match for slot in slots() for match in _match(slot, plain, names))


def _match(slot: Slot, text: str, names: Sequence[Sighting]) -> Iterator[SlotMatch]:
    wanted = [name for name in names if name.entry.category in slot.categories]
    if slot.categories and not wanted:
        return
    marked = _marked(text, wanted)
    for pattern in _compiled(slot):
        for match in pattern.finditer(marked):
            if not slot.negated and _is_taken_back(marked, match):
                continue
            yield SlotMatch(slot=slot, cue=_cue(slot, marked, match, wanted), value=_value(marked, match, wanted))
            return


def _is_taken_back(text: str, match: re.Match[str]) -> bool:
    """Whether a statement is denied or supposed in its own words, or ended by the rest of its sentence."""
    return _NOT_MEANT.search(match.group()) is not None or _ENDED.match(text, match.end()) is not None


def _marked(text: str, wanted: Sequence[Sighting]) -> str:
    """The text with a mark in place of each wanted name."""
    pieces: list[str] = []
    position = 0
    for name in wanted:
        pieces += (text[position : name.start], NAME_MARK)
        position = name.end
    pieces.append(text[position:])
    return "".join(pieces)


def _cue(slot: Slot, marked: str, match: re.Match[str], wanted: Sequence[Sighting]) -> str:
    if "name" not in match.re.groupindex:
        return slot.cue
    return slot.cue.replace("{name}", _name_in(marked, match, wanted))


def _name_in(marked: str, match: re.Match[str], wanted: Sequence[Sighting]) -> str:
    """The gazetteer's name that a pattern's `{name}` stands for."""
    return wanted[marked.count(NAME_MARK, 0, match.start("name"))].entry.name


def _value(marked: str, match: re.Match[str], wanted: Sequence[Sighting]) -> str:
    """What a statement fills its slot with; empty where the pattern does not show it."""
    if "name" in match.re.groupindex:
        return _name_in(marked, match, wanted)
    last, before = match.group()[-1:], match.group()[-2:-1]
    found = None
    if last.isupper() and not before.isalnum():
        found = _PROPER_NAME.match(marked, match.end() - 1)
    elif last.isspace():
        found = _REST_OF_CLAUSE.match(marked, match.end())
    return "" if found is None else found.group().rstrip(" .'")


@cache
def _compiled(slot: Slot) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(_expanded(pattern), re.IGNORECASE) for pattern in _patterns(slot))


def _patterns(slot: Slot) -> tuple[str, ...]:
    if not slot.nouns:
        return slot.patterns
    nouns = "|".join(re.escape(noun) for noun in sorted(slot.nouns, key=len, reverse=True))
    uses = ("{uses} {name}{only}",) if slot.by_use else ()
    return (*uses, _NOUN_IS.replace("{nouns}", nouns), *slot.patterns)


def _expanded(pattern: str) -> str:
    for shorthand, meaning in _MACROS.items():
        pattern = pattern.replace(shorthand, meaning)
    for shorthand, name in _LISTS.items():
        if shorthand in pattern:
            pattern = pattern.replace(shorthand, f"(?:{'|'.join(map(re.escape, word_lists.entries(name)))})")
    return pattern


def _check(slot: Slot, seen: set[str]) -> None:
    if slot.id in seen:
        _refuse(slot, "its id is used twice")
    if not 1 <= len(slot.asks) <= ASKS_PER_SLOT_MAX or any(len(ask) > ASK_CHARS_MAX for ask in slot.asks):
        _refuse(slot, f"asks must be 1 to {ASKS_PER_SLOT_MAX} of at most {ASK_CHARS_MAX} characters")
    if not slot.cue or len(slot.cue) > CUE_CHARS_MAX:
        _refuse(slot, f"cue must have 1 to {CUE_CHARS_MAX} characters")
    if bool(slot.categories) != any("{name}" in pattern for pattern in _patterns(slot)):
        _refuse(slot, "categories and {name} belong together")
    try:
        _compiled(slot)
    except re.error as error:
        _refuse(slot, f"a pattern is no regular expression: {error}")


def _refuse(slot: Slot, what: str) -> NoReturn:
    message = f"slot {slot.id!r}: {what}"
    raise SlotError(message)
