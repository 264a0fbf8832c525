"""Gates that fail again and again: said once, with what it means and what to look at, and then at most now and then."""

from __future__ import annotations

import msgspec

from recalld.actors.inference_thread.lru import LruCache
from recalld.models.domain.decision import DecideReason, Decision
from recalld.models.policy import rate_limit
from recalld.models.policy.profiles.spec import HealthNotice
from recalld.models.policy.rate_limit import Cooldowns

STREAKS_MAX = 4_096
"""Users and gates whose failures are counted."""
FAILURES = frozenset({DecideReason.GATE_FAILED, DecideReason.TIMED_OUT, DecideReason.REPLY_UNUSABLE})
"""Reasons that mean that something is broken, slow, or answers what cannot be used."""


class _Streak(msgspec.Struct, frozen=True):
    cooldowns: Cooldowns
    failures: int = 0


class RaisedNotice(msgspec.Struct, frozen=True, kw_only=True):
    """A notice that is due now.

    Attributes:
        text: For the person.
        failures: In a row.
        suppressed_count: Further failures since the last notice.
    """

    text: str
    failures: int
    suppressed_count: int


class GateHealth:
    """Counts failures in a row by user and gate.

    Args:
        cooldown_s: Seconds between two notices of one user and gate.
    """

    def __init__(self, *, cooldown_s: float) -> None:
        self._cooldown_s = cooldown_s
        self._streaks: LruCache[tuple[str, str], _Streak] = LruCache(STREAKS_MAX)

    def note(
        self, user: str, decision: Decision, notice: HealthNotice, *, was_model_asked: bool, now_s: float
    ) -> RaisedNotice | None:
        """Count a decision; the notice, when it is due.

        Args:
            user: Whose.
            decision: What was decided.
            notice: What the gate's profile says.
            was_model_asked: Whether a model had a part in it. Otherwise it proves nothing: notices are about models.
            now_s: Monotonic.
        """
        if not was_model_asked:
            return None
        key = (user, decision.profile)
        streak = self._streaks.get(key) or _Streak(Cooldowns(cooldown_s=self._cooldown_s))
        if decision.reason_code not in FAILURES:
            self._streaks.put(key, msgspec.structs.replace(streak, failures=0))
            return None
        failures = streak.failures + 1
        cooldowns, emission = streak.cooldowns, None
        if failures >= notice.failures_min:
            cooldowns, emission = rate_limit.offer(cooldowns, decision.profile, now_s=now_s)
        self._streaks.put(key, _Streak(cooldowns, failures))
        if emission is None:
            return None
        text = f"{notice.consequence} ({failures} failures in a row; look at {notice.setting}.)"
        return RaisedNotice(text=text, failures=failures, suppressed_count=emission.suppressed_count)
