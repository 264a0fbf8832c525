"""Operations without a gate of their own: the direction knobs decide.

Guards: nothing yet, but says so in a decision with a reason and an id. Cost: none. Fails: as the profile says.
"""

from __future__ import annotations

from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import DecideEvidence, DecideParams, Decision
from recalld.models.policy.profiles.answers import lacking, undecided
from recalld.models.policy.profiles.reading import MODEL_CAUSES, message_of
from recalld.models.policy.profiles.spec import OpenProfile
from recalld.models.policy.turn.directions import GateCause

INPUTS = ("text", "candidates", "usage", "counters")
"""Any of these is something to decide about."""


def decide_by_directions(request: DecideRequest, profile: OpenProfile) -> Decision:
    """Go the way of the knob for a failure of the caller's model, for nothing to decide about, or for nothing known."""
    failure = None if request.model is None else request.model.failure
    message = message_of(request)
    if failure is not None:
        cause = MODEL_CAUSES[failure]
    elif message or request.candidates or request.usage or request.counters:
        cause = GateCause.WEAK
    else:
        return lacking(profile, *INPUTS)
    return undecided(
        profile,
        cause,
        params=DecideParams(query=message),
        evidence=DecideEvidence(counts={**request.usage, **request.counters}),
    )
