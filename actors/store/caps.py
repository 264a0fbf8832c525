"""Doing something inside a transaction if the caps allow what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec

from recalld.actors.store.admission_tables import AdmissionTables
from recalld.models.domain.admission_store import AdmissionLimits
from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import fits, is_nearly_full, suggested

R = TypeVar("R")


class Done(msgspec.Struct, Generic[R], frozen=True, kw_only=True):
    """What was done, and the usage where a cap is nearly reached."""

    value: R
    usage: Usage | None = None


def is_capped(limits: AdmissionLimits) -> bool:
    """Whether there is any cap."""
    return bool(limits.records_max or limits.chars_max)


def with_caps(usage: Usage, limits: AdmissionLimits) -> Usage:
    """A usage with the caps that it is held against."""
    return msgspec.structs.replace(usage, records_max=limits.records_max, chars_max=limits.chars_max)


def refused_usage(tables: AdmissionTables, scope: str, limits: AdmissionLimits, now_ms: int) -> Usage:
    """What a refusal says: how much is used, and what could be let go."""
    usage = with_caps(tables.usage(scope, now_ms), limits)
    evictions = suggested(tables.eviction_candidates(scope, now_ms), now_ms=now_ms)
    return msgspec.structs.replace(usage, evictions=evictions)


def within_caps(
    tables: AdmissionTables, scope: str, limits: AdmissionLimits, now_ms: int, work: Callable[[], R]
) -> Done[R] | None:
    """Do work on one scope; None where it was taken back, because the caps do not allow what it left behind."""
    if not is_capped(limits):
        return Done(value=work())
    before = tables.usage(scope, now_ms)
    with tables.attempt() as attempt:
        value = work()
        after = with_caps(tables.usage(scope, now_ms), limits)
        if fits(before, after):
            return Done(value=value, usage=after if is_nearly_full(after) else None)
        attempt.undo()
    return None
