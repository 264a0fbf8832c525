"""What a question that comes with a record must not be: stuffing, which would bring the record along everywhere.

Guards: the user's attention. An ask is compared with the query, question to question, so a record that claims to answer
"where do I work?" and "what is my name?" is found by both, whatever it says.
Cost: a few set operations per ask. Fails: towards letting asks through. Honest asks often share no word with their
record, nor with one another ("Which car should I buy?" and "What jacket suits me?" for "avoids leather"), so that alone
is no reason; what is refused is a question that

* holds a control token of a model ("[SEP]"), which makes it score against anything;
* strings several questions together;
* has nothing to look for but common words, and is not the question of a slot that the record fills;
* asks only what is known of one word ("What do you know about leather?"): every memory that has the word answers that;
* is longer than its record by far;

and two or more standard questions of slots that the record does not fill, of which it has no word either. It stops the
cheap kinds of stuffing, not a patient attacker: against that stand the cap of asks per record, and that an ask can only
ever raise its own record for its own user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NoReturn

import msgspec

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import NewMemory
from recalld.models.policy.duplicates import fold
from recalld.models.policy.slots import match_slots, slots
from recalld.models.policy.stop_words import stop_words
from recalld.models.policy.terms import index_terms, query_terms
from recalld.models.policy.turn.inflections import inflection_key

QUESTION_MARKS_MAX = 2
"""A question may quote another one; three are a list."""
LENGTH_SHARE_MAX, LENGTH_SPARE_CHARS = 2, 120
"""An ask may be twice as long as its record and a sentence longer: a record may be one word."""
FOREIGN_SLOTS_MAX = 1
"""Standard questions of slots that the record does not fill: one may be a near miss of the slot's patterns."""

_EMPTY_ASK = re.compile(
    r"\s*(?:so )?(?:"
    r"what (?:do|did|can) (?:you|we|i) (?:know|remember|recall|say|tell me|have|store) (?:about|of|on)\b|"
    r"(?:do|did) you (?:know|remember|recall) (?:anything|something) (?:about|of)\b|"
    r"(?:can you |please )?tell (?:me|us) (?:(?:something|more|everything|all) )?about\b|"
    r"what is (?:known|stored|remembered|noted|written|saved) (?:about|of|on)\b|"
    r"was wei(?:\u00df|ss)t du (?:\u00fcber|ueber|von)\b|que sais-tu (?:de|sur)\b|qu\u00e9 sabes (?:de|sobre)\b)"
    r"\s+(?:(?:the|my|our|a|an|der|die|das|le|la|el)\s+)?[\w-]+\s*[?.!]*\s*\Z",
    re.IGNORECASE,
)
_CONTROL_TOKEN = re.compile(r"\[(?:CLS|SEP|PAD|MASK|UNK)\]|</?s>|<(?:pad|unk|mask)>|<\|[\w-]{1,40}\|>", re.IGNORECASE)


def check_asks(memory: NewMemory) -> None:
    """Refuse asks that are stuffing; see the module for what that is.

    Args:
        memory: Checked otherwise; its asks are those that were given, before anything is added.

    Raises:
        RecalldError: `BAD_REQUEST`, naming `asks[i]` and the remedy.
    """
    if not memory.asks:
        return
    filled = {match.slot.id for match in match_slots(memory.text)}
    own_words = _keys(index_terms(" ".join((memory.text, *memory.cues))))
    foreign: list[int] = []
    for place, ask in enumerate(memory.asks):
        slot_ids = _standard_questions().get(fold(ask), frozenset())
        _check_form(place, ask, memory.text)
        if not slot_ids and not has_content(ask):
            _refuse(place, "has only common words and would fit any question; name what the memory is about")
        if slot_ids and filled.isdisjoint(slot_ids) and own_words.isdisjoint(_keys(query_terms(ask))):
            foreign.append(place)
    if len(foreign) > FOREIGN_SLOTS_MAX:
        _refuse(foreign[-1], "has nothing to do with the text; keep to questions that this memory answers")


def without_stuffing(memory: NewMemory) -> NewMemory:
    """The memory with those of its asks that pass, each on its own and all of them together.

    For asks that nobody gave: they are a help in finding the record, and none may cost it.
    """
    asks = tuple(each for each in memory.asks if _passes(msgspec.structs.replace(memory, asks=(each,))))
    kept = msgspec.structs.replace(memory, asks=asks)
    return kept if _passes(kept) else msgspec.structs.replace(memory, asks=())


def _passes(memory: NewMemory) -> bool:
    try:
        check_asks(memory)
    except RecalldError:
        return False
    return True


def has_content(ask: str) -> bool:
    """Whether a question has a word to look for beside stop words, in the language that fits it best."""
    words = {term for term in index_terms(ask) if any(map(str.isalnum, term))}
    return all(not words <= listed for listed in stop_words().values())


def _check_form(place: int, ask: str, text: str) -> None:
    if _CONTROL_TOKEN.search(ask) is not None:
        _refuse(place, "contains a control token of a language model; remove it")
    if _EMPTY_ASK.match(ask) is not None:
        _refuse(place, "asks only what is known of one word; put a question to which the text is the answer")
    if ask.count("?") + ask.count("\uff1f") > QUESTION_MARKS_MAX:
        _refuse(place, "strings several questions together; give each as an ask of its own")
    chars_max = LENGTH_SHARE_MAX * len(text) + LENGTH_SPARE_CHARS
    if len(ask) > chars_max:
        _refuse(place, f"is {len(ask)} characters, far longer than the text; use at most {chars_max} for this one")


@cache
def _standard_questions() -> dict[str, frozenset[str]]:
    """The slots that each exemplar question belongs to, by the folded question."""
    found: dict[str, frozenset[str]] = {}
    for slot in slots():
        for ask in slot.asks:
            found[fold(ask)] = found.get(fold(ask), frozenset()) | {slot.id}
    return found


def _keys(terms: Iterable[str]) -> frozenset[str]:
    return frozenset(map(inflection_key, terms))


def _refuse(place: int, what: str) -> NoReturn:
    message = f"asks[{place}]: {what}"
    raise RecalldError(ErrorCode.BAD_REQUEST, message)
