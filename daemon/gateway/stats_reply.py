"""The `stats` reply: counters since start, and a section for each thing measured over a window."""

from __future__ import annotations

from recalld.daemon.gateway.audit_requests import audit_section
from recalld.daemon.gateway.drift_section import drift_section
from recalld.models.domain import health, ledger_report
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.protocol import replies, requests
from recalld.protocol import stats_items as s


def stats_query(request: requests.Stats) -> health.StatsQuery:
    """What is asked for.

    Raises:
        RecalldError: `BAD_REQUEST` for two windows at once.
    """
    if request.ever and request.days is not None:
        raise RecalldError(ErrorCode.BAD_REQUEST, "days: there is one window; leave out either `days` or `ever`")
    return health.StatsQuery(user=request.user, days=request.days, is_ever=request.ever)


def stats_report(request_id: int, stats: health.Stats, gateway_counts: dict[str, int]) -> replies.StatsReport:
    """Everything that was asked for; the gateway's own counters are named `gateway_…`."""
    return replies.StatsReport(
        id=request_id,
        uptime_s=stats.uptime_s,
        counters={**stats.counters, **{f"gateway_{name}": count for name, count in gateway_counts.items()}},
        latencies_ms=stats.latencies_ms,
        ledger=None if stats.ledger is None else _ledger(stats.ledger),
        drift=None if stats.drift is None else drift_section(stats.drift),
        audit=None if stats.audit is None else audit_section(stats.audit),
    )


def _ledger(report: ledger_report.LedgerReport) -> s.LedgerReport:
    return s.LedgerReport(
        since_ms=report.since_ms,
        until_ms=report.until_ms,
        decisions=tuple(
            s.DecisionCount(op=each.op, decision=each.decision, reason=each.reason, share=_share(each.share))
            for each in report.decisions
        ),
        modes=tuple(
            s.ModeCount(mode=each.mode, degraded_reason=each.degraded_reason, share=_share(each.share))
            for each in report.modes
        ),
        candidates=tuple(
            s.CandidateCount(stage=each.stage, reason=each.reason, share=_share(each.share))
            for each in report.candidates
        ),
        facts=tuple(
            s.FactCount(found_by=each.found_by, outcome=each.outcome, reason=each.reason, share=_share(each.share))
            for each in report.facts
        ),
        reconciliations=tuple(
            s.Reconciliation(name=each.name, total=each.total, parts=each.parts, holds=each.holds)
            for each in report.reconciliations
        ),
        times=tuple(map(_time, report.times)),
        compound=None if report.compound is None else _compound(report.compound),
        costs=tuple(map(_cost, report.costs)),
        pairs_scored=report.pairs_scored,
        unreadable=report.unreadable,
    )


def _share(share: ledger_report.Share) -> s.Share:
    return s.Share(k=share.k, n=share.n, rate=share.rate, low=share.low, high=share.high)


def _time(time: ledger_report.GateTime) -> s.GateTime:
    return s.GateTime(
        gate=time.gate,
        n=time.n,
        total_ms=time.total_ms,
        p50_ms=time.p50_ms,
        p95_ms=time.p95_ms,
        p99_ms=time.p99_ms,
        buckets=tuple(s.TimeBucket(up_to_ms=each.up_to_ms, count=each.count) for each in time.buckets),
    )


def _compound(report: ledger_report.CompoundReport) -> s.CompoundReport:
    return s.CompoundReport(
        steps=tuple(s.CompoundStep(gate=each.gate, passed=_share(each.passed)) for each in report.steps),
        candidates=_share(report.candidates),
        recalls=_share(report.recalls),
    )


def _cost(cost: ledger_report.GateCost) -> s.GateCost:
    return s.GateCost(
        gate=cost.gate,
        decisions=cost.decisions,
        spent_ms=cost.spent_ms,
        p50_ms=cost.p50_ms,
        p95_ms=cost.p95_ms,
        spent_tokens=cost.spent_tokens,
        avoided=cost.avoided,
        avoided_ms=cost.avoided_ms,
        avoided_tokens=cost.avoided_tokens,
    )
