"""How one language opens a clause and takes a statement back, read from `data/statements/<language>/grammar.toml`.

Lists are never merged over languages; a turn is looked at with the grammar of the language whose rule found something.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import chain, islice

import msgspec

from recalld.models.policy.found_words import folded, words_cut_by
from recalld.models.policy.statements.openings import OPENING_CHARS, OpeningIndex
from recalld.models.policy.statements.rule import RuleError

LANGUAGES = ("en", "de", "fr", "es")
_NEVER = r"(?!)"
_WORD = re.compile(r"([^\W\d_][\w']*)")
_HEAD = re.compile(r"[^\W\d_]+")
_BREAK = re.compile(r"[.!?;:,()\[\]\n\u2013\u2014\u2026*\u2022-](?:(?<!-)|(?<=\s-)(?=\s))")
_LEADING = re.compile(r"[\s*_\"'\u00bf\u00a1]*")
"""What may stand before the first word of a clause."""
BREAKS_MAX = 1_000
"""Breaks of a text that are looked at, from its start."""
_LEADS_MAX = 5
"""Opening words that may stand before a statement: "ok so btw …"."""


class GrammarWords(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The lists of one language, each of regular expressions in lower case and without anchors.

    Attributes:
        joiners: What opens a clause without punctuation before it: and, because.
        leads: What may stand between the start of a clause and a statement: ok, btw, actually.
        supposed: What makes the rest of its sentence a supposition.
        conditions: What makes its own clause a condition, up to the next comma or colon.
        guesses: What makes a guess of its clause, before or behind the statement.
        reports: What puts the rest of the sentence into another mouth.
        fictions: What places the rest of the sentence in a tale.
        inventions: What makes fiction, an exercise or a text to work on of everything that follows in the turn.
        tasks: What gives words to be worked on: the rest of its paragraph, or what its sentence quotes.
        deferrals: What puts such a task off, or makes a standing order of it.
        refusals: What says that the turn is not to be remembered.
        passing: What ties a statement to a moment or to one piece of work.
        moments: What does so unless the clause says that it recurs: "at nine".
        recurring: What says that.
        over: What says, behind a statement, that it no longer holds or never did.
        asking: What opens a question.
        reasons: What joins a reason to a question: since, because.
        pasted: What, in a line that ends in a colon, announces somebody else's text or one to work on.
        introductions: What may stand before a colon without putting the words into another mouth.
        shorthands: For the patterns of the language's rules.
    """

    joiners: tuple[str, ...]
    leads: tuple[str, ...]
    supposed: tuple[str, ...]
    conditions: tuple[str, ...]
    guesses: tuple[str, ...]
    reports: tuple[str, ...]
    fictions: tuple[str, ...]
    inventions: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    deferrals: tuple[str, ...] = ()
    refusals: tuple[str, ...]
    passing: tuple[str, ...]
    moments: tuple[str, ...]
    recurring: tuple[str, ...]
    over: tuple[str, ...]
    asking: tuple[str, ...]
    reasons: tuple[str, ...]
    pasted: tuple[str, ...]
    introductions: tuple[str, ...]
    shorthands: dict[str, str]


class Grammar:
    """The compiled lists of one language: `search` in the words around a statement, in lower case.

    Case is not ignored, because alternatives are told apart by their first letter several times faster that way.
    """

    def __init__(self, words: GrammarWords) -> None:
        self.shorthands = words.shorthands
        joiners, leads = _any_of(words.joiners), _any_of(words.leads)
        self._joiner = _compiled(rf"(?:{joiners})(?!\w)")
        self._joiner_heads = frozenset(_HEAD.findall(each)[0].casefold() for each in words.joiners)
        self._leads = _compiled(rf"(?:(?:{leads})(?!\w)[\s,:!.]*){{1,{_LEADS_MAX}}}")
        self._may_lead = OpeningIndex([leads]).of
        self.supposed = _word(words.supposed)
        self.condition = _compiled(rf"(?<!\w)(?:{_any_of(words.conditions)})(?!\w)[^,:;\u2013\u2014]*\Z")
        self.guess = _word(words.guesses)
        self.report = _word(words.reports)
        self.fiction = _word(words.fictions)
        self.invention = _word(words.inventions)
        self.task = _word(words.tasks)
        self.deferral = _word(words.deferrals)
        self.refusal = _word(words.refusals)
        self.passing = _word(words.passing)
        self.moment = _word(words.moments)
        self.recurring = _word(words.recurring)
        self.over = _word(words.over)
        self.asking = _compiled(rf"[\s\u00bf\u00a1]*(?:{_any_of(words.asking)})(?!\w)")
        self.reason = _compiled(rf"(?:^|.*\W)(?:{_any_of(words.reasons)})\W*\Z")
        self.pasted = _word(words.pasted)
        self.introduction = _compiled(rf"[\W_]*(?:{_any_of(words.introductions)})[\W_]*")

    def clause_starts(self, text: str, words: Words, behind_breaks: Sequence[int]) -> list[int]:
        """Where clauses start: behind a break or joiner, and behind the words that lead in, if there are any; in order.

        Args:
            text: What is looked at, in lower case.
            words: Its words.
            behind_breaks: What `starts_behind_breaks` finds in it.
        """
        starts = list(behind_breaks)
        for place in words.places_of(self._joiner_heads):
            joiner = self._joiner.match(text, place)
            if joiner is not None:
                starts.append(_behind(_LEADING, text, joiner.end()))
        may_lead = self._may_lead
        leading = [start for start in starts if may_lead(text[start : start + OPENING_CHARS])]
        starts += (end for start in leading if (end := _behind(self._leads, text, start)) > start)
        starts.sort()
        return starts


@cache
def grammar(language: str) -> Grammar:
    """The shipped grammar of a language.

    Raises:
        RuleError: Its file has a field missing or unknown, or a list that is no regular expression.
    """
    return parse_grammar(statements_data().joinpath(language, "grammar.toml").read_bytes())


def parse_words(data: bytes) -> GrammarWords:
    """The lists of a language's file, not compiled.

    Raises:
        msgspec.DecodeError: A field is missing or unknown, or has the wrong type.
    """
    return msgspec.toml.decode(data, type=GrammarWords)


def parse_grammar(data: bytes) -> Grammar:
    """Read a grammar from TOML.

    Raises:
        RuleError: As `grammar`.
    """
    try:
        return Grammar(parse_words(data))
    except (msgspec.DecodeError, re.error) as error:
        message = f"grammar cannot be read: {error}"
        raise RuleError(message) from error


def lower_case(text: str) -> str:
    """A text in lower case, of the same length."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(each.lower() if len(each.lower()) == 1 else each for each in text)


class Words:
    """The words of a text.

    Args:
        text: With straight apostrophes.

    Attributes:
        folded: Each of them, folded, in order.
        starts: Where each of them starts.
    """

    def __init__(self, text: str) -> None:
        found = words_cut_by(_WORD, text)
        self.starts = found.starts
        self.folded = folded(found.written)
        self._distinct = frozenset(self.folded)

    def has_any(self, wanted: Collection[str]) -> bool:
        """Whether any of some words is among them."""
        return not self._distinct.isdisjoint(wanted)

    def places_of(self, wanted: Collection[str]) -> Iterator[int]:
        """Where the words stand that are among some; `wanted` answers `in` quickly."""
        if self.has_any(wanted):
            for start, word in zip(self.starts, self.folded, strict=True):
                if word in wanted:
                    yield start


def starts_behind_breaks(text: str) -> list[int]:
    """Where clauses start in any language: with the text, and behind its first `BREAKS_MAX` breaks.

    What may stand before the first word of a clause is passed over.
    """
    starts: list[int] = []
    start = -1
    for place in chain((0,), (match.end() for match in islice(_BREAK.finditer(text), BREAKS_MAX))):
        if place > start:  # up to there, nothing was passed over that begins a clause
            start = _behind(_LEADING, text, place)
        starts.append(start)
    return starts


def _behind(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return place if found is None else found.end()


def statements_data() -> Traversable:
    """The folder of the rules' data."""
    return files("recalld.models.policy").joinpath("data", "statements")


def _any_of(parts: tuple[str, ...]) -> str:
    return "|".join(sorted(parts, key=len, reverse=True)) or _NEVER


def _word(parts: tuple[str, ...]) -> re.Pattern[str]:
    return _compiled(rf"(?<![\w-])(?:{_any_of(parts)})(?![\w-])")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
