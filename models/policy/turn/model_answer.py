"""A small model's answer to "does this turn need memory?", read strictly.

The answer is a JSON object with `run` (a boolean), and `query` and `reason` if the model has any. Prose, fences and
thinking text around it are put up with; a missing or unclear decision is an error, never a no: what could not be read
must not silence a recall.
"""

from __future__ import annotations

import enum

import msgspec

from recalld.models.policy.reply_json import complete_objects
from recalld.models.policy.visible import has_visible

ANSWER_CHARS_MAX = 65_536
"""Longest answer that is read, thinking text included."""
QUERY_CHARS_MAX = 400
"""Longest query taken from a model; a longer one is prose, and the message itself is the better query."""
REASON_CHARS_MAX = 400
_NO_QUERY = frozenset({"", "null", "none"})
"""What models write when they have no query."""
_DECISIONS = {"true": True, "false": False}


class AnswerFault(enum.StrEnum):
    """Why a model's answer cannot be used."""

    TRUNCATED = "truncated"
    """It stopped at its token ceiling, so what is missing is not known."""
    TOO_LONG = "too_long"
    UNREADABLE = "unreadable"
    """No complete JSON object, or objects nested, numbered or broken beyond reason."""
    NO_DECISION = "no_decision"
    """No object has the key, or its value is null."""
    DECISION_NOT_BOOLEAN = "decision_not_boolean"


class ModelAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the model decided.

    Attributes:
        run: Whether to recall.
        query: What to look for; None when the model gave none that can be used, and the message stands in for it.
        reason: The model's own words, cut at `REASON_CHARS_MAX`; for logs of a person who asked, never for rules.
    """

    run: bool
    query: str | None = None
    reason: str = ""


class ModelAnswerError(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no decision, as a value and as a sentence for people."""

    fault: AnswerFault
    detail: str


class _Fields(msgspec.Struct):
    """The fields undecoded; no bytes at all for a missing decision."""

    run: msgspec.Raw = msgspec.Raw()
    query: msgspec.Raw = msgspec.Raw(b"null")
    reason: msgspec.Raw = msgspec.Raw(b"null")


def parse_model_answer(text: str, *, was_truncated: bool) -> ModelAnswer | ModelAnswerError:
    """Read a model's answer. Linear in the text.

    Of several objects the last complete one with the key `run` counts: a model that thinks aloud drafts before it
    answers. Objects inside others are not answers. The strings "true" and "false" count as booleans.

    Args:
        text: The whole reply.
        was_truncated: Whether the model stopped at its token ceiling rather than by itself.
    """
    if was_truncated:
        return _error(AnswerFault.TRUNCATED, "the reply was cut at its token ceiling; raise the ceiling")
    if len(text) > ANSWER_CHARS_MAX:
        return _error(AnswerFault.TOO_LONG, f"the reply has {len(text)} characters, more than {ANSWER_CHARS_MAX}")
    try:
        objects = _complete_objects(text)
    except (RecursionError, ValueError):
        return _error(
            AnswerFault.UNREADABLE, "the reply is nested too deeply, broken too often or has too long a number"
        )
    if not objects:
        return _error(AnswerFault.UNREADABLE, "the reply has no complete JSON object")
    decided = [each for each in objects if bytes(each.run)]
    if not decided:
        return _error(AnswerFault.NO_DECISION, "no JSON object of the reply has the key `run`")
    return _answer(decided[-1])


def _answer(fields: _Fields) -> ModelAnswer | ModelAnswerError:
    try:
        run: bool | str | None = msgspec.json.decode(fields.run, type=bool | str | None)
    except msgspec.ValidationError:
        return _error(AnswerFault.DECISION_NOT_BOOLEAN, "`run` must be true or false")
    if run is None:
        return _error(AnswerFault.NO_DECISION, "`run` is null; it must be true or false")
    decision = _DECISIONS.get(run.strip().lower()) if isinstance(run, str) else run
    if decision is None:
        return _error(AnswerFault.DECISION_NOT_BOOLEAN, "`run` is a string other than true or false")
    query = _text(fields.query)
    is_usable = query.lower() not in _NO_QUERY and len(query) <= QUERY_CHARS_MAX and has_visible(query)
    return ModelAnswer(run=decision, query=query if is_usable else None, reason=_text(fields.reason)[:REASON_CHARS_MAX])


def _complete_objects(text: str) -> list[_Fields]:
    """The outermost complete objects in text order. Raises as `reply_json.complete_objects`."""
    return [fields for fields in map(_fields, complete_objects(text)) if fields is not None]


def _fields(written: str) -> _Fields | None:
    """The fields of an object; None for what only a lenient reader takes for JSON: NaN, half a surrogate pair."""
    try:
        return msgspec.json.decode(written.encode(), type=_Fields)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _text(raw: msgspec.Raw) -> str:
    """The string in a field, trimmed; empty when it holds anything else."""
    try:
        return msgspec.json.decode(raw, type=str).strip()
    except msgspec.ValidationError:
        return ""


def _error(fault: AnswerFault, detail: str) -> ModelAnswerError:
    return ModelAnswerError(fault=fault, detail=detail)
