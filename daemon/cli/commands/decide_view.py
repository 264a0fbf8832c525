"""How a gate's decision is shown to a person."""

from __future__ import annotations

from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import in_words
from recalld.models.policy.profiles.sentences import CANDIDATE_SENTENCES, PROBE_SENTENCES
from recalld.protocol.decide_items import (
    ClaimVerdict,
    DecideEvidence,
    DecideInterval,
    DecideLimits,
    DecideParams,
    JudgedCandidate,
)
from recalld.protocol.replies import Decision

_IDS_SHOWN_MAX = 20


def decision_lines(decision: Decision) -> list[str]:
    """The decision, how to go on, what was seen and where to read more."""
    degraded = ", degraded" if decision.degraded else ""
    repeat = ", as before in this turn" if decision.repeat else ""
    lines = [
        f"{decision.decision} ({decision.reason_code}), by {decision.decided_by}{degraded}{repeat}",
        f"  {decision.reason}",
        *(f"  {line}" for line in _params(decision.params)),
        *(f"  {line}" for line in _evidence(decision.evidence)),
    ]
    if decision.notice:
        lines.append(f"Notice: {decision.notice}")
    lines.append(
        f"{decision.cost_ms:.1f} ms, {decision.policy_version};"
        f" `recalld explain {decision.decision_id}` shows it later."
    )
    return [line[: len(line) - len(line.lstrip(" "))] + printable(line) for line in lines]


def _params(params: DecideParams) -> list[str]:
    lines = []
    if params.query:
        fallback = " (the message itself, for want of a usable answer)" if params.query_fallback else ""
        lines.append(f"query: {params.query}{fallback}")
    lines += [f"time: {_interval(interval)}" for interval in params.intervals]
    if params.items:
        lines.append(f"items: {_ids(params.items)}")
    if params.targets:
        lines.append(f"targets: {_ids(params.targets)}")
    lines += [f"please look at: {each.kind} {each.subject} ({each.claim_id})" for each in params.probe_requests]
    if params.stage is not None:
        lines.append(f"next stage: {params.stage}")
    if limits := _limits(params.limits):
        lines.append(f"limits: {limits}")
    if params.not_before_ms is not None:
        lines.append(f"not before: {moment(params.not_before_ms)}")
    if params.cursor is not None:
        lines.append(f"cursor: {params.cursor}")
    return lines


def _evidence(evidence: DecideEvidence) -> list[str]:
    named = (
        ("history cues", evidence.cues),
        ("terms", evidence.terms),
        ("known to the store", evidence.posted),
        ("times", evidence.times),
    )
    lines = [f"{name}: {', '.join(values)}" for name, values in named if values]
    lines += [f"threshold {name}: {value:g}" for name, value in evidence.thresholds.items()]
    lines += [f"{name.replace('_', ' ')}: {count}" for name, count in evidence.counts.items()]
    lines += [f"{each.id}: {_candidate(each)}" for each in evidence.candidates]
    lines += [f"{_claim(each)}: {each.outcome}, {in_words(each.reason, PROBE_SENTENCES)}" for each in evidence.probes]
    return lines


def _claim(claim: ClaimVerdict) -> str:
    """Which claim of which record; an older daemon names the record and the kind alone."""
    subject = f" {claim.subject}" if claim.subject else ""
    return f"{claim.candidate_id}, {claim.kind}{subject}"


def _candidate(candidate: JudgedCandidate) -> str:
    score = "" if candidate.score is None else f" [score {candidate.score:g}]"
    terms = f" ({', '.join(candidate.terms)})" if candidate.terms else ""
    return f"{in_words(candidate.reason, CANDIDATE_SENTENCES)}{score}{terms}"


def _interval(interval: DecideInterval) -> str:
    start = "…" if interval.start_ms is None else moment(interval.start_ms)
    end = "…" if interval.end_ms is None else moment(interval.end_ms)
    return f"{start} to {end} (confidence {interval.confidence:.2f})"


def _ids(ids: tuple[str, ...]) -> str:
    more = len(ids) - _IDS_SHOWN_MAX
    return f"{', '.join(ids[:_IDS_SHOWN_MAX])}{f' and {more} more' if more > 0 else ''}"


def _limits(limits: DecideLimits) -> str:
    values = ((name, getattr(limits, name)) for name in limits.__struct_fields__)
    return ", ".join(f"{name} {value}" for name, value in values if value is not None)
