"""What a turn led to, as it is told: the reply, and the event with reasons and counts but no text."""

from __future__ import annotations

from recalld.models.domain.admission import ObserveReply, Verdict
from recalld.models.domain.admission_store import DroppedFact, FactResult, TurnAdmitted
from recalld.models.domain.events import Event, EventName, FieldValue
from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import Op


def turn_reply(admitted: TurnAdmitted) -> ObserveReply:
    """The reply to a turn, from what the store made of it, now or when it was first seen."""
    results = admitted.results

    def of(disposition: Disposition) -> tuple[Verdict, ...]:
        return tuple(verdict_of(each) for each in results if each.disposition is disposition)

    return ObserveReply(
        decision_id=admitted.decision_id,
        kept=of(Disposition.RECORD),
        observed=of(Disposition.OBSERVE),
        proposals=of(Disposition.PROPOSE),
        dropped=(*of(Disposition.DROP), *map(_dropped, admitted.dropped)),
    )


def verdict_of(result: FactResult) -> Verdict:
    """What became of one fact."""
    found = result.found
    return Verdict(
        reason=result.reason,
        memory=result.memory,
        outcome=result.outcome,
        superseded=result.superseded,
        generator=None if found is None else found.generator,
        rule="" if found is None else found.rule,
        decided_by="" if found is None else found.decided_by,
        also_found_by=() if found is None else found.also,
        observation=result.observation,
        proposal=result.proposal,
        usage=result.usage,
    )


def admitted_event(user: str, reply: ObserveReply, *, is_repeat: bool, at_ms: int) -> Event:
    """The event of an observed turn."""
    outcome, reason = _summary(reply)
    memory = next((verdict.memory for verdict in reply.kept if verdict.memory is not None), None)
    fields: dict[str, FieldValue] = {
        "decision_id": reply.decision_id,
        "op": Op.OBSERVE,
        "outcome": "repeated" if is_repeat else outcome,
        "reason": reason,
        "memory_id": "" if memory is None else memory.id,
        "kept": len(reply.kept),
        "observed": len(reply.observed),
        "proposed": len(reply.proposals),
        "dropped": len(reply.dropped),
        "superseded": sum(len(verdict.superseded) for verdict in reply.kept),
    }
    return Event(name=EventName.MEMORY_ADMITTED, at_ms=at_ms, user=user, fields=fields)


def _summary(reply: ObserveReply) -> tuple[str, str]:
    """What came of a turn at best, and why."""
    for outcome, verdicts in (
        ("kept", reply.kept),
        ("proposed", reply.proposals),
        ("observed", reply.observed),
        ("dropped", reply.dropped),
    ):
        if verdicts:
            return outcome, verdicts[0].reason.value
    return "dropped", ""


def _dropped(fact: DroppedFact) -> Verdict:
    return Verdict(
        reason=fact.reason,
        generator=fact.generator,
        rule=fact.source_rule,
        decided_by=fact.rule,
        also_found_by=fact.also,
    )
