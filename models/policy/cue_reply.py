"""A lent model's headings and questions for one memory, read strictly.

The answer is one JSON object with the lists `cues` and `asks`. Prose, fences and thinking text around it are put up
with; inside it nothing is: whatever is wrong with one entry refuses the whole answer, so that nothing is stored that
nobody understood. Other fields of the object are ignored.
"""

from __future__ import annotations

import enum
import unicodedata
from typing import Final

import msgspec

from recalld.models.domain.records import ASK_CHARS_MAX, ASKS_MAX, CUE_CHARS_MAX, CUES_MAX
from recalld.models.policy.cue_prompt import REPLY_CHARS_MAX
from recalld.models.policy.duplicates import fold
from recalld.models.policy.reply_json import complete_objects
from recalld.models.policy.visible import has_searchable

_UNWANTED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Control and format characters, line breaks included: no heading and no question needs one."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Format characters that words of some scripts, and emoji, are written with."""


class CueReplyFault(enum.StrEnum):
    """Why an answer was refused."""

    TRUNCATED = "truncated"
    """It stopped at the model's token ceiling, so what is missing is not known."""
    REPLY_TOO_LONG = "reply_too_long"
    UNREADABLE = "unreadable"
    """No complete JSON object, or objects nested, numbered or broken beyond reason."""
    NO_LISTS = "no_lists"
    """No object has both `cues` and `asks`."""
    WRONG_TYPE = "wrong_type"
    """`cues` or `asks` is no list of texts."""
    NO_ASKS = "no_asks"
    """The list of asks is empty: the model found no question that the memory answers."""
    TOO_MANY = "too_many"
    EMPTY_ENTRY = "empty_entry"
    """An entry has no letter, number or symbol."""
    ENTRY_TOO_LONG = "entry_too_long"
    CONTROL_CHARACTER = "control_character"
    REPEATED = "repeated"
    """Two entries of a list are the same words."""
    NOT_ADMITTED = "not_admitted"
    """The rules for every memory refuse it."""


class CueReply(msgspec.Struct, frozen=True, kw_only=True):
    """Headings and questions for one memory, trimmed; at least one question."""

    cues: tuple[str, ...]
    asks: tuple[str, ...]


class CueReplyError(msgspec.Struct, frozen=True, kw_only=True):
    """Why an answer was refused, as a value and as a sentence for people; never with words of the answer."""

    fault: CueReplyFault
    detail: str


class _Lists(msgspec.Struct):
    """The fields undecoded; no bytes at all for a missing one."""

    cues: msgspec.Raw = msgspec.Raw()
    asks: msgspec.Raw = msgspec.Raw()


def parse_cue_reply(text: str, *, was_truncated: bool) -> CueReply | CueReplyError:
    """Read an answer. Linear in the text.

    Of several objects the last complete one with both lists counts: a model that thinks aloud drafts before it answers.
    Objects inside others are not answers.

    Args:
        text: The whole answer.
        was_truncated: Whether the model stopped at its token ceiling rather than by itself.
    """
    if was_truncated:
        return _error(CueReplyFault.TRUNCATED, "the answer was cut at its token ceiling; raise the ceiling")
    if len(text) > REPLY_CHARS_MAX:
        return _error(CueReplyFault.REPLY_TOO_LONG, f"the answer has over {REPLY_CHARS_MAX} characters")
    try:
        objects = [each for each in map(_read, complete_objects(text)) if each is not None]
    except (RecursionError, ValueError):
        return _error(CueReplyFault.UNREADABLE, "the answer is nested too deeply or broken too often")
    if not objects:
        return _error(CueReplyFault.UNREADABLE, "the answer has no complete JSON object")
    answers = [each for each in objects if bytes(each.cues) and bytes(each.asks)]
    if not answers:
        return _error(CueReplyFault.NO_LISTS, "no JSON object of the answer has both `cues` and `asks`")
    return _checked(answers[-1])


def _checked(lists: _Lists) -> CueReply | CueReplyError:
    try:
        cues = msgspec.json.decode(lists.cues, type=tuple[str, ...])
        asks = msgspec.json.decode(lists.asks, type=tuple[str, ...])
    except msgspec.ValidationError:
        return _error(CueReplyFault.WRONG_TYPE, "`cues` and `asks` must be lists of texts")
    reply = CueReply(cues=tuple(map(str.strip, cues)), asks=tuple(map(str.strip, asks)))
    if not reply.asks:
        return _error(CueReplyFault.NO_ASKS, "`asks` is empty")
    wrong = _wrong_with("cues", reply.cues, CUES_MAX, CUE_CHARS_MAX)
    return wrong or _wrong_with("asks", reply.asks, ASKS_MAX, ASK_CHARS_MAX) or reply


def _wrong_with(field: str, entries: tuple[str, ...], count_max: int, chars_max: int) -> CueReplyError | None:
    """What is wrong with a list; None when nothing is."""
    if len(entries) > count_max:
        return _error(CueReplyFault.TOO_MANY, f"`{field}` has {len(entries)} entries, more than {count_max}")
    for place, entry in enumerate(entries):
        if any(_is_unwanted(character) for character in entry):
            return _error(CueReplyFault.CONTROL_CHARACTER, f"`{field}[{place}]` has a control character or line break")
        if not has_searchable(entry):
            return _error(CueReplyFault.EMPTY_ENTRY, f"`{field}[{place}]` says nothing")
        if len(entry) > chars_max:
            return _error(CueReplyFault.ENTRY_TOO_LONG, f"`{field}[{place}]` has over {chars_max} characters")
    if len(set(map(fold, entries))) < len(entries):
        return _error(CueReplyFault.REPEATED, f"`{field}` says the same thing twice")
    return None


def _is_unwanted(character: str) -> bool:
    return unicodedata.category(character) in _UNWANTED and character not in _JOINERS


def _read(written: str) -> _Lists | None:
    """The two fields of an object; None for what only a lenient reader takes for JSON."""
    try:
        return msgspec.json.decode(written.encode(), type=_Lists)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _error(fault: CueReplyFault, detail: str) -> CueReplyError:
    return CueReplyError(fault=fault, detail=detail)
