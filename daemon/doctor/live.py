"""Checks of what the running daemon says of itself. Each is a pure reading of its health report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from recalld.daemon.cli.connecting import start_remedy
from recalld.daemon.cli.version import own_version
from recalld.daemon.cli.words import counted, counted_memories
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, failed, not_checked, noted, passed, warned
from recalld.models.domain.events import EventName
from recalld.models.domain.health import BreakerState, ModelState
from recalld.models.domain.reasons import DegradedReason
from recalld.protocol.items import ModelState as ModelReport
from recalld.protocol.replies import HealthReport

_MIB: Final = 1024 * 1024

FALLBACK_WARN_SHARE: Final = 0.05
FALLBACK_FAIL_SHARE: Final = 0.5
FALLBACK_RECALLS_MIN: Final = 10
"""Fewer recalls say too little to call a high share a failure."""
_SEARCH_REASONS: Final = frozenset(
    {DegradedReason.EMBEDDER_UNAVAILABLE, DegradedReason.EMBED_TIMEOUT, DegradedReason.EMBED_FAILED}
)
"""Causes in the search by meaning; all others lie in the gate."""
QUEUE_DEPTH_WARN: Final = 64
"""A quarter of the smallest mailbox that recalls wait in; at 10 ms a pair this is over half a second of work."""
RESTARTS_WARN: Final = 3
"""One restart is what supervision is for; several are a pattern."""
RSS_BYTES_WARN: Final = 1024 * _MIB
"""Where the units begin to throttle (`MemoryHigh=`); both models and full indices stay below 800 MiB."""
FDS_WARN_SHARE: Final = 0.8


LiveCheck = Callable[[DoctorContext], Finding]


def check_daemon(context: DoctorContext) -> Finding:
    """Somebody answers on the socket, and it is a healthy conversation."""
    live = context.live
    path = context.settings.server.socket_path
    if live.health is None:
        if live.is_forbidden:
            remedy = "join the group that owns the socket, or run the doctor as the account that runs the daemon"
            return failed(f"{path}: {live.problem}", remedy)
        if live.welcome is not None:
            return failed(
                f"{path} is answered, but the daemon does not report its health: {live.problem}", "restart it"
            )
        return failed(
            f"no daemon answers on {path} ({live.problem})", start_remedy(context.settings, context.environment)
        )
    health = live.health
    seen = f"recalld {health.version}, pid {health.pid}, up {health.uptime_s:.0f} s"
    if health.is_draining:
        return warned(f"{seen}, stopping", "start it again once it has stopped, unless you meant it to stop")
    if own_version() and health.version != own_version():
        return warned(
            f"{seen}; this command is {own_version()}", "restart the daemon so that both are the same version"
        )
    return passed(seen)


def _read(judge: Callable[[HealthReport], Finding]) -> LiveCheck:
    """Make a check of a reading: without a report there is nothing to read, which `check_daemon` has said already."""

    def check(context: DoctorContext) -> Finding:
        health = context.live.health
        return not_checked("the daemon does not report its health") if health is None else judge(health)

    check.__doc__ = judge.__doc__
    return check


def judge_store(health: HealthReport) -> Finding:
    """The daemon can read and write its database."""
    store = health.store
    detail = f" ({store.detail})" if store.detail else ""
    if not store.is_readable:
        return failed(f"the daemon cannot read its database{detail}", "see the checks of the database above")
    if not store.is_writable:
        return failed(
            f"the daemon cannot write to its database{detail}",
            "check free space, and that file and directory are its own",
        )
    return passed(f"{counted_memories(store.live)} of {counted(store.users, 'user')}, readable and writable")


def judge_scorer(health: HealthReport) -> Finding:
    """The actor that runs the relevance model."""
    if health.gate_mode == "off":
        return noted("the gate is switched off in the configuration")
    return _judge_model(health.scorer, "recall falls back to similarity alone")


def judge_embedder(health: HealthReport) -> Finding:
    """The actor that runs the embedding model."""
    return _judge_model(health.embedder, "recall falls back to words alone")


def judge_probe(health: HealthReport) -> Finding:
    """A pair that must be relevant and one that must not, scored by the live gate just now."""
    if health.gate_mode == "off":
        return not_checked("the gate is switched off in the configuration")
    probe = health.probe
    if probe is None:
        return not_checked("the daemon scored no pair", matters=True, remedy="see the check of the scorer")
    scores = f"relevant pair {_score(probe.relevant)}, irrelevant pair {_score(probe.irrelevant)}"
    seen = f"{scores}, in {probe.elapsed_ms:.0f} ms{f' ({probe.detail})' if probe.detail else ''}"
    if not probe.is_ok and health.scorer.state == ModelState.LOADING:
        return warned("no pair can be scored yet: the model is still loading", "look again in a minute")
    if not probe.is_ok:
        return failed(seen, "restart the daemon; if it stays so, run `recalld models verify` and look at the log")
    return passed(seen)


def judge_breaker(health: HealthReport) -> Finding:
    """The circuit breaker in front of the scorer."""
    if health.breaker == BreakerState.CLOSED:
        return passed("closed")
    if health.breaker == BreakerState.HALF_OPEN:
        return warned("half open: the scorer is being tried again", "look again in a minute")
    return failed(
        f"{health.breaker}: the scorer failed repeatedly and is left alone", "the daemon's log names the cause"
    )


def judge_fallbacks(health: HealthReport) -> Finding:
    """How often recall worked below its best, over the daemon's window."""
    causes = {
        reason: count
        for reason, count in health.window_degraded.items()
        if count
        and reason != DegradedReason.OUT_OF_DOMAIN  # text the models cannot read is no fault of the daemon
        and not (health.gate_mode == "off" and reason == DegradedReason.GATE_DISABLED_BY_CONFIG)
    }
    window = f"the last {health.window_s / 60:.0f} min"
    if not health.window_recalls:
        return not_checked(f"no recalls in {window}")
    degraded = sum(causes.values())
    share = degraded / health.window_recalls
    named = ", ".join(f"{reason} {count}" for reason, count in sorted(causes.items()))
    seen = f"{degraded} of {counted(health.window_recalls, 'recall')} degraded ({share:.0%}) in {window}"
    seen = f"{seen}: {named}" if named else seen
    if share > FALLBACK_FAIL_SHARE and health.window_recalls >= FALLBACK_RECALLS_MIN:
        return failed(seen, "recall hardly ever works as configured: see the checks of scorer, embedder and breaker")
    if share > FALLBACK_WARN_SHARE:
        return warned(seen, _how_to_find_causes(causes.keys()))
    return passed(seen)


def _how_to_find_causes(reasons: Iterable[str]) -> str:
    """Where the causes of degraded recalls are told as they happen, and what clients may do about it."""
    of_the_search = [reason for reason in reasons if reason in _SEARCH_REASONS]
    of_the_gate = [reason for reason in reasons if reason not in _SEARCH_REASONS]
    names = [EventName.MEMORY_RECALL_GATE_DEGRADED] * bool(of_the_gate)
    names += [EventName.MEMORY_RECALL_VECTOR_DEGRADED] * bool(of_the_search)
    remedy = f"`recalld events {' '.join(f'--name {name}' for name in names)}` names each cause as it happens"
    if DegradedReason.ENVELOPE_EXCEEDED in of_the_gate:
        return f"{remedy}; {DegradedReason.ENVELOPE_EXCEEDED} also counts clients that allow little time (`budget_ms`)"
    return remedy


def judge_queues(health: HealthReport) -> Finding:
    """What waits inside the daemon."""
    waiting = (
        f"{health.queue_depth} messages, {health.scorer.queue_depth} pairs, {health.embedder.queue_depth} texts wait"
    )
    if max(health.queue_depth, health.scorer.queue_depth) > QUEUE_DEPTH_WARN:
        return warned(waiting, "clients ask faster than this machine can score; fewer candidates or more cores help")
    return passed(waiting)


def judge_restarts(health: HealthReport) -> Finding:
    """Actors that failed and were started again since the daemon started."""
    restarts = health.actor_restarts
    seen = f"{restarts} since start (scorer {health.scorer.restarts}, embedder {health.embedder.restarts})"
    if restarts >= RESTARTS_WARN:
        return warned(seen, "the log lines `actor_restarted` name actor and cause")
    return noted(seen) if restarts else passed(seen)


def judge_ledger(health: HealthReport) -> Finding:
    """Decisions that could not be written down, and so cannot be explained."""
    dropped = health.ledger_rows_dropped
    if dropped:
        return warned(
            f"{dropped} rows dropped since start", "the disk is too slow or full: see the check of disk space"
        )
    return passed("no rows dropped since start")


def judge_calibration(health: HealthReport) -> Finding:
    """Whether the gate's threshold was measured for the model it is used with."""
    if health.gate_mode == "off":
        return not_checked("the gate is switched off in the configuration")
    detail = f" ({health.calibration_detail})" if health.calibration_detail else ""
    if not health.calibration_matches:
        return warned(
            f"no calibration fits the running model{detail}; a default threshold is in force",
            "use the model that the calibration was made with, or set recall.calibration_path",
        )
    return passed(f"{health.calibration_id}{detail}")


def judge_memory(health: HealthReport) -> Finding:
    """Resident memory and users kept ready."""
    seen = f"{health.rss_bytes / _MIB:.0f} MiB resident, {counted(health.actors_active, 'user')} ready"
    if health.rss_bytes > RSS_BYTES_WARN:
        return warned(seen, "lower actors.users_active_max or actors.index_bytes_max")
    return passed(seen)


def check_open_files(context: DoctorContext) -> Finding:
    """Open files against the limit of the daemon's process."""
    health = context.live.health
    if health is None:
        return not_checked("the daemon does not report its health")
    limit = _open_files_limit(Path(f"/proc/{health.pid}/limits"))
    if limit is None:
        return noted(f"{health.open_fds} open; the limit of the process cannot be read by this account")
    seen = f"{health.open_fds} of {limit} open"
    if health.open_fds > FDS_WARN_SHARE * limit:
        return warned(seen, "raise LimitNOFILE= of the service, or lower server.connections_max")
    return passed(seen)


check_live_store = _read(judge_store)
check_scorer = _read(judge_scorer)
check_live_embedder = _read(judge_embedder)
check_gate = _read(judge_probe)
check_breaker = _read(judge_breaker)
check_fallbacks = _read(judge_fallbacks)
check_queues = _read(judge_queues)
check_restarts = _read(judge_restarts)
check_ledger = _read(judge_ledger)
check_calibration = _read(judge_calibration)
check_memory = _read(judge_memory)


def _judge_model(model: ModelReport, consequence: str) -> Finding:
    detail = f" ({model.detail})" if model.detail else ""
    seen = f"{model.state}: {model.model_id or 'no model'}{detail}, {model.jobs} jobs, {model.failures} failures"
    if model.state == ModelState.READY:
        return passed(seen)
    if model.state == ModelState.LOADING:
        return warned(f"{seen}; until it is loaded {consequence}", "look again in a minute")
    return failed(f"{seen}; {consequence}", "see the check of its files; the daemon's log names the cause")


def _score(value: float | None) -> str:
    return "not scored" if value is None else f"{value:.3f}"


def _open_files_limit(limits: Path) -> int | None:
    """The soft limit in a `/proc/<pid>/limits` file; None when it cannot be read, or is unlimited."""
    try:
        lines = limits.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    line = next((line for line in lines if line.startswith("Max open files")), "")
    soft = line.removeprefix("Max open files").split()[:1]
    return int(soft[0]) if soft and soft[0].isdigit() else None
