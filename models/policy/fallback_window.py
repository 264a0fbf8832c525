"""How many recalls ran below `gated` lately, and why: counts over a sliding window. Pure; monotonic seconds."""

from __future__ import annotations

import math

import msgspec

from recalld.models.domain.reasons import DegradedReason

BUCKETS = 60
"""The window slides in steps of a sixtieth, so memory is bounded whatever the traffic."""


class _Bucket(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    recalls: int = 0
    degraded: dict[str, int] = {}


class FallbackWindow(msgspec.Struct, frozen=True, kw_only=True):
    """The recent past, in at most `BUCKETS` + 1 buckets, oldest first."""

    window_s: float
    buckets: tuple[_Bucket, ...] = ()

    def __post_init__(self) -> None:
        if not self.window_s > 0:
            message = f"window_s must be above 0, got {self.window_s}"
            raise ValueError(message)


class FallbackCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Recalls in the window, and those of them that were degraded, by reason."""

    recalls: int
    degraded: dict[str, int]

    @property
    def degraded_share(self) -> float:
        """The share of recalls that were degraded; 0 without recalls."""
        return sum(self.degraded.values()) / self.recalls if self.recalls else 0.0


def record(window: FallbackWindow, reason: DegradedReason | None, *, now_s: float) -> FallbackWindow:
    """The window after one more recall. `reason` is None when it was not degraded."""
    number = _number(window, now_s)
    older = tuple(bucket for bucket in window.buckets if number - BUCKETS <= bucket.number < number)
    newest = window.buckets[-1] if window.buckets and window.buckets[-1].number >= number else _Bucket(number=number)
    degraded = dict(newest.degraded)
    if reason is not None:
        degraded[reason.value] = degraded.get(reason.value, 0) + 1
    updated = _Bucket(number=newest.number, recalls=newest.recalls + 1, degraded=degraded)
    return FallbackWindow(window_s=window.window_s, buckets=(*older, updated))


def counts(window: FallbackWindow, *, now_s: float) -> FallbackCounts:
    """What the window holds at `now_s`: everything of the last `window_s`, and at most a sixtieth of it more."""
    oldest = _number(window, now_s) - BUCKETS
    live = [bucket for bucket in window.buckets if bucket.number >= oldest]
    degraded: dict[str, int] = {}
    for bucket in live:
        for reason, count in bucket.degraded.items():
            degraded[reason] = degraded.get(reason, 0) + count
    return FallbackCounts(recalls=sum(bucket.recalls for bucket in live), degraded=degraded)


def _number(window: FallbackWindow, now_s: float) -> int:
    return math.floor(now_s / window.window_s * BUCKETS)
