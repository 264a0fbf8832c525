"""What `recalld stats` prints for people: one section after the other, each from its part of the reply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

import click

from recalld.daemon.cli.commands.audit_view import write_audit
from recalld.daemon.cli.commands.drift_view import write_drift
from recalld.daemon.cli.output import moment, write_columns
from recalld.daemon.cli.words import DEGRADED_REASONS, counted, in_words
from recalld.models.lab.ledger.costs import tokens_of
from recalld.protocol.replies import StatsReport
from recalld.protocol.stats_items import GateCost, LedgerReport, Reconciliation, Share

_REASONS_MAX: Final = 12
"""Rows of one table of reasons; the rest is summed up in one line and is all in `--json`."""


def write_stats(report: StatsReport) -> None:
    """Print every section that the reply has."""
    if report.drift is not None and any(user.shadow for user in report.drift.users):
        click.echo("Shadow mode: what follows is what the gates decided; what was done instead is told under drift.")
    if report.ledger is not None:
        _write_ledger(report.ledger)
    _write_model(report.counters)
    if report.drift is not None:
        write_drift(report.drift)
    if report.audit is not None:
        write_audit(report.audit)


def _write_model(counters: dict[str, int]) -> None:
    """What the language model that reads turns cost; a batch has several turns, so that no ledger row has it."""
    calls, chars = counters.get("extraction_calls", 0), counters.get("extraction_chars", 0)
    if calls:
        facts = counters.get("extraction_facts", 0)
        click.echo(
            f"model gate, since start: {counted(calls, 'call')}, about {tokens_of(chars)} tokens, "
            f"{counted(facts, 'fact')} found"
        )


def rate(share: Share) -> str:
    """A share as in `12/40 = 0.300 [0.18, 0.45]`."""
    return f"{share.k}/{share.n} = {share.rate:.3f} [{share.low:.2f}, {share.high:.2f}]"


def _write_ledger(report: LedgerReport) -> None:
    click.echo(f"Decisions from {moment(report.since_ms)} to {moment(report.until_ms)}; shares with 95 % intervals")
    if not report.decisions:
        click.echo("  none in this time")
        return
    for op, counts in groupby(sorted(report.decisions, key=lambda each: each.op), key=lambda each: each.op):
        _write_table(op, [(each.decision, each.reason, rate(each.share)) for each in counts])
    _write_degraded(report)
    _write_table("candidates", [(each.stage, each.reason or "-", rate(each.share)) for each in report.candidates])
    _write_table(
        "facts of turns",
        [(each.found_by or "-", each.outcome, each.reason, rate(each.share)) for each in report.facts],
    )
    _write_times(report)
    _write_compound(report)
    _write_costs(report.costs)
    _write_sums(report)


def _write_table(title: str, rows: Sequence[tuple[str, ...]]) -> None:
    if not rows:
        return
    click.echo()
    shown, left = rows[:_REASONS_MAX], len(rows) - _REASONS_MAX
    write_columns([(title, *("" for _ in shown[0][1:])), *(("  " + row[0], *row[1:]) for row in shown)])
    if left > 0:
        click.echo(f"  … and {left} more; --json has them all")


def _write_degraded(report: LedgerReport) -> None:
    degraded = [each for each in report.modes if each.degraded_reason]
    rows = [(each.mode, in_words(each.degraded_reason, DEGRADED_REASONS), rate(each.share)) for each in degraded]
    _write_table("degraded recalls", rows)


def _write_times(report: LedgerReport) -> None:
    if not report.times:
        return
    click.echo()
    table = [("time (ms)", "n", "p50", "p95", "p99", "total")]
    table += [
        (
            f"  {each.gate}",
            str(each.n),
            f"{each.p50_ms:.2f}",
            f"{each.p95_ms:.2f}",
            f"{each.p99_ms:.2f}",
            f"{each.total_ms:.0f}",
        )
        for each in report.times
    ]
    write_columns(table)


def _write_compound(report: LedgerReport) -> None:
    if report.compound is None:
        return
    compound = report.compound
    _write_table("passed, of what reached it", [(each.gate, rate(each.passed)) for each in compound.steps])
    click.echo(f"  all of them together: candidates {rate(compound.candidates)}, recalls {rate(compound.recalls)}")


def _write_costs(costs: Sequence[GateCost]) -> None:
    _write_table(
        "gate: spent, and avoided",
        [(each.gate, _spent(each), ", ".join(_avoided(each))) for each in costs],
    )


def _spent(cost: GateCost) -> str:
    tokens = f", about {cost.spent_tokens} tokens" if cost.spent_tokens else ""
    return (
        f"{cost.spent_ms:.0f} ms in {cost.decisions} decisions (p50 {cost.p50_ms:.2f}, p95 {cost.p95_ms:.2f}){tokens}"
    )


def _avoided(cost: GateCost) -> Iterator[str]:
    yield f"{cost.avoided} {_AVOIDED.get(cost.gate, 'steps')}"
    if cost.avoided_ms is not None:
        yield f"about {cost.avoided_ms:.0f} ms"
    if cost.avoided_tokens is not None:
        yield f"about {cost.avoided_tokens} tokens"


_AVOIDED: Final = {"turn": "searches", "relevance": "memories not injected", "write": "facts not made records"}


def _write_sums(report: LedgerReport) -> None:
    click.echo()
    for each in report.reconciliations:
        click.echo(_sum(each))
    if report.unreadable:
        click.echo(f"unreadable: the bodies of {report.unreadable} ledger rows, of which only the decision is counted")


def _sum(each: Reconciliation) -> str:
    parts = " + ".join(f"{count} {name}" for name, count in each.parts.items()) or "0"
    if each.holds:
        return f"{each.name}: {each.total} = {parts}"
    summed = sum(each.parts.values())
    return f"{each.name}: MISMATCH, {each.total} but the parts are {summed} = {parts}; rows were lost or erased"
