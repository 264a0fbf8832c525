"""The words that carry a statement: its numbers, dates, names and negations, and whether two statements agree in them.

Guards: that an update is taken for a repetition. "The deadline is October 15th" and "… 16th" lie nearer to each other
in an embedding than most repetitions do, so nearness nominates and this decides.
Cost: a few passes over two short texts. Fails: towards two statements. Keeping a repetition costs a line; swallowing an
update loses what the user said last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import Final

import msgspec

from recalld.models.policy import word_lists
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.gazetteer import gazetteer
from recalld.models.policy.stop_words import stop_words, vote_language
from recalld.models.policy.temporal.words import shipped_words
from recalld.models.policy.term_text import fold_word
from recalld.models.policy.turn.inflections import inflection_key

CHARS_MAX = 4_000
"""Of a longer text the head is compared, and two that differ behind it agree only if they have equal length."""
EXTRA_WORDS_MAX = 2
"""Ordinary words that one of two statements may have beside all of the other's: "data warehouse" and "warehouse"."""
NEGATED_WORDS_MAX = 5
"""Words behind a negator that it turns round, at most; a clause may end before."""

_TOKEN: Final = re.compile(
    r"(?P<number>(?<!\w)[-+\u2212]?\d+(?:[.,:/\-]\d+)*(?P<unit>[^\W\d_]*))"
    r"|(?P<word>[^\W\d_](?:[\w'\-]*\w)?(?:\+\+|[+#](?!\w))?)"
    r"|(?P<stop>[.!?\n\u2026]+)|(?P<comma>[,;:()])"
)
_THOUSANDS: Final = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
_ORDINAL_SUFFIXES: Final = frozenset({"st", "nd", "rd", "th", "er", "re", "eme", "e", "ter", "ten", "te"})
_NOT: Final = "not"
_OWN_WORDS: Final = frozenset({"user", "i", "we", "my", "our"})
"""Of whom a statement speaks: the same person in a record and in a turn."""


class LoadBearing(msgspec.Struct, frozen=True, kw_only=True):
    """The words that carry a text, folded.

    Attributes:
        numbers: With ordinals, times, versions and amounts; thousands without their commas.
        dates: Weekdays and months, by one spelling each.
        names: Words with a capital that no sentence start explains, and names of the gazetteer.
        openers: Words with a capital at the start of a sentence that no list knows: they may be names.
        negated: Words that stand only in the reach of a negator.
        affirmed: Words that stand only outside of one.
        is_negated: Whether there is a negator at all.
        content: Ordinary words that say something: no stop words, no verbs that go with "I".
        words: All words, and the proper spelling of the names among them.
    """

    numbers: frozenset[str]
    dates: frozenset[str]
    names: frozenset[str]
    openers: frozenset[str]
    negated: frozenset[str]
    affirmed: frozenset[str]
    is_negated: bool
    content: frozenset[str]
    words: frozenset[str]


def agree(a: str, b: str) -> bool:
    """Whether two statements may be the same fact: nothing in one of them contradicts or replaces a word of the other.

    Numbers and dates must be equal, every name of one must be in the other, what one negates the other must not affirm,
    and where one has ordinary words of its own, the other must have none and they must be few: "tea" and "coffee" are
    two facts, "warehouse" and "data warehouse" may be one. Symmetric; a text agrees with itself.
    """
    if len(a) != len(b) and max(len(a), len(b)) > CHARS_MAX:
        return False
    return _agree(load_bearing(a), load_bearing(b)) and a[CHARS_MAX:] == b[CHARS_MAX:]


def agree_in_core(a: str, b: str) -> bool:
    """Whether two statements have the same numbers, dates, names and negations, whatever their other words.

    For comparing the user's sentence with a record that may have been what put it before the user: paraphrase is free
    there, a changed name, number, date or negation is news.
    """
    one, other = load_bearing(a), load_bearing(b)
    return _same_figures(one, other) and _same_names(one, other) and _same_polarity(one, other)


def kept_share(old: str, merged: str) -> float:
    """The share of the load-bearing words of `old` that `merged` still has, in [0, 1]; 1 where `old` has none."""
    before, after = load_bearing(old), load_bearing(merged)
    kept = [
        *(number in after.numbers for number in before.numbers),
        *(date in after.dates for date in before.dates),
        *(name in after.words for name in before.names | before.openers),
        *(word not in after.affirmed for word in before.negated),
    ]
    if before.is_negated:
        kept.append(after.is_negated)
    return sum(kept) / len(kept) if kept else 1.0


@lru_cache(maxsize=512)
def load_bearing(text: str) -> LoadBearing:
    """Find the words that carry a text, of which the first `CHARS_MAX` characters are looked at."""
    plain = straight_apostrophes(text[:CHARS_MAX])
    language = vote_language(fold_word(match["word"]).replace("'", "") for match in _words(plain))
    return _Reader(plain, language).read()


def _words(text: str) -> Iterator[re.Match[str]]:
    return (match for match in _TOKEN.finditer(text) if match["word"] is not None)


class _Reader:
    """One pass over a text in one language."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._ignored = stop_words()[language] | _OWN_WORDS
        self._negators = word_lists.words(f"load_bearing/negators.{language}.txt")
        self._numbers: set[str] = set()
        self._dates: set[str] = set()
        self._names: set[str] = set()
        self._openers: set[str] = set()
        self._inside: set[str] = set()
        self._outside: set[str] = set()
        self._content: set[str] = set()
        self._all: set[str] = set()
        self._reach = 0
        self._is_negated = False

    def read(self) -> LoadBearing:
        inside_names = self._read_names()
        is_start = True
        for match in _TOKEN.finditer(self._text):
            if match["stop"] is not None:
                is_start, self._reach = True, 0
            elif match["comma"] is not None:
                self._reach = 0
            else:
                if match["number"] is not None:
                    self._numbers.add(_number(match["number"], match["unit"]))
                else:
                    is_named = match.start() in inside_names
                    self._read_word(match["word"], match.end(), is_start=is_start, is_named=is_named)
                is_start = False
        return LoadBearing(
            numbers=frozenset(self._numbers),
            dates=frozenset(self._dates),
            names=frozenset(self._names),
            openers=frozenset(self._openers),
            negated=frozenset(self._inside - self._outside),
            affirmed=frozenset(self._outside - self._inside),
            is_negated=self._is_negated,
            content=frozenset(self._content),
            words=frozenset(self._all),
        )

    def _read_names(self) -> frozenset[int]:
        """Note the names of the gazetteer; the positions that they cover."""
        covered: set[int] = set()
        for sighting in gazetteer().find(self._text):
            name = f"={sighting.entry.name.casefold()}"
            self._names.add(name)
            self._all.add(name)
            covered.update(range(sighting.start, sighting.end))
        return frozenset(covered)

    def _read_word(self, written: str, end: int, *, is_start: bool, is_named: bool) -> None:
        word = fold_word(written).removesuffix("'s")
        key = inflection_key(word)
        self._all.update((word, key))
        if self._opens_negation(word, key, end):
            self._is_negated = True
            self._reach = NEGATED_WORDS_MAX
            return
        if word in word_lists.words("load_bearing/clause_breaks.txt"):
            self._reach = 0
            return
        if (count := _counts(self._language).get(word)) is not None:
            self._numbers.add(count)
        elif (date := _date_names(self._language).get(word)) is not None and (written[0].isupper() or len(word) > 3):
            self._dates.add(date)
        elif word not in self._ignored and word.replace("'", "") not in self._ignored:
            self._read_content(written, word, key, is_start=is_start, is_named=is_named)

    def _read_content(self, written: str, word: str, key: str, *, is_start: bool, is_named: bool) -> None:
        (self._inside if self._reach > 0 else self._outside).add(key)
        self._reach -= 1
        is_verb = key in _verb_keys()
        if is_named:
            return
        if any(letter.isupper() for letter in written[1:]) or (written[0].isupper() and not is_start):
            # So is every German noun, which only makes fewer statements agree there.
            self._names.add(word)
        elif written[0].isupper() and not is_verb and word not in word_lists.words("name_openers.en.txt"):
            self._openers.add(word)
        elif not is_verb:
            self._content.add(key)

    def _opens_negation(self, word: str, key: str, end: int) -> bool:
        if word == "no" and self._text[end : end + 1] == ",":  # "No, we use BigQuery now" denies another sentence
            return False
        return word.endswith("n't") or word in self._negators or key in _keys(self._negators)


def _number(written: str, unit: str) -> str:
    """A number as it is compared: no thousands commas, no ordinal suffix, any other letters kept (`10k`)."""
    bare = written.removesuffix(unit).replace("\u2212", "-").removeprefix("+")
    if _THOUSANDS.match(bare) is not None:
        bare = bare.replace(",", "")
    folded = fold_word(unit)
    return bare if folded in _ORDINAL_SUFFIXES else bare + folded


def _agree(a: LoadBearing, b: LoadBearing) -> bool:
    if not (_same_figures(a, b) and _same_names(a, b) and _same_polarity(a, b)):
        return False
    only_a, only_b = _unshared(a, b), _unshared(b, a)
    return not (only_a and only_b) and max(len(only_a), len(only_b)) <= EXTRA_WORDS_MAX


def _unshared(a: LoadBearing, b: LoadBearing) -> frozenset[str]:
    return a.content - b.words


def _same_figures(a: LoadBearing, b: LoadBearing) -> bool:
    return a.numbers == b.numbers and a.dates == b.dates


def _same_names(a: LoadBearing, b: LoadBearing) -> bool:
    """Whether each has the other's names, in whatever case. A word that opens a sentence may be one."""
    return (a.names | a.openers) <= b.words and (b.names | b.openers) <= a.words


def _same_polarity(a: LoadBearing, b: LoadBearing) -> bool:
    is_turned = (a.negated & b.affirmed) or (a.affirmed & b.negated)
    return a.is_negated == b.is_negated and not is_turned


@cache
def _verb_keys() -> frozenset[str]:
    """Verbs that go with "I", without their endings: which of them is said hardly tells facts apart."""
    return _keys(word_lists.words("first_person_verbs.en.txt"))


@lru_cache(maxsize=64)
def _keys(words: frozenset[str]) -> frozenset[str]:
    return frozenset(map(inflection_key, words))


@cache
def _counts(language: str) -> dict[str, str]:
    """Numbers in words; one is left out, because it is an article as well."""
    counts = shipped_words()[language].counts
    return {fold_word(word): str(count) for word, count in counts.items() if count > 1}


@cache
def _date_names(language: str) -> dict[str, str]:
    """Each spelling of a weekday or month with the first one."""
    tables = shipped_words()[language]
    pairs = chain(
        zip(tables.months, tables.short_months or ((),) * len(tables.months), strict=True),
        zip(tables.weekdays, tables.short_weekdays or ((),) * len(tables.weekdays), strict=True),
    )
    return {fold_word(name): fold_word(full[0]) for full, short in pairs for name in (*full, *short)}
