"""When observations of a fact are enough to make it a record.

Guards: that a single misread sentence becomes a fact, and that what the user says again and again never does.
Cost: a walk over the turns behind one observation. Fails: towards an observation, which is recalled by nobody. Its two
errors: something said in passing three times is kept, and something said once, truly, is not; neither rate is known
before a deployment has audited its promotions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from recalld.models.domain.admission_store import AdmissionLimits, Evidence
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason

_NEEDS_YES: Final = frozenset({AdmissionReason.NEEDS_CONFIRMATION, AdmissionReason.INJECTION})
"""What a rule found to need the user's yes needs it however often it is said."""


def counted(evidence: Iterable[Evidence], *, since_ms: int) -> tuple[int, int]:
    """How many distinct turns speak for an observation, and in how many sessions they were made.

    A person's yes is the last word on it, and no turn in which it was said.

    Args:
        evidence: The turns behind it.
        since_ms: Older ones do not count, Unix epoch milliseconds.
    """
    turns = {turn_of(each) for each in evidence if each.at_ms >= since_ms and each.generator is not Generator.CONFIRMED}
    return len(turns), len({session for session, _ in turns})


def is_due(evidence: Sequence[Evidence], limits: AdmissionLimits, *, now_ms: int) -> bool:
    """Whether distinct turns enough, in sessions enough, speak for an observation within the window."""
    turns, sessions = counted(evidence, since_ms=now_ms - limits.promote_window_ms)
    return turns >= limits.promote_after and sessions >= limits.promote_sessions


def needs_yes(evidence: Iterable[Evidence]) -> bool:
    """Whether what is due must be put to the user all the same."""
    return any(each.reason in _NEEDS_YES for each in evidence)


def turn_of(evidence: Evidence) -> tuple[str, str]:
    """What tells the turns behind evidence apart: session and turn id, or the decision where there was no turn."""
    return evidence.session, evidence.turn_id or evidence.decision_id
