"""A verdict as the ledger keeps it: what decided and how much was seen, in rules, families and counts."""

from __future__ import annotations

from recalld.models.domain.turn_report import IntervalReport, TurnReport
from recalld.models.policy.temporal.query_times import QueryTimes
from recalld.models.policy.turn.verdict import TurnGateVerdict


def report_turn(
    verdict: TurnGateVerdict,
    times: QueryTimes,
    *,
    is_store_asked: bool,
    model: str = "",
    model_prompt: str = "",
    model_chars: int = 0,
) -> TurnReport:
    """Sum a verdict up without a word of the user.

    Args:
        verdict: What was decided.
        times: The expressions of time, as the search uses them.
        is_store_asked: Whether the store said which terms it has.
        model: What came of asking a model; empty when nobody was asked.
        model_prompt: Version of the prompt.
        model_chars: Characters that the model read and wrote.
    """
    evidence = verdict.evidence
    return TurnReport(
        answer=verdict.answer.value,
        decided_by=verdict.decided_by.value,
        cause="" if verdict.cause is None else verdict.cause.value,
        languages=evidence.languages,
        cue_families=tuple(dict.fromkeys(cue.family.value for cue in evidence.cues)),
        terms=len(evidence.terms),
        terms_posted=len(evidence.posted) if is_store_asked else None,
        entities=len(evidence.entities),
        reference="" if evidence.reference is None else evidence.reference.value,
        local_references=len(evidence.local_references),
        intervals=tuple(
            IntervalReport(
                rule=span.rule.value, start_ms=span.start_ms, end_ms=span.end_ms, confidence=round(span.confidence, 3)
            )
            for span in times.spans
        ),
        is_zone_known=times.is_zone_known,
        asks_only_for_time=times.asks_only_for_time,
        model=model,
        model_prompt=model_prompt,
        model_chars=model_chars,
        query_fallback=verdict.query_fallback,
    )
