"""One event per cause and cooldown, and a count of those held back. Pure; seconds on the monotonic clock.

The first of a cause is emitted at once. Causes do not mask each other. No count is lost: it leaves with the next event
of its cause, with the flush after a quiet window, or with the recovery.
"""

from __future__ import annotations

import msgspec

CAUSES_MAX = 64
"""Causes remembered at once; failure types are few, so a larger number means that something else leaks into the
cause."""
OTHER_CAUSE = "other"
"""Where causes beyond `CAUSES_MAX` are counted together."""


class CauseWindow(msgspec.Struct, frozen=True, kw_only=True):
    """One cause: when it was last emitted, and how many were held back since."""

    emitted_s: float
    suppressed_count: int = 0


class Cooldowns(msgspec.Struct, frozen=True, kw_only=True):
    """All causes that are cooling down."""

    cooldown_s: float
    causes: dict[str, CauseWindow] = {}

    def __post_init__(self) -> None:
        if not self.cooldown_s > 0:
            message = f"cooldown_s must be above 0, got {self.cooldown_s}"
            raise ValueError(message)


class Emission(msgspec.Struct, frozen=True, kw_only=True):
    """An event to emit now, and how many of its cause were held back since the one before."""

    cause: str
    suppressed_count: int


def offer(cooldowns: Cooldowns, cause: str, *, now_s: float) -> tuple[Cooldowns, Emission | None]:
    """Something happened: emit it, or count it as held back (None)."""
    if cause not in cooldowns.causes and len(cooldowns.causes) >= CAUSES_MAX:
        cause = OTHER_CAUSE
    window = cooldowns.causes.get(cause)
    if window is not None and now_s - window.emitted_s < cooldowns.cooldown_s:
        held = CauseWindow(emitted_s=window.emitted_s, suppressed_count=window.suppressed_count + 1)
        return _replace(cooldowns, cause, held), None
    suppressed_count = 0 if window is None else window.suppressed_count
    emission = Emission(cause=cause, suppressed_count=suppressed_count)
    return _replace(cooldowns, cause, CauseWindow(emitted_s=now_s)), emission


def flush(cooldowns: Cooldowns, *, now_s: float) -> tuple[Cooldowns, tuple[Emission, ...]]:
    """Emit the counts of causes whose cooldown has passed with something held back; call it now and then.

    A flushed cause starts a new cooldown; one with nothing held back is forgotten.
    """
    kept: dict[str, CauseWindow] = {}
    emissions: list[Emission] = []
    for cause, window in cooldowns.causes.items():
        if now_s - window.emitted_s < cooldowns.cooldown_s:
            kept[cause] = window
        elif window.suppressed_count:
            emissions.append(Emission(cause=cause, suppressed_count=window.suppressed_count))
            kept[cause] = CauseWindow(emitted_s=now_s)
    return Cooldowns(cooldown_s=cooldowns.cooldown_s, causes=kept), tuple(emissions)


def recover(cooldowns: Cooldowns) -> tuple[Cooldowns, tuple[Emission, ...]]:
    """All is well again: the causes that are cooling down, each with its held-back count; empty when there is none.

    The counts are thereby told. The cooldowns go on: a fault that comes and goes must not make an event of each time.
    """
    emissions = tuple(
        Emission(cause=cause, suppressed_count=window.suppressed_count) for cause, window in cooldowns.causes.items()
    )
    told = {cause: CauseWindow(emitted_s=window.emitted_s) for cause, window in cooldowns.causes.items()}
    return Cooldowns(cooldown_s=cooldowns.cooldown_s, causes=told), emissions


def _replace(cooldowns: Cooldowns, cause: str, window: CauseWindow) -> Cooldowns:
    return Cooldowns(cooldown_s=cooldowns.cooldown_s, causes={**cooldowns.causes, cause: window})
