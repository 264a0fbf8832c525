"""Which decisions are kept for an audit: each by a chance of its own that nobody can foresee and anybody can repeat.

Guards: the figures that audits give; what is kept must not depend on what was decided. Cost: one digest per decision.
Fails: towards keeping nothing.
"""

from __future__ import annotations

import hashlib
from typing import Final

from recalld.models.domain.admission import ObservedTurn, ObserveReply, Speaker
from recalld.models.domain.admission_store import FactOutcome
from recalld.models.domain.audit_samples import Sample, SampleKind
from recalld.models.domain.reasons import AdmissionReason, DropReason, RecallDecision
from recalld.models.domain.recall import RecallOutcome
from recalld.models.policy.turn_facts import read_turn

TEXT_CHARS_MAX: Final = 2_000
"""Characters of a turn that are kept: enough to tell what it was about."""
_JUDGED: Final = frozenset({DropReason.BELOW_THRESHOLD, DropReason.BEHIND_BEST})
_MADE: Final = frozenset({FactOutcome.CREATED, FactOutcome.SUPERSEDED, FactOutcome.PROMOTED})
_DIGEST_BYTES: Final = 24
_CHANCE_BYTES: Final = 8


def sampled_recall(user: str, outcome: RecallOutcome, *, key: bytes, rate: float, at_ms: int) -> tuple[Sample, ...]:
    """Samples of a recall, without text.

    Args:
        user: Whose.
        outcome: What was decided. One that failed is not kept: no gate decided it.
        key: Of this database: chance is a digest under it, so that the same decision always gets the same.
        rate: Probability of each decision to be kept, from 0 to 1.
        at_ms: When it was decided, Unix epoch milliseconds.
    """
    if outcome.decision is RecallDecision.ERROR or rate <= 0.0:
        return ()
    turn = SampleKind.TURN_SKIP if outcome.decision is RecallDecision.SKIP else SampleKind.TURN_SEARCH
    decided: list[tuple[SampleKind, str, float | None, str]] = [(turn, "", None, outcome.reason)]
    decided += [
        (SampleKind.INJECTION, item.memory.id, item.relevance, outcome.reason)
        for item in outcome.items
        if item.relevance is not None
    ]
    decided += [
        (SampleKind.GATE_DROP, item.memory_id, item.relevance, item.reason)
        for item in outcome.dropped
        if item.relevance is not None and item.reason in _JUDGED
    ]
    made = (
        _sampled(
            user,
            outcome.recall_id,
            kind,
            memory_id,
            key=key,
            rate=rate,
            relevance=relevance,
            reason=reason,
            at_ms=at_ms,
        )
        for kind, memory_id, relevance, reason in decided
    )
    return tuple(each for each in made if each is not None)


def sampled_turn(turn: ObservedTurn, reply: ObserveReply, *, key: bytes, rate: float, at_ms: int) -> tuple[Sample, ...]:
    """Samples of an observed turn, without text: every record made of it, and by chance a turn that led to nothing.

    Args:
        turn: As it was seen; what others than the user said is no decision of a gate.
        reply: What it led to.
        key: As of `sampled_recall`; likewise `rate` and `at_ms`.
        rate: Probability of a turn that led to nothing.
        at_ms: When it was decided, Unix epoch milliseconds.
    """
    if turn.speaker is not Speaker.USER or rate <= 0.0:
        return ()
    decided: list[tuple[SampleKind, str, str, float]] = [
        (SampleKind.RECORD, verdict.memory.id, verdict.reason, 1.0)
        for verdict in reply.kept
        if verdict.memory is not None and verdict.outcome in _MADE
    ]
    if not (reply.kept or reply.observed or reply.proposals):
        reason = reply.dropped[-1].reason if reply.dropped else AdmissionReason.NOTHING_STATED
        decided.append((SampleKind.WRITE_DROP, "", reason, rate))
    made = (
        _sampled(turn.user, reply.decision_id, kind, memory_id, key=key, rate=chance, reason=reason, at_ms=at_ms)
        for kind, memory_id, reason, chance in decided
    )
    return tuple(each for each in made if each is not None)


def sample_text(text: str) -> str | None:
    """What may be kept of a turn: the user's own words, without host text, private spans and secrets.

    Returns:
        The words, at most `TEXT_CHARS_MAX` characters; None where the user asked not to keep, or to forget, something:
        then nothing of the turn is sampled.
    """
    facts = read_turn(text, has_rules=False)
    if facts.is_refused or any(each.reason is AdmissionReason.FORGET_REQUEST for each in facts.dropped):
        return None
    return facts.turn.text.strip()[:TEXT_CHARS_MAX]


def _sampled(
    user: str,
    decision_id: str,
    kind: SampleKind,
    memory_id: str,
    *,
    key: bytes,
    rate: float,
    reason: str,
    at_ms: int,
    relevance: float | None = None,
) -> Sample | None:
    named = f"{user}\0{decision_id}\0{kind}\0{memory_id}".encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(named, key=key, person=b"recalld-samples", digest_size=_DIGEST_BYTES).digest()
    chance = int.from_bytes(digest[:_CHANCE_BYTES], "big") / 2.0 ** (8 * _CHANCE_BYTES)
    if chance >= rate:
        return None
    return Sample(
        id=f"smp_{digest[_CHANCE_BYTES:].hex()}",
        kind=kind,
        decision_id=decision_id,
        memory_id=memory_id,
        probability=rate,
        relevance=relevance,
        reason=reason,
        at_ms=at_ms,
    )
