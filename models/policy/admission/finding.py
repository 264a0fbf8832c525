"""What one rule found about a candidate, and what every rule is given."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from recalld.models.domain.facts import Disposition, FactCandidate
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.sentence import Sentence
from recalld.models.policy.admission.turn_reading import TurnReading

EVIDENCE_MAX = 3
"""Phrases that a ruling quotes at most."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """A reason against a candidate.

    Attributes:
        reason: Why.
        disposition: How far down it moves the candidate.
        evidence: The user's words that tell it.
    """

    reason: AdmissionReason
    disposition: Disposition = Disposition.DROP
    evidence: tuple[str, ...] = ()


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate whose quote was found, in the turn it came from.

    Attributes:
        candidate: With its span.
        start: Of the quote, in the user's own words.
        end: Of it.
        context: See `AdmissionContext`.
        reading: What the turn as a whole tells.
        sentence: The sentence around the quote.
    """

    candidate: FactCandidate
    start: int
    end: int
    context: AdmissionContext
    reading: TurnReading
    sentence: Sentence


Rule = Callable[[Scene], Finding | None]
"""A rule: why the candidate is removed or lowered, or None."""
