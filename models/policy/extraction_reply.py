"""A language model's list of facts, read strictly.

The answer is one JSON list of objects; an empty one is a normal answer. Prose, fences and thinking text around it are
put up with; inside it nothing is: whatever is wrong with one fact refuses that fact, with a reason from a closed list.
Whether the quote stands in the turn is the policy's to say, and so is everything else about what was understood.
"""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from recalld.models.domain.admission import OfferedFact
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.extraction import ExtractedFact, PendingTurn
from recalld.models.domain.records import (
    ASK_CHARS_MAX,
    ASKS_MAX,
    CUE_CHARS_MAX,
    CUES_MAX,
    SCOPE_CHARS_MAX,
    MemoryKind,
)
from recalld.models.policy.admission.quoted_words import QUOTE_CHARS_MAX
from recalld.models.policy.expiry import parse_expiry
from recalld.models.policy.extraction_prompt import REPLY_CHARS_MAX, turn_names, zone_of
from recalld.models.policy.reply_json import complete_lists
from recalld.models.policy.visible import has_searchable

FACTS_MAX: Final = 24
"""Facts of one answer: a dozen turns hold a few; whoever lists more has kept everything."""
STATEMENT_CHARS_MAX: Final = 1_000
"""A statement is a sentence."""
_UNWANTED: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Control and format characters, line breaks included: no sentence of ours needs one."""
_JOINERS: Final = frozenset("\u200c\u200d")
"""Format characters that words of some scripts, and emoji, are written with."""


class ExtractionFault(enum.StrEnum):
    """Why an answer was refused as a whole."""

    TRUNCATED = "truncated"
    """It stopped at the model's token ceiling, so what is missing is not known."""
    REPLY_TOO_LONG = "reply_too_long"
    UNREADABLE = "unreadable"
    """No complete JSON list of objects, or one nested, numbered or broken beyond reason."""
    TOO_MANY = "too_many"


class FactFault(enum.StrEnum):
    """Why one fact of an answer was refused."""

    WRONG_TYPE = "wrong_type"
    """A field is missing, or is of another type than it must be."""
    NO_STATEMENT = "no_statement"
    STATEMENT_TOO_LONG = "statement_too_long"
    UNKNOWN_KIND = "unknown_kind"
    NO_QUOTE = "no_quote"
    QUOTE_TOO_LONG = "quote_too_long"
    UNKNOWN_TURN = "unknown_turn"
    BAD_SCOPE = "bad_scope"
    BAD_EXPIRY = "bad_expiry"
    """It names no moment, or one that lay behind the turn."""
    BAD_CUES = "bad_cues"
    BAD_ASKS = "bad_asks"
    CONTROL_CHARACTER = "control_character"


class ExtractionReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a model found.

    Attributes:
        facts: Those that were understood, in the answer's order.
        refused: Why each of the others was not, in the answer's order.
    """

    facts: tuple[ExtractedFact, ...] = ()
    refused: tuple[FactFault, ...] = ()


class _Fact(msgspec.Struct):
    """A fact as a model writes it. Further fields are ignored."""

    statement: str
    quote: str
    turn: str
    kind: str = MemoryKind.FACT
    scope: str | None = None
    expires_at: str | None = None
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


def parse_extraction_reply(
    text: str, turns: Sequence[PendingTurn], *, was_truncated: bool
) -> ExtractionReply | ExtractionFault:
    """Read an answer. Linear in the text.

    Of several lists the last complete one counts: a model that thinks aloud drafts before it answers.

    Args:
        text: The whole answer.
        turns: What was asked about, as it was given to `extraction_prompt`.
        was_truncated: Whether the model stopped at its token ceiling rather than by itself.
    """
    if was_truncated:
        return ExtractionFault.TRUNCATED
    if len(text) > REPLY_CHARS_MAX:
        return ExtractionFault.REPLY_TOO_LONG
    try:
        lists = complete_lists(text)
        written = msgspec.json.decode(lists[-1].encode(), type=list[msgspec.Raw]) if lists else None
    except (RecursionError, ValueError):  # msgspec's errors, and those of half surrogate pairs, are ValueErrors
        return ExtractionFault.UNREADABLE
    if written is None:
        return ExtractionFault.UNREADABLE
    if len(written) > FACTS_MAX:
        return ExtractionFault.TOO_MANY
    names = turn_names(turns)
    read = [_read(each, names) for each in written]
    return ExtractionReply(
        facts=tuple(each for each in read if isinstance(each, ExtractedFact)),
        refused=tuple(each for each in read if isinstance(each, FactFault)),
    )


def _read(written: msgspec.Raw, names: Mapping[str, PendingTurn]) -> ExtractedFact | FactFault:
    try:
        fact = msgspec.json.decode(written, type=_Fact)
    except msgspec.DecodeError:
        return FactFault.WRONG_TYPE
    turn = names.get(fact.turn)
    if turn is None:
        return FactFault.UNKNOWN_TURN
    wrong = _wrong_with(fact)
    if wrong is not None:
        return wrong
    try:
        zone = zone_of(turn)
        expires_at_ms = parse_expiry(fact.expires_at, now_ms=turn.at_ms, zone=zone) if fact.expires_at else None
    except RecalldError:
        return FactFault.BAD_EXPIRY
    offered = OfferedFact(
        statement=fact.statement.strip(),
        kind=MemoryKind(fact.kind),
        scope=fact.scope.strip() if fact.scope and fact.scope.strip() else None,
        quote=fact.quote.strip(),
        cues=tuple(map(str.strip, fact.cues)),
        asks=tuple(map(str.strip, fact.asks)),
        expires_at_ms=expires_at_ms,
    )
    return ExtractedFact(turn_number=turn.number, fact=offered)


def _wrong_with(fact: _Fact) -> FactFault | None:
    """The first thing that is wrong with a fact; None when nothing is. A quote may span lines, nothing else does."""
    texts = (fact.statement, fact.scope or "", *fact.cues, *fact.asks)
    checks = (
        (has_searchable(fact.statement), FactFault.NO_STATEMENT),
        (len(fact.statement) <= STATEMENT_CHARS_MAX, FactFault.STATEMENT_TOO_LONG),
        (fact.kind in frozenset(MemoryKind), FactFault.UNKNOWN_KIND),
        (has_searchable(fact.quote), FactFault.NO_QUOTE),
        (len(fact.quote) <= QUOTE_CHARS_MAX, FactFault.QUOTE_TOO_LONG),
        (len(fact.scope or "") <= SCOPE_CHARS_MAX, FactFault.BAD_SCOPE),
        (_is_list(fact.cues, CUES_MAX, CUE_CHARS_MAX), FactFault.BAD_CUES),
        (_is_list(fact.asks, ASKS_MAX, ASK_CHARS_MAX), FactFault.BAD_ASKS),
        (not any(map(_has_unwanted, texts)), FactFault.CONTROL_CHARACTER),
    )
    return next((fault for is_right, fault in checks if not is_right), None)


def _is_list(entries: tuple[str, ...], count_max: int, chars_max: int) -> bool:
    return len(entries) <= count_max and all(len(each) <= chars_max and has_searchable(each) for each in entries)


def _has_unwanted(text: str) -> bool:
    return any(unicodedata.category(each) in _UNWANTED and each not in _JOINERS for each in text)
