"""The wording of the judge's find: the user's own sentence as a record.

Guards: that a record is read as it was meant by somebody who was not there: "I" is the user, "we" at work the user's
team, and what only led the sentence in, or asked for something behind it, is no part of the fact.
Cost: a few passes over one sentence. Fails: towards the user's own words.
"""

from __future__ import annotations

import re

from recalld.models.policy import word_lists
from recalld.models.policy.judge.flag_words import WordFlag, word_flags, words_of
from recalld.models.policy.person import to_third_person
from recalld.models.policy.statements.wording import inflected
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE
from recalld.models.policy.team_person import to_team

_WISHED_OF = re.compile(r"\b(?P<wishes>wants|needs|expects|prefers|likes) you\b")
"""Whom a wish is addressed to: the reader of the record is not the one that was spoken to."""
_AFTER_USER = re.compile(r"(?<=\bthe user |\bThe user )(?P<adverb>no longer|now) (?P<verb>[a-z]+)\b")
"""Adverbs that may stand between "I" and its verb and that the rewriting of person does not know."""
_LEADS = re.compile(
    r"\A(?:(?:also|and|but|so|btw|by the way|ok|okay|oh|fyi|anyway|well|actually)(?:[,:!.]+\s*|\s+)"
    r"|(?:yes|yeah|no|nope|hi|hello|hey|thanks|thank you)[,:!.]+\s*"
    r"|(?:because|since|as|cos|cuz|given that)\s+(?=(?:i|we|my|our)\b))+(?=\w)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"[,;]\s*(?:so |and |but )?(?:please |pls )?"
    r"(?:remind|help|can you|could you|would you|what|which|how|please)\b.*\Z",
    re.IGNORECASE,
)
_LEADING_REQUEST = re.compile(
    r"\A[^,;:.]{3,80}[,;:]\s+(?:and |because |since |as )?(?=(?:i|we|my|our)(?:'\w+)?\b)", re.IGNORECASE
)
"""A clause in front of one in the first person: what was asked for, if it opens as a request does."""
_ORDERS = re.compile(
    r"\A(?:when|whenever|if|every|each|any|from|going|always|never|please|before|after|unless|for|in)\b", re.IGNORECASE
)
"""How an order opens, of which what stands behind the comma is the order."""
_ASIDE = re.compile(
    r"\W*(?:(?:ok|okay|no|oh|ah|well|but),? )*"
    r"(?:(?:never ?mind|nvm|forget it|scratch that|no worries|no problem|not to worry|leave it)(?: then| now)?\W*\Z"
    r"|(?:note|reminder|memo|todo|to-do) (?:to|for) (?:self|myself)\b)",
    re.IGNORECASE,
)
"""What takes the turn's own matter back, or is to be done by the user once: neither lasts."""
_WORDS_MIN = 4
"""Words that are left of a sentence whose request is cut off."""


def is_aside(text: str) -> bool:
    """Whether a sentence is a stock phrase or a note to oneself, which states nothing that lasts."""
    return _ASIDE.match(text) is not None


def statement_of(text: str, language: str) -> str:
    """The user's own words as a record: in English of the third person, in other languages as they were said."""
    own = " ".join(text.split())
    statement = _in_third_person(own) if language == DEFAULT_LANGUAGE else own
    closed = statement if statement.endswith((".", "!", "?", "\u2026")) else f"{statement}."
    return closed[:1].upper() + closed[1:]


def _in_third_person(own: str) -> str:
    plain = _LEADS.sub("", own)
    without = "" if _ORDERS.match(plain) else _REQUEST.sub("", _without_leading_request(plain))
    fact = without if len(without.split()) >= _WORDS_MIN else plain
    return _WISHED_OF.sub(r"\g<wishes> the assistant", _AFTER_USER.sub(_agreeing, to_third_person(to_team(fact))))


def _without_leading_request(plain: str) -> str:
    """What is left of "fix this Makefile, we're on FreeBSD"; a standing order keeps its reason."""
    leading = _LEADING_REQUEST.match(plain)
    if leading is None:
        return plain
    found = word_flags(words_of(leading.group()), DEFAULT_LANGUAGE)
    is_request = WordFlag.OPENER_IMPERATIVE in found and WordFlag.STANDING not in found
    return plain[leading.end() :] if is_request else plain


def _agreeing(match: re.Match[str]) -> str:
    """The adverb and its verb in the third person, where it is a verb that is known."""
    is_known = match["verb"] in word_lists.words("first_person_verbs.en.txt")
    return f"{match['adverb']} {inflected(match['verb'])}" if is_known else match.group()
