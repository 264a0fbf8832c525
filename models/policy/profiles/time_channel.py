"""The channel of time: does the message speak of a stretch of time that can be searched?

Guards: ranking by time against messages that mean none. Cost: linear in the text.
Fails: closed; the other channels run whatever is decided here.
"""

from __future__ import annotations

from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import DecideEvidence, DecideParams, DecideReason, Decision, GateDecision
from recalld.models.policy.profiles.answers import answer, lacking
from recalld.models.policy.profiles.knowledge import Knowledge
from recalld.models.policy.profiles.reading import message_of, moment_of
from recalld.models.policy.profiles.spec import TimeChannelProfile
from recalld.models.policy.profiles.turn import intervals_of
from recalld.models.policy.temporal import find_intervals, overlaps, temporal_language

RULE = "temporal_grammar"


def decide_time_channel(request: DecideRequest, profile: TimeChannelProfile, knowledge: Knowledge) -> Decision:
    """Open the channel for the intervals of the message, unless there are none or nothing is stored from then."""
    message = message_of(request)
    if not message:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_USER_TEXT, decided_by=RULE)
    moment = moment_of(request)
    if moment is None:
        return lacking(profile, "now" if request.now_ms is None else "time_zone")
    found = find_intervals(message, now=moment[0], zone=moment[1], language=temporal_language(message))
    spans = tuple(span for span in found if span.confidence >= profile.confidence_min)
    if not spans:
        return answer(profile, GateDecision.SKIP, DecideReason.NO_TIME_EXPRESSION, decided_by=RULE)
    inside = knowledge.in_interval
    if inside is None and request.candidates:
        times = [each.at_ms for each in request.candidates if each.at_ms is not None]
        inside = sum(1 for at_ms in times if any(overlaps(span, at_ms) for span in spans))
    params = DecideParams(query=message, intervals=intervals_of(spans))
    evidence = DecideEvidence(
        times=tuple(span.text for span in spans),
        thresholds={"confidence_min": profile.confidence_min},
        counts={} if inside is None else {"in_interval": inside},
    )
    if inside == 0:
        return answer(
            profile,
            GateDecision.SKIP,
            DecideReason.NOTHING_IN_INTERVAL,
            decided_by=RULE,
            params=params,
            evidence=evidence,
        )
    return answer(
        profile, GateDecision.RUN, DecideReason.TIME_EXPRESSION, decided_by=RULE, params=params, evidence=evidence
    )
