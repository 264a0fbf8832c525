"""Candidates of an observed turn, each read by itself: one that cannot be read leaves the others and the turn alone."""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from recalld.daemon.gateway import translate
from recalld.models.domain import admission, records
from recalld.models.domain.errors import RecalldError
from recalld.models.policy.expiry import parse_expiry
from recalld.protocol import fields, items

_STATEMENT: Final = "statement"
_KIND: Final = "kind"
_SCOPE: Final = "scope"
_EXPIRES_AT: Final = "expires_at"


class ReadCandidates(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime's model found in a turn.

    Attributes:
        offered: The candidates that can be read, in their order.
        unreadable: For each other one the field at fault, such as `candidates[2].expires_at`.
    """

    offered: tuple[admission.OfferedFact, ...] = ()
    unreadable: tuple[str, ...] = ()


class _FieldError(ValueError):
    """A field holds nothing that it may hold; its name is all there is to say."""


def read_candidates(candidates: Sequence[items.OfferedFact], zone: zoneinfo.ZoneInfo | None) -> ReadCandidates:
    """Read each candidate.

    Args:
        candidates: As they came.
        zone: In which moments without an offset are; None: they cannot be read.
    """
    offered: list[admission.OfferedFact] = []
    unreadable: list[str] = []
    for place, candidate in enumerate(candidates):
        try:
            offered.append(_read(candidate, zone))
        except _FieldError as error:
            unreadable.append(f"candidates[{place}].{error}")
    return ReadCandidates(offered=tuple(offered), unreadable=tuple(unreadable))


def _read(candidate: items.OfferedFact, zone: zoneinfo.ZoneInfo | None) -> admission.OfferedFact:
    if not candidate.statement.strip():
        raise _FieldError(_STATEMENT)
    return admission.OfferedFact(
        statement=_bounded(_STATEMENT, candidate.statement, fields.MEMORY_CHARS_MAX),
        kind=_kind(candidate.kind),
        scope=None if candidate.scope is None else _scope(candidate.scope),
        quote=_bounded("quote", candidate.quote, fields.QUOTE_CHARS_MAX),
        cues=_texts("cues", candidate.cues, fields.CUES_MAX, fields.CUE_CHARS_MAX),
        asks=_texts("asks", candidate.asks, fields.ASKS_MAX, fields.ASK_CHARS_MAX),
        expires_at_ms=None if candidate.expires_at is None else _moment(candidate.expires_at, zone),
        slot=_bounded("slot", candidate.slot, fields.SLOT_CHARS_MAX),
    )


def _bounded(field: str, text: str, chars_max: int) -> str:
    if len(text) > chars_max:
        raise _FieldError(field)
    return text


def _texts(field: str, texts: Iterable[str], count_max: int, chars_max: int) -> tuple[str, ...]:
    bounded = tuple(_bounded(field, text, chars_max) for text in texts)
    if len(bounded) > count_max:
        raise _FieldError(field)
    return bounded


def _kind(name: str) -> records.MemoryKind:
    try:
        return records.MemoryKind(name)
    except ValueError as error:
        raise _FieldError(_KIND) from error


def _scope(scope: str) -> str:
    try:
        return translate.checked_scope(_bounded(_SCOPE, scope, fields.SCOPE_CHARS_MAX))
    except RecalldError as error:
        raise _FieldError(_SCOPE) from error


def _moment(value: str | int, zone: zoneinfo.ZoneInfo | None) -> int:
    try:
        # Whether that is over is a matter of policy.
        return parse_expiry(value, now_ms=0, zone=zone)
    except RecalldError as error:
        raise _FieldError(_EXPIRES_AT) from error
