"""Checks of what the ledger counted over the last days: silence, degradation, times, and sums that must agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from recalld.daemon.cli.words import counted
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, not_checked, noted, passed, warned
from recalld.models.domain.reasons import DegradedReason, Op, RecallDecision
from recalld.protocol.stats_items import DecisionCount, LedgerReport

DEGRADED_WARN_SHARE: Final = 0.05
"""As for the daemon's own window of minutes."""
_NO_FAULT: Final = frozenset({DegradedReason.OUT_OF_DOMAIN.value, DegradedReason.GATE_DISABLED_BY_CONFIG.value})
"""Text that the models cannot read, and what was configured, are no faults of the daemon."""
_STEPS: Final = ("recall", "relevance", "turn", "write")


def _read(judge: Callable[[LedgerReport], Finding]) -> Callable[[DoctorContext], Finding]:
    """Make a check of a reading of the counts."""

    def check(context: DoctorContext) -> Finding:
        live = context.live
        if live.stats is None or live.stats.ledger is None:
            return not_checked(live.stats_problem or "the daemon does not say what it counted")
        return judge(live.stats.ledger)

    check.__doc__ = judge.__doc__
    return check


def judge_silence(ledger: LedgerReport) -> Finding:
    """How often recall stayed silent, with and without a search."""
    recalls = [each for each in ledger.decisions if each.op == Op.RECALL]
    total = sum(each.share.k for each in recalls)
    if not total:
        return noted("no recall in the last 7 days")
    by_decision = {decision: _sum(recalls, decision) for decision in RecallDecision}
    silent = by_decision[RecallDecision.SILENT]
    skipped = by_decision[RecallDecision.SKIP]
    failed = by_decision[RecallDecision.ERROR]
    return noted(
        f"silent in {(silent + skipped) / total:.0%} of {counted(total, 'recall')}:"
        f" {silent} after a search, {skipped} without one; {failed} failed"
    )


def judge_degraded(ledger: LedgerReport) -> Finding:
    """How often recall worked below its best."""
    total = sum(each.share.k for each in ledger.modes)
    faults = [each for each in ledger.modes if each.degraded_reason and each.degraded_reason not in _NO_FAULT]
    degraded = sum(each.share.k for each in faults)
    if not total:
        return noted("no recall in the last 7 days")
    seen = f"{degraded} of {counted(total, 'recall')} degraded ({degraded / total:.1%})"
    if degraded / total <= DEGRADED_WARN_SHARE:
        return passed(seen)
    causes = ", ".join(f"{each.degraded_reason} {each.share.k}" for each in faults)
    return warned(f"{seen}: {causes}", "`recalld events` shows causes as they happen; `recalld stats` counts them")


def judge_times(ledger: LedgerReport) -> Finding:
    """How long recalls and gates took, at the 95th percentile."""
    p95_ms = {each.gate: each.p95_ms for each in ledger.times}
    shown = [f"{step} {p95_ms[step]:.1f}" for step in _STEPS if step in p95_ms]
    return noted(f"95 of 100 took at most, in ms: {', '.join(shown)}" if shown else "nothing ran in the last 7 days")


def judge_sums(ledger: LedgerReport) -> Finding:
    """Whether what was counted agrees with the rows of the ledger."""
    wrong = [each for each in ledger.reconciliations if not each.holds]
    if wrong:
        shown = "; ".join(f"{each.name} {each.total}, parts {sum(each.parts.values())}" for each in wrong)
        return warned(f"counts do not agree: {shown}", "rows were lost or erased; rates may be a little off")
    if ledger.unreadable:
        return warned(
            f"{counted(ledger.unreadable, 'ledger row')} cannot be read", "only the decisions of these are counted"
        )
    return passed(f"{counted(len(ledger.reconciliations), 'sum')} agree")


def _sum(recalls: list[DecisionCount], decision: str) -> int:
    return sum(each.share.k for each in recalls if each.decision == decision)


check_silence = _read(judge_silence)
check_degraded = _read(judge_degraded)
check_times = _read(judge_times)
check_sums = _read(judge_sums)
