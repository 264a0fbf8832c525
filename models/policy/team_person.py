"""The first person plural of a user at work: "we" is the user's team in a record.

Guards: that a record says "we" to whoever reads it later. Only where the words speak of work: a household is no team,
and its "we" stays. English only. Cost: one pass of the gazetteer over a sentence. Fails: towards "we".
"""

from __future__ import annotations

import re
from functools import cache

from recalld.models.policy import word_lists
from recalld.models.policy.duplicates import fold
from recalld.models.policy.gazetteer import UNINFORMATIVE_CATEGORIES, gazetteer
from recalld.models.policy.protected_spans import code_and_quotes

_TEAM = "the user's team"
_OPENING = re.compile(
    r"\A(?:we(?P<short>['\u2019](?:re|ve|ll|d))"
    r"|we (?P<be>are|were|have|do|don['\u2019]t|aren['\u2019]t|haven['\u2019]t)"
    r"|we (?P<adverb>(?:(?:always|never|usually|often|also|only|just|still|currently|generally|mostly|now|all) )*)"
    r"(?P<verb>[a-z]+)"
    r"|(?P<our>our))(?![\w'\u2019-])",
    re.IGNORECASE,
)
_SHORT = {"re": "is", "ve": "has", "ll": "will", "d": "would"}
_BE = {
    "are": "is",
    "were": "was",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "aren't": "isn't",
    "haven't": "hasn't",
}
_LATER = re.compile(r"(?<![\w'/@#_-])(?:we|ours|our|us|ourselves)(?![\w/@#_-])", re.IGNORECASE)
_THEIRS = {"we": "they", "our": "their", "ours": "theirs", "us": "them", "ourselves": "themselves"}
_WORD = re.compile(r"[\w'-]+")


def to_team(text: str) -> str:
    """Say of the user's team what opens with "we" or "our" and speaks of work; anything else as it is.

    "We deploy with Helm" is "The user's team deploys with Helm".
    """
    opening = _OPENING.match(text)
    if opening is None or not _is_at_work(text):
        return text
    rest, shift = text[opening.end() :], opening.end()
    pieces, position = [_opened(opening)], 0
    for start, end in code_and_quotes(text):
        if start >= shift:
            pieces += (_LATER.sub(_their, rest[position : start - shift]), rest[start - shift : end - shift])
            position = end - shift
    pieces.append(_LATER.sub(_their, rest[position:]))
    return "".join(pieces)


def _is_at_work(text: str) -> bool:
    if not word_lists.words("team_words.en.txt").isdisjoint(_WORD.findall(fold(text))):
        return True
    return any(each.entry.category not in UNINFORMATIVE_CATEGORIES for each in gazetteer().find(text))


def _opened(match: re.Match[str]) -> str:
    if match["our"] is not None:
        return f"{_TEAM}'s"
    if match["short"] is not None:
        return f"{_TEAM} {_SHORT[match['short'][1:].lower()]}"
    if match["be"] is not None:
        return f"{_TEAM} {_BE[match['be'].lower().replace(chr(0x2019), chr(0x27))]}"
    verb = match["verb"]
    return f"{_TEAM} {match['adverb'] or ''}{inflected_verb(verb) if verb.lower() in _verbs() else verb}"


def inflected_verb(verb: str) -> str:
    """The third person singular of an English verb's plain form."""
    if verb.endswith("y") and verb[-2:-1] not in {*"aeiou"}:
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


def _their(match: re.Match[str]) -> str:
    return match.group() if match.group() == "US" else _THEIRS[match.group().lower()]


@cache
def _verbs() -> frozenset[str]:
    more = word_lists.words("assistant_verbs.en.txt")
    return more | word_lists.words("first_person_verbs.en.txt") | word_lists.words("team_verbs.en.txt")
