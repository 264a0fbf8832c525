"""From what the daemon reports to metric families.

Names follow Prometheus' conventions: base units, `_total` for counters, `_seconds` and `_bytes` last. Labels hold words
of the program alone (decisions, reasons, steps), never a user, a session or a text, so that their number is bounded.
Counters come from the ledger and go on across restarts of the daemon; those of the process start anew with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from recalld.daemon.metrics.audit import audit_families
from recalld.models.domain.health import BreakerState, ModelState
from recalld.models.domain.ledger_tally import BUCKET_MAX, BUCKETS_PER_OCTAVE, bucket_edge_ms
from recalld.protocol import items
from recalld.protocol.drift_items import DriftSection
from recalld.protocol.replies import HealthReport, StatsReport
from recalld.protocol.stats_items import GateTime, LedgerReport

_GATEWAY: Final = "gateway_"
_EXTRACTION: Final = "extraction_"
EDGES_MS: Final = tuple(bucket_edge_ms(bucket) for bucket in range(0, BUCKET_MAX + 1, BUCKETS_PER_OCTAVE))
"""Upper edges of the exported buckets, each twice the one before: one in four of those that are counted."""
_EDGE_SLACK: Final = 1e-9
"""Edges are computed on both sides of the socket; this much of a difference is none."""


def metric_families(health: HealthReport, stats: StatsReport, recent: StatsReport) -> Iterator[Metric]:
    """Everything that is exported.

    Args:
        health: The daemon's state.
        stats: With everything that was ever counted.
        recent: With what is measured over the last days alone.
    """
    yield from _process(health, stats)
    yield from _store(health.store)
    yield from _models(health)
    yield from _condition(health)
    if stats.ledger is not None:
        yield from _ledger(stats.ledger)
    if recent.drift is not None:
        yield _drift(recent.drift)
    if recent.audit is not None:
        yield from audit_families(recent.audit, recent.counters)


def _process(health: HealthReport, stats: StatsReport) -> Iterator[Metric]:
    build = GaugeMetricFamily("recalld_build_info", "The running version; the value is always 1.", labels=["version"])
    build.add_metric([health.version], 1)
    yield build
    yield _gauge("uptime_seconds", "Seconds since the daemon started.", health.uptime_s)
    yield _gauge("resident_memory_bytes", "Resident memory of the daemon.", health.rss_bytes)
    yield _gauge("open_fds", "Open file descriptors of the daemon.", health.open_fds)
    yield _gauge("active_users", "Users whose actors are loaded.", health.actors_active)
    yield _gauge("queue_depth", "Messages waiting in the mailboxes of all actors.", health.queue_depth)
    yield _counter("actor_restarts", "Actors restarted since the daemon started.", health.actor_restarts)
    yield _counter(
        "ledger_rows_dropped",
        "Ledger rows lost since the daemon started: the store was full or refused them.",
        health.ledger_rows_dropped,
    )
    gateway = CounterMetricFamily(
        "recalld_gateway_events", "What the gateway refused or gave up since the daemon started.", labels=["event"]
    )
    for name, count in sorted(stats.counters.items()):
        if name.startswith(_GATEWAY):
            gateway.add_metric([name.removeprefix(_GATEWAY)], count)
    yield gateway
    extraction = CounterMetricFamily(
        "recalld_extraction",
        "Of the language model that reads turns, since the daemon started: calls, characters, facts and faults.",
        labels=["what"],
    )
    for name, count in sorted(stats.counters.items()):
        if name.startswith(_EXTRACTION):
            extraction.add_metric([name.removeprefix(_EXTRACTION)], count)
    yield extraction


def _store(store: items.StoreState) -> Iterator[Metric]:
    yield _gauge("store_readable", "Whether the database can be read.", store.is_readable)
    yield _gauge("store_writable", "Whether the database can be written.", store.is_writable)
    yield _gauge("memories", "Live memories of all users.", store.live)
    yield _gauge("users", "Users with live memories.", store.users)
    yield _gauge("memories_pending_embedding", "Live memories that wait for their vectors.", store.pending_embedding)
    yield _gauge("memories_damaged", "Memories that cannot be read.", store.damaged)
    yield _gauge("database_bytes", "Size of the database file.", store.db_bytes)
    yield _gauge("wal_bytes", "Size of the write-ahead log.", store.wal_bytes)


def _models(health: HealthReport) -> Iterator[Metric]:
    loaded = GaugeMetricFamily("recalld_model_loaded", "Whether a model is ready.", labels=["model"])
    depth = GaugeMetricFamily("recalld_model_queue_depth", "Jobs that wait for a model.", labels=["model"])
    jobs = CounterMetricFamily(
        "recalld_model_jobs", "Jobs that a model did since the daemon started.", labels=["model"]
    )
    failures = CounterMetricFamily(
        "recalld_model_failures", "Jobs that a model failed at since the daemon started.", labels=["model"]
    )
    for name, model in (("scorer", health.scorer), ("embedder", health.embedder)):
        loaded.add_metric([name], float(model.state == ModelState.READY))
        depth.add_metric([name], model.queue_depth)
        jobs.add_metric([name], model.jobs)
        failures.add_metric([name], model.failures)
    yield from (loaded, depth, jobs, failures)


def _condition(health: HealthReport) -> Iterator[Metric]:
    breaker = health.breaker != BreakerState.CLOSED
    yield _gauge("breaker_open", "Whether the breaker before the relevance model is open, or half open.", breaker)
    yield _gauge("gate_calibrated", "Whether the gate's calibration fits its model.", health.calibration_matches)
    degraded = sum(health.window_degraded.values())
    yield _gauge("window_seconds", "The window that the two figures on recalls in it are about.", health.window_s)
    yield _gauge("window_recalls", "Recalls in the window.", health.window_recalls)
    yield _gauge("window_recalls_degraded", "Recalls in the window that were degraded.", degraded)
    yield _gauge("degraded", "Whether any recall in the window was degraded.", degraded > 0)


def _ledger(ledger: LedgerReport) -> Iterator[Metric]:
    yield from _decisions(ledger)
    candidates = CounterMetricFamily(
        "recalld_candidates", "Candidates of recalls, by where they ended and why.", labels=["stage", "reason"]
    )
    for candidate in ledger.candidates:
        candidates.add_metric([candidate.stage, candidate.reason], candidate.share.k)
    facts = CounterMetricFamily("recalld_facts", "Facts of observed turns.", labels=["found_by", "outcome", "reason"])
    for fact in ledger.facts:
        facts.add_metric([fact.found_by, fact.outcome, fact.reason], fact.share.k)
    yield from (candidates, facts)
    yield _counter("pairs_scored", "Pairs that the relevance model scored.", ledger.pairs_scored)
    yield _counter("ledger_rows_unreadable", "Ledger rows whose body cannot be read.", ledger.unreadable)
    yield from _costs(ledger)
    yield _durations(ledger.times)


def _decisions(ledger: LedgerReport) -> Iterator[Metric]:
    recalls = CounterMetricFamily(
        "recalld_recalls", "Recalls, by what was decided and why.", labels=["decision", "reason"]
    )
    others = CounterMetricFamily(
        "recalld_decisions", "Other decisions, by what they were about.", labels=["op", "decision", "reason"]
    )
    for each in ledger.decisions:
        if each.op == "recall":
            recalls.add_metric([each.decision, each.reason], each.share.k)
        else:
            others.add_metric([each.op, each.decision, each.reason], each.share.k)
    modes = CounterMetricFamily(
        "recalld_recall_modes", "Recalls, by how far down the ladder they ran.", labels=["mode", "degraded_reason"]
    )
    for mode in ledger.modes:
        modes.add_metric([mode.mode, mode.degraded_reason], mode.share.k)
    yield from (recalls, others, modes)


def _costs(ledger: LedgerReport) -> Iterator[Metric]:
    avoided = CounterMetricFamily(
        "recalld_gate_avoided", "Searches, injected memories or records that a gate avoided.", labels=["gate"]
    )
    spent = CounterMetricFamily("recalld_gate_spent_seconds", "Time that a gate took.", labels=["gate"])
    for cost in ledger.costs:
        avoided.add_metric([cost.gate], cost.avoided)
        spent.add_metric([cost.gate], cost.spent_ms / 1000)
    yield from (avoided, spent)


def _durations(times: tuple[GateTime, ...]) -> Metric:
    family = HistogramMetricFamily("recalld_step_duration_seconds", "Time of each step that ran.", labels=["step"])
    for time in times:
        buckets = [(f"{edge_ms / 1000:g}", float(_at_most(time, edge_ms))) for edge_ms in EDGES_MS[:-1]]
        family.add_metric([time.gate], [*buckets, ("+Inf", float(time.n))], sum_value=time.total_ms / 1000)
    return family


def _at_most(time: GateTime, edge_ms: float) -> int:
    return sum(each.count for each in time.buckets if each.up_to_ms <= edge_ms * (1 + _EDGE_SLACK))


def _drift(drift: DriftSection) -> Metric:
    """How many users each alarm is raised for; their names stay behind."""
    family = GaugeMetricFamily(
        "recalld_drift_alarms", "Users for whom an alarm on a gate is raised.", labels=["gate", "alarm"]
    )
    raised = Counter((gate.gate, alarm.name) for user in drift.users for gate in user.gates for alarm in gate.alarms)
    for (gate, alarm), users in sorted(raised.items()):
        family.add_metric([gate, alarm], users)
    return family


def _gauge(name: str, what: str, value: float) -> Metric:
    return GaugeMetricFamily(f"recalld_{name}", what, value=float(value))


def _counter(name: str, what: str, value: float) -> Metric:
    return CounterMetricFamily(f"recalld_{name}", what, value=float(value))
