"""The gazetteer: well-known names of software, services, formats and protocols, with category and other spellings.

Guards: that a record about "k8s" is found by somebody who asks about Kubernetes, or about container orchestrators.
Cost: one dictionary look-up per word. Fails: towards not seeing a name; an everyday word ("Go", "Chef") counts only
where its capitals and its surroundings say that the tool is meant.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NoReturn

import msgspec

from recalld.models.policy import word_lists
from recalld.models.policy.found_words import folded as folded_words
from recalld.models.policy.found_words import words_cut_by

COLUMNS = 3
UNINFORMATIVE_CATEGORIES = frozenset({"data format", "protocol"})
"""Nearly every technical record names one of these in passing; it says nothing of what the record is about."""
VERSIONED_LETTERS_MIN = 3
"""Shortest name that may have its version written on it: python3, not r4."""
TOOL_MARK = "*"
"""Behind an alias, and behind its need if it has one: a tool, part or product of what the entry names."""
NAME_WORDS_MAX = 5
"""Longest name in words; bounds the look-ahead at each word."""

_WORD = re.compile(r"(\.?[^\W_]+(?:\+\+|#|\+(?!\w))?)")
_DIGIT = re.compile(r"\d")
_SENTENCE_END = re.compile(r"[.!?:;\n\u2022]\s*[\"'(\[]*\Z|\A\s*[-*\"'(\[]*\s*\Z")
_VERSION = re.compile(r"\s+v?\d+(?:\.\d+)*\b")
_GLUE = "-._@/\\"
"""Characters that tie a word to its neighbour: inside of `pg-elm-02` or `go.mod` no everyday word is a name."""


class GazetteerError(ValueError):
    """The gazetteer's file cannot be used; the message names the line."""


class Need(enum.StrEnum):
    """What a spelling needs, to count as the name."""

    NOTHING = ""
    CASE = "^"
    """Its exact letters and, where a sentence starts, technical words as well."""
    CONTEXT = "~"
    """Its exact letters and technical words, and not where a sentence starts: "Make sure the tests pass"."""


class GazetteerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One name.

    Attributes:
        name: As it is written properly.
        category: What it is, as a singular noun.
        aliases: Its other spellings.
        everyday: Those of its spellings that are everyday words in most texts ("Go", "Chef").
        cased: Those that are everyday words in lower case or another form ("Flask", "Woodpecker").
        tools: Those that are a tool, part or product of it ("psql"): they tell that it is meant, and are not its name.
    """

    name: str
    category: str
    aliases: tuple[str, ...] = ()
    everyday: frozenset[str] = frozenset()
    cased: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name and its other spellings."""
        return (self.name, *self.aliases)


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A name found in a text at [start, end), spelled `surface`."""

    entry: GazetteerEntry
    surface: str
    start: int
    end: int


class _Spelling(msgspec.Struct, frozen=True):
    """One spelling of an entry and what it needs."""

    entry: GazetteerEntry
    text: str
    need: Need


class _Cut(msgspec.Struct, frozen=True):
    """A text cut into words: as written, where each starts, and folded."""

    text: str
    words: Sequence[str]
    starts: Sequence[int]
    folded: Sequence[str]

    def end(self, place: int) -> int:
        """Where a word ends."""
        return self.starts[place] + len(self.words[place])


class Gazetteer:
    """Finds names in texts.

    Args:
        spellings: By the folded words of each spelling.
    """

    def __init__(self, spellings: Mapping[tuple[str, ...], _Spelling]) -> None:
        self._spellings = spellings
        self._longest: dict[str, int] = {}
        """Words of the longest spelling that begins with a word: most words begin none, and cost one look-up."""
        for key in spellings:
            self._longest[key[0]] = max(len(key), self._longest.get(key[0], 0))
        self.entries = tuple(dict.fromkeys(each.entry for each in spellings.values()))

    def find(self, text: str) -> tuple[Sighting, ...]:
        """The names in a text, in order, the longest at each place; none overlaps another. Linear in the text."""
        words = words_cut_by(_WORD, text)
        folded = folded_words(words.written)
        has_digits = _DIGIT.search(text) is not None
        # Of the texts of a whole store, most hold no name: only words that may begin one are looked at any closer.
        if not has_digits and self._longest.keys().isdisjoint(folded):
            return ()
        beginning = {word for word in set(folded) if word in self._longest or (has_digits and word[-1].isdigit())}
        may_begin = [place for place, word in enumerate(folded) if word in beginning]
        cut = _Cut(text, words.written, words.starts, folded)
        plain: list[Sighting] = []
        needy: list[tuple[_Spelling, Sighting]] = []
        free_from = 0
        for place in may_begin:
            found = self._longest_at(cut, place) if place >= free_from else None
            if found is None:
                continue
            spelling, sighting, taken = found
            if spelling.need is Need.NOTHING:
                plain.append(sighting)
            else:
                needy.append((spelling, sighting))
            free_from = place + taken
        return _settled(text, folded, plain, needy)

    def entry_of(self, spelling: str) -> GazetteerEntry | None:
        """The entry that has exactly this spelling, whatever its case; None if there is none."""
        return self.entry_of_words(key_of(spelling))

    def entry_of_words(self, words: tuple[str, ...]) -> GazetteerEntry | None:
        """As `entry_of`, of a spelling that is cut into folded words already."""
        found = self._spellings.get(words)
        return None if found is None else found.entry

    def _longest_at(self, cut: _Cut, place: int) -> tuple[_Spelling, Sighting, int] | None:
        folded = cut.folded
        word = folded[place]
        bare = _without_version(word)
        longest = max(self._longest.get(word, 0), self._longest.get(bare, 0))
        for taken in range(min(longest, len(folded) - place), 0, -1):
            spelling = self._spellings.get(tuple(folded[place : place + taken]))
            if spelling is None and taken == 1:
                spelling = self._spellings.get((bare,))
            if spelling is None or not _stands_alone(cut, place):
                continue
            start, end = cut.starts[place], cut.end(place + taken - 1)
            surface = cut.text[start:end]
            if taken > 1 and _has_break(surface):
                continue
            sighting = Sighting(entry=spelling.entry, surface=surface, start=start, end=end)
            return spelling, sighting, taken
        return None


@cache
def gazetteer() -> Gazetteer:
    """The shipped gazetteer."""
    text = files("recalld.models.policy").joinpath("data", "gazetteer.tsv").read_text(encoding="utf-8")
    return parse_gazetteer(text)


def parse_gazetteer(text: str) -> Gazetteer:
    """Read a gazetteer: a line each of name, category and aliases (comma separated), with tabs between.

    Raises:
        GazetteerError: A line has not two or three columns, a blank one, too many words, or a spelling given before.
    """
    spellings: dict[tuple[str, ...], _Spelling] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        for spelling in _spellings_of(line, number):
            key = key_of(spelling.text)
            if not 1 <= len(key) <= NAME_WORDS_MAX:
                _refuse(number, f"{spelling.text!r} must have 1 to {NAME_WORDS_MAX} words")
            if key in spellings:
                _refuse(number, f"{spelling.text!r} is a spelling of {spellings[key].entry.name!r} already")
            spellings[key] = spelling
    return Gazetteer(spellings)


def key_of(spelling: str) -> tuple[str, ...]:
    """The folded words of a name, by which it is looked up: node, .js of Node.js; c++ of C++."""
    return tuple(word.casefold() for word in _WORD.findall(spelling))


def _spellings_of(line: str, number: int) -> Iterable[_Spelling]:
    columns = [column.strip() for column in line.split("\t")]
    if not COLUMNS - 1 <= len(columns) <= COLUMNS or not all(columns):
        _refuse(number, "must be name, category and (if any) aliases, separated by tabs")
    aliases = [each.strip() for each in columns[2].split(",")] if len(columns) == COLUMNS else []
    tools = frozenset(_unmarked(each.removesuffix(TOOL_MARK))[0] for each in aliases if each.endswith(TOOL_MARK))
    marked = [_unmarked(each.removesuffix(TOOL_MARK)) for each in (columns[0], *aliases)]
    names = tuple(name for name, _ in marked)
    entry = GazetteerEntry(
        name=names[0],
        category=columns[1],
        aliases=names[1:],
        everyday=frozenset(name for name, need in marked if need is Need.CONTEXT),
        cased=frozenset(name for name, need in marked if need is Need.CASE),
        tools=tools,
    )
    return (_Spelling(entry, name, need) for name, need in marked)


def _unmarked(spelling: str) -> tuple[str, Need]:
    for need in (Need.CASE, Need.CONTEXT):
        if spelling.endswith(need):
            return spelling.removesuffix(need), need
    return spelling, Need.NOTHING


def _refuse(number: int, what: str) -> NoReturn:
    message = f"gazetteer line {number}: {what}"
    raise GazetteerError(message)


def _settled(
    text: str, folded: Sequence[str], plain: Sequence[Sighting], needy: Sequence[tuple[_Spelling, Sighting]]
) -> tuple[Sighting, ...]:
    """The certain sightings, and those of everyday words whose needs the text meets."""
    if not needy:
        return tuple(plain)
    is_technical = bool(plain) or not word_lists.words("technical_words.en.txt").isdisjoint(folded)
    kept = [*plain, *(each for spelling, each in needy if _is_met(text, spelling, each, is_technical=is_technical))]
    return tuple(sorted(kept, key=lambda each: each.start))


def _is_met(text: str, spelling: _Spelling, sighting: Sighting, *, is_technical: bool) -> bool:
    start, end = sighting.start, sighting.end
    if sighting.surface != spelling.text or text[start - 1 : start] in {*_GLUE} or _is_glued(text, end):
        return False
    if _VERSION.match(text, end) is not None:
        return True
    is_first = _SENTENCE_END.search(text[max(0, start - 8) : start]) is not None
    return (is_technical or not is_first) if spelling.need is Need.CASE else (is_technical and not is_first)


def _is_glued(text: str, end: int) -> bool:
    """Whether a word goes on behind a joiner: the stop of a sentence ties nothing."""
    return text[end : end + 1] in {*_GLUE} and text[end + 1 : end + 2].isalnum()


def _stands_alone(cut: _Cut, place: int) -> bool:
    """Whether a word does not begin inside another, or with the dot of one: the .net of example.net."""
    start = cut.starts[place]
    return not (cut.words[place].startswith(".") and cut.text[start - 1 : start].isalnum())


def _has_break(surface: str) -> bool:
    """Whether a sentence ends between the words of a name."""
    return re.search(r"[.!?;:,\n]\s", surface) is not None


def _without_version(word: str) -> str:
    """A word without the version written on it: python of python3. At least three letters must be left."""
    if not word[-1].isdigit():
        return word
    bare = word.rstrip("0123456789")
    return bare if len(bare) >= VERSIONED_LETTERS_MIN else word
