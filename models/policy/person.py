"""Grammatical person in English: "I" to "the user" in a query, "The user" to "I" in a record.

A cross-encoder reacts to surface form: "I" against "The user" pushes true matches down. Both rewrites are a form of
speech only, never stored. What they leave alone, on purpose: code, quotations, identifiers and paths; "I" as a letter
or a number (I/O, Type I); "we", "our" and "us", because a team is not the user and records speak of teams as "we" too;
"they" and "their", whose owner is uncertain. Other languages pass through unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from recalld.models.policy import word_lists
from recalld.models.policy.protected_spans import code_and_quotes

_BEFORE = r"(?<![\w'\u2019/\\@#_=+*<>{}\[\]$~^|&.\-])"
_AFTER = r"(?![\w/\\@#_=+*<>{}\[\]$~^|&\-]|\.\w|\()"
_ADVERBS = (
    "always|never|usually|often|really|also|just|still|currently|generally|normally|sometimes|already|only|mostly"
)
_FIRST_PERSON = re.compile(
    rf"{_BEFORE}(?:"
    rf"(?P<inverted>am|do|have|haven['\u2019]t|don['\u2019]t)[ \t]+I{_AFTER}"
    rf"|(?P<contracted>I['\u2019](?:m|ve|d|ll)|I(?:ve|m)(?![\w'\u2019])){_AFTER}"
    rf"|I(?:[ \t]+(?P<adverb>{_ADVERBS}))?[ \t]+(?P<verb>[a-z]+(?:['\u2019]t)?){_AFTER}"
    rf"|(?P<alone>I){_AFTER}"
    rf"|(?P<other>my|mine|me|myself){_AFTER}"
    r")",
    re.IGNORECASE,
)
_INVERTED = {"am": "is", "do": "does", "have": "has", "haven't": "hasn't", "don't": "doesn't"}
_CONTRACTED = {"m": "is", "ve": "has", "ll": "will"}
_IRREGULAR = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't", "go": "goes"}
_OTHER = {"my": "the user's", "me": "the user", "myself": "themselves", "mine": "the user's"}
_BEFORE_MINE = re.compile(r"it|this|that|of|is|are|was|were|like|than|as|and|or|with|from|to|for|not")
_BE = frozenset({"is", "are", "was", "were"})
_HAD_WORDS = frozenset({"better", "been", "had", "gone", "done"})
_WORD_BEFORE = re.compile(r"([A-Za-z'\u2019]+)[ \t]+$")
_WORD_AFTER = re.compile(r"[ \t]+([A-Za-z'\u2019]+)")

_THIRD_PERSON = re.compile(
    rf"{_BEFORE}(?:(?:the[ \t]+)user|(?m:^)user)(?P<possessive>['\u2019]s)?(?![\w/\\@_=<>\-]|['\u2019]\w|\.\w)"
    rf"(?P<rest>(?:[ \t]+(?P<adverb>{_ADVERBS})(?=[ \t]))?[ \t]+(?P<verb>[A-Za-z]+(?:['\u2019]t)?)(?![\w\-]))?",
    re.IGNORECASE,
)
_DE_INFLECTED = {
    "is": "am",
    "has": "have",
    "does": "do",
    "goes": "go",
    "isn't": "am not",
    "doesn't": "don't",
    "hasn't": "haven't",
}
_UNCHANGED = frozenset(
    {"was", "wasn't", "had", "did", "can", "could", "cannot", "will", "would", "should", "must", "may"}
)


def to_third_person(query: str) -> str:
    """Rewrite the first person to "the user": "what do I prefer?" becomes "what does the user prefer?"."""
    return _outside_protected(query, lambda prose: _FIRST_PERSON.sub(_third, prose))


def to_first_person(record: str) -> str:
    """Rewrite "the user" to the first person: "The user prefers tabs" becomes "I prefer tabs"."""
    return _outside_protected(record, lambda prose: _THIRD_PERSON.sub(_first, prose))


def _outside_protected(text: str, rewrite: Callable[[str], str]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end in code_and_quotes(text):
        pieces += (rewrite(text[position:start]), text[start:end])
        position = end
    pieces.append(rewrite(text[position:]))
    return "".join(pieces)


@cache
def _verbs() -> frozenset[str]:
    return word_lists.words("first_person_verbs.en.txt")


@cache
def _auxiliaries() -> frozenset[str]:
    return word_lists.words("auxiliaries.en.txt")


def _third(match: re.Match[str]) -> str:
    if match["other"] is not None:
        return _third_other(match)
    if match["inverted"] is not None:
        return _like_start(match, f"{_INVERTED[_plain(match['inverted'])]} the user")
    if match["contracted"] is not None:
        return _like_start(match, f"the user {_contracted(match)}")
    if _is_not_pronoun(match):
        return match.group()
    subject = "the user" if match["adverb"] is None else f"the user {match['adverb']}"
    if match["verb"] is None:
        return _like_start(match, subject)
    is_inverted = _word_before(match) in _auxiliaries()
    verb = match["verb"] if is_inverted else _inflect(match["verb"])
    return _like_start(match, f"{subject} {verb}")


def _contracted(match: re.Match[str]) -> str:
    """The auxiliary of I'm, I've, I'd, I'll."""
    ending = _plain(match["contracted"])[1:].lstrip("'")
    if ending != "d":
        return _CONTRACTED[ending]
    following = _WORD_AFTER.match(match.string, match.end())
    word = following[1].lower() if following else ""
    return "had" if word in _HAD_WORDS else "would"


def _is_not_pronoun(match: re.Match[str]) -> bool:
    """Whether this "I" is a number or a loop variable."""
    before = _word_before(match)
    verb = match["verb"]
    is_followed_by_verb = verb is not None and _plain(verb) in (_verbs() | _auxiliaries())
    if match.group()[0] == "I":
        return before in word_lists.words("roman_one_nouns.en.txt") and not is_followed_by_verb
    return before == "for" or (not is_followed_by_verb and verb in {"in", "is"})


def _third_other(match: re.Match[str]) -> str:
    word = match["other"]
    if word.lower() == "mine" and _BEFORE_MINE.fullmatch(_word_before(match)) is None:
        following = _WORD_AFTER.match(match.string, match.end())
        if not _starts_clause(match) or following is None or following[1].lower() not in _BE:
            return word
    return _like_start(match, _OTHER[word.lower()])


def _inflect(verb: str) -> str:
    """The third person of a known verb; anything else (past, modal, unknown) as it is."""
    plain = _plain(verb)
    if plain in _IRREGULAR:
        return _IRREGULAR[plain]
    if plain not in _verbs():
        return verb
    if plain.endswith("y") and plain[-2] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if plain.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"


def _first(match: re.Match[str]) -> str:
    if match["possessive"] is not None:
        return _like_start(match, "my") + (match["rest"] or "")
    verb = None if match["verb"] is None else _plain(match["verb"])
    if verb in word_lists.words("user_compounds.en.txt"):
        return match.group()
    if not match.group().lower().startswith("the") and (verb is None or not _is_finite(verb)):
        return match.group()
    rest = match["rest"] or ""
    if verb is not None and _is_finite(verb):
        adverb = "" if match["adverb"] is None else f" {match['adverb']}"
        return f"I{adverb} {_de_inflect(match['verb'])}"
    is_subject = _starts_clause(match)
    return ("I" if is_subject else "me") + rest


def _is_finite(verb: str) -> bool:
    """Whether a word after "the user" looks like its verb."""
    if verb in _DE_INFLECTED or verb in _UNCHANGED:
        return True
    if verb.endswith("s") and not verb.endswith(("ss", "us", "is")):
        return True
    return verb.endswith("ed")


def _de_inflect(verb: str) -> str:
    plain = _plain(verb)
    if plain in _DE_INFLECTED:
        return _DE_INFLECTED[plain]
    if not plain.endswith("s") or plain in _UNCHANGED:
        return verb
    if plain.endswith("ies") and len(plain) > len("lies"):  # lies, dies and ties keep their e
        return f"{verb[:-3]}y"
    if plain.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb[:-2]
    return verb[:-1]


def _starts_clause(match: re.Match[str]) -> bool:
    before = match.string[: match.start()].rstrip()
    return not before or before[-1] in ".!?;:\n"


def _word_before(match: re.Match[str]) -> str:
    start = max(0, match.start() - 40)
    found = _WORD_BEFORE.search(match.string[start : match.start()])
    return _plain(found[1]) if found else ""


def _plain(word: str) -> str:
    return word.lower().replace("\u2019", "'")


def _like_start(match: re.Match[str], replacement: str) -> str:
    """Capitalise the replacement where a sentence starts."""
    is_capital = _starts_clause(match) and match.group()[0].isupper()
    return replacement[0].upper() + replacement[1:] if is_capital else replacement
