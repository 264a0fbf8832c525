"""`recalld status`: the running daemon at a glance. `recalld doctor` judges; this only shows."""

from __future__ import annotations

import click
import msgspec

from recalld.daemon.cli.common import Common, client_options
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.words import DEGRADED_REASONS, counted, counted_memories, duration_in_words, in_words
from recalld.protocol.items import ModelState
from recalld.protocol.replies import HealthReport, StatsReport

_MIB = 1024 * 1024


class StatusDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `recalld status --json` prints."""

    health: HealthReport
    stats: StatsReport


@click.command("status")
@client_options
@click.pass_obj
def command(common: Common) -> None:
    """Show the state of the running daemon: store, models, gate, latencies."""
    with common.client() as client:
        document = StatusDocument(health=client.health(), stats=client.stats())
    if common.as_json:
        write_json(document)
        return
    for line in _lines(document.health, document.stats):
        click.echo(line)


def _lines(health: HealthReport, stats: StatsReport) -> list[str]:
    store = health.store
    draining = ", stopping" if health.is_draining else ""
    lines = [
        f"recalld {health.version}, pid {health.pid}, up {duration_in_words(health.uptime_s)}{draining}",
        (
            f"store     {counted_memories(store.live)} of {counted(store.users, 'user')},"
            f" {store.db_bytes / _MIB:.1f} MiB (write-ahead log {store.wal_bytes / _MIB:.1f} MiB)"
        ),
        f"scorer    {_model(health.scorer)}",
        f"embedder  {_model(health.embedder)}; {counted_memories(store.pending_embedding)} waiting",
        f"gate      {health.gate_mode}, breaker {health.breaker}, {_calibration(health)}",
        f"recalls   {health.window_recalls} in the last {health.window_s / 60:.0f} min{_degraded(health)}",
    ]
    if stats.latencies_ms:
        shown = ", ".join(f"{name} {value:.0f}" for name, value in sorted(stats.latencies_ms.items()))
        lines.append(f"latency   {shown} (ms)")
    lines.append(
        f"process   {health.rss_bytes / _MIB:.0f} MiB, {counted(health.open_fds, 'open file')},"
        f" {counted(health.actors_active, 'user')} ready, {counted(health.actor_restarts, 'actor restart')},"
        f" queue {health.queue_depth}"
    )
    return lines


def _model(model: ModelState) -> str:
    detail = f" ({printable(model.detail)})" if model.detail else ""
    work = f"{counted(model.jobs, 'job')}, {counted(model.failures, 'failure')}"
    return f"{model.state}, {model.model_id or 'no model'}{detail}, {work}"


def _calibration(health: HealthReport) -> str:
    if not health.calibration_matches:
        return "not calibrated for this model"
    return f"calibration {health.calibration_id}"


def _degraded(health: HealthReport) -> str:
    causes = sorted((reason, count) for reason, count in health.window_degraded.items() if count)
    if not causes:
        return ", none degraded"
    shown = "; ".join(f"{count} because {in_words(reason, DEGRADED_REASONS)}" for reason, count in causes)
    return f", degraded: {shown}"
