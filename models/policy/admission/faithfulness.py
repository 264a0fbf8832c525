"""Whether a model's statement says what the user's sentence says: the same person, the same way round, the same things.

Guards: the store against a statement that its own quote does not bear out: "My brother collects stamps" for "The user
collects stamps", "I eat meat" for "does not eat meat", "We keep" for anything at all. Cost: one sentence and one
statement read. Fails: closed within one language; a statement in another language than the sentence can be held
against it by its names, numbers and negations alone, and where these bear nothing out it is noted only.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Final

from recalld.models.policy import word_lists
from recalld.models.policy.admission.tokens import words_of
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.load_bearing import load_bearing
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE, stop_words, vote_language
from recalld.models.policy.term_text import fold_word
from recalld.models.policy.turn.inflections import inflection_key

COVERED_SHARE_MIN: Final = 0.25
"""Of a statement's words that say something, the share that the sentence behind it must have, word stems compared."""
SHARE_WORDS_MIN: Final = 3
"""A statement with fewer such words needs one of them in the sentence."""
STEM_CHARS: Final = 4
"""Letters that two words begin with where one is an inflection of the other, or its relative in a near language."""
BARE_WORDS_MAX: Final = 2
"""A quote with no more words than these says no attitude that it does not name."""

_WORD: Final = re.compile(r"[^\W_]+")
_TEMPLATE: Final = frozenset(
    map(
        inflection_key,
        [
            "user",
            "want",
            "prefer",
            "like",
            "use",
            "team",
            "work",
            "live",
            "name",
            "call",
            "tell",
            "ask",
            "say",
            "pronoun",
            "reply",
            "answer",
            "assistant",
        ],
    )
)
"""What statements are built with, and quotes need not have: "he/him" for "The user's pronouns are he/him"."""
_LIKE: Final = frozenset({"like", "likes", "love", "loves", "adore", "adores", "enjoy", "enjoys", "prefer", "prefers"})
_DISLIKE: Final = frozenset({"hate", "hates", "dislike", "dislikes", "detest", "detests", "loathe", "loathes"})
_LIMITS: Final = frozenset(
    [
        "only",
        "instead",
        "unless",
        "until",
        "before",
        "except",
        "without",
        "most",
        "least",
        "free",
        "stop",
        "stopped",
        "avoid",
        "avoids",
        "rather",
        "than",
    ]
)
"""Words by which a statement keeps a denial without a negator: "never without tests" is "only with tests"."""
_OWNERS: Final = r"my|our|mein(?:e|er)?|unser(?:e|er)?|mon|ma|mes|notre|nos|mis?|nuestr[oa]s?"
_SUBJECTS: Final = re.compile(
    r"(?:(?:^|[,;:(.!?\n\u2013\u2014-]|\b(?:and|but|und|aber|et|mais|y|pero))"
    rf"\s*(?:{_OWNERS})\s+(?:[^\W\d_]+\s+)??(?P<kin>[^\W\d_]+))"
    r"|\b(?P<own>i|we|me|us|im|ive|ich|wir|mir|mich|uns|j|je|nous|on|moi|yo|nosotr[oa]s|nos|me)\b",
    re.IGNORECASE,
)
_USERS: Final = re.compile(r"\W*the user's\b", re.IGNORECASE)


class Fault(enum.Enum):
    """What is wrong with a statement."""

    SUBJECT = "subject"
    POLARITY = "polarity"
    COVERAGE = "coverage"
    UNSEEN = "unseen"
    """Nothing is known to be wrong, and nothing bears it out: it is in another language."""


def find_fault(statement: str, quote: str, sentence: str, upto_quote: str, *, said_in: str) -> Fault | None:
    """What is wrong with a statement; None where nothing is.

    Args:
        statement: In the third person.
        quote: The user's words that it is said to be made of.
        sentence: The sentence or sentences around the quote.
        upto_quote: The sentence from its start to the end of the quote.
        said_in: The language of the sentence.
    """
    if _changes_subject(statement, upto_quote):
        return Fault.SUBJECT
    language = _language(statement)
    if said_in != language and not _is_alike(statement, sentence):
        return _unseen(statement, sentence)
    if _is_turned(statement, quote, language):
        return Fault.POLARITY
    return None if _is_covered(statement, sentence) else Fault.COVERAGE


def _changes_subject(statement: str, upto_quote: str) -> bool:
    """Whether what the user's own people do is said of the user."""
    subject, at = "", 0
    plain = straight_apostrophes(upto_quote)
    for match in _SUBJECTS.finditer(plain):
        if match["own"]:
            subject = ""
        elif fold_word(match["kin"]) in _kin():
            subject, at = match["kin"], match.end()
    if not subject:
        return False
    words = _words(statement)
    name = _WORD.match(plain[at:].lstrip())
    names = {fold_word(name[0])} if name is not None and name[0][0].isupper() else set[str]()
    named = words | {word.removesuffix("s") for word in words}
    return named.isdisjoint(_kin() | names) and _USERS.match(straight_apostrophes(statement)) is None


def _is_turned(statement: str, quote: str, language: str) -> bool:
    """Whether a statement denies what its quote says, or says what its quote denies."""
    said, stated = load_bearing(quote), load_bearing(statement)
    is_denied = said.is_negated or "n't" in words_of(straight_apostrophes(quote))
    if is_denied == stated.is_negated:
        return False
    if stated.is_negated:
        shared = stated.negated & said.affirmed
        is_attitude = bool(said.words & _LIKE and stated.words & _DISLIKE)
        is_bare = len(_WORD.findall(quote)) <= BARE_WORDS_MAX
        return bool(shared) and (is_attitude or is_bare or _has_verb(shared, language))
    shared = said.negated & stated.affirmed
    return bool(shared) and not stated.words & _LIMITS and _has_verb(shared, language)


def _has_verb(keys: AbstractSet[str], language: str) -> bool:
    """Whether one of some words is known as a verb; in other languages than English, where no list says, any is."""
    return language != DEFAULT_LANGUAGE or bool(keys & _verb_keys())


def _is_covered(statement: str, sentence: str) -> bool:
    wanted = _content(statement)
    hits = len(_shared(wanted, sentence))
    if not wanted:
        return True
    return hits > 0 and (len(wanted) < SHARE_WORDS_MIN or hits >= COVERED_SHARE_MIN * len(wanted))


def _is_alike(statement: str, sentence: str) -> bool:
    """Whether a short statement or sentence was only taken for one in another language: most of its words are there."""
    wanted = _content(statement)
    return bool(wanted) and 2 * len(_shared(wanted, sentence)) > len(wanted)


def _unseen(statement: str, sentence: str) -> Fault | None:
    said, stated = load_bearing(sentence), load_bearing(statement)
    wanted = _content(statement)
    is_borne_out = not wanted or bool(_shared(wanted, sentence) or said.numbers & stated.numbers)
    return None if is_borne_out and (said.is_negated or not stated.is_negated) else Fault.UNSEEN


def _content(statement: str) -> frozenset[str]:
    """The words of a statement that say something, without their endings."""
    ignored = stop_words()[_language(statement)] | stop_words()[DEFAULT_LANGUAGE]
    keys = (inflection_key(word) for word in _words(statement) if word not in ignored and len(word) > 1)
    return frozenset(key for key in keys if key not in _TEMPLATE)


def _shared(wanted: AbstractSet[str], sentence: str) -> frozenset[str]:
    said = frozenset(map(inflection_key, _words(sentence)))
    stems = frozenset(word[:STEM_CHARS] for word in said if len(word) >= STEM_CHARS)
    return frozenset(
        word for word in wanted if word in said or (len(word) >= STEM_CHARS and word[:STEM_CHARS] in stems)
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(map(fold_word, _WORD.findall(straight_apostrophes(text))))


def _language(text: str) -> str:
    return vote_language(fold_word(word) for word in _WORD.findall(text))


@cache
def _kin() -> frozenset[str]:
    return frozenset(map(fold_word, word_lists.words("admission/kin.txt")))


@cache
def _verb_keys() -> frozenset[str]:
    return frozenset(map(inflection_key, word_lists.words("first_person_verbs.en.txt")))
