"""The second person in what a user tells the assistant: "you" is the assistant, "it" in a record.

Guards: that a record speaks to its reader: "ask before you delete anything" must not tell whoever reads it later what
they delete. English only. Cost: one pass over a short text. Fails: towards the word as it was said.
"""

from __future__ import annotations

import re
from functools import cache

from recalld.models.policy import word_lists
from recalld.models.policy.protected_spans import code_and_quotes
from recalld.models.policy.team_person import inflected_verb

_SECOND = re.compile(
    r"(?<![\w'/\\@#_=-])(?:"
    r"you(?P<short>['\u2019](?:re|ve|ll|d))"
    r"|you (?P<be>are|were|have|do|don['\u2019]t|aren['\u2019]t|haven['\u2019]t)"
    r"|you (?P<adverb>always |never |usually |often |also |only |just )?(?P<verb>[a-z]+)"
    r"|(?P<alone>you)|(?P<other>yours|yourself|your)"
    r")(?![\w'/\\@#_=-])",
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
_OTHER = {"your": "its", "yours": "its own", "yourself": "itself"}
_WORD_BEFORE = re.compile(r"([A-Za-z]+)\s+\Z")
_OBJECT_BEHIND = frozenset(
    f"{word}{ending}"
    for words, endings in (
        ("to for from with of by at about behind without on", ("",)),
        ("ask tell give send show want need let help remind thank see hear", ("", "s")),
    )
    for word in words.split()
    for ending in endings
)
"""Behind these, "you" is told or given something and does nothing."""


def to_assistant(text: str) -> str:
    """Say of the assistant what is said to it: "before you delete your notes" is "before it deletes its notes".

    Code and quotations stay as they are.
    """
    pieces: list[str] = []
    position = 0
    for start, end in code_and_quotes(text):
        pieces += (_SECOND.sub(_third, text[position:start]), text[start:end])
        position = end
    pieces.append(_SECOND.sub(_third, text[position:]))
    return "".join(pieces)


def _third(match: re.Match[str]) -> str:
    if match["other"] is not None:
        return _OTHER[match["other"].lower()]
    if match["short"] is not None:
        return f"it {_SHORT[match['short'][1:].lower()]}"
    if match["be"] is not None:
        return f"it {_BE[match['be'].lower().replace(chr(0x2019), chr(0x27))]}"
    if match["verb"] is None:
        return "it"
    adverb, verb = match["adverb"] or "", match["verb"]
    is_subject = verb.lower() in _verbs() and not _is_object(match)
    return f"it {adverb}{inflected_verb(verb) if is_subject else verb}"


def _is_object(match: re.Match[str]) -> bool:
    before = _WORD_BEFORE.search(match.string[: match.start()])
    return before is not None and before[1].lower() in _OBJECT_BEHIND


@cache
def _verbs() -> frozenset[str]:
    own = word_lists.words("first_person_verbs.en.txt")
    return own | word_lists.words("assistant_verbs.en.txt")
