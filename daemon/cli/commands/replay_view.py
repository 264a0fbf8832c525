"""What `recalld replay` prints for people; it reads well at 100 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import click

from recalld.daemon.cli.output import printable, write_columns
from recalld.models.lab.replay_cases import LeftOut
from recalld.models.lab.replay_report import GateReport, JudgeUsed, ReplayReport, ReplaySet, WrongRecord
from recalld.models.lab.report import Rate

COLUMNS: Final = 100
_LEFT_OUT: Final = (
    ("rows_disputed", "disputed rows"),
    ("rows_without_user", "rows in which no user speaks"),
    ("rows_not_drawn", "rows to save time"),
    ("facts_of_others", "facts of turns that no user said"),
    ("facts_elsewhere", "facts that need other turns"),
    ("quotes_elsewhere", "quotes that are not in their turn"),
    ("facts_ending", "facts that end what was never stored"),
)
_NOT_TOLD: Final = "-"


def write_replay(report: ReplayReport, *, wrong_max: int | None) -> None:
    """Print the report: a few tables for each set, then all of them together, then the wrong records of the stack.

    Args:
        report: Of a replay.
        wrong_max: Wrong records that are listed; None: all.
    """
    for name, each in report.sets.items():
        write_set(name, each)
        click.echo()
    if len(report.pooled) > 1:
        click.echo(f"together: {', '.join(map(printable, report.pooled))}")
        _write_gates(report.gates)
        click.echo()
    _write_wrong(report.wrong, wrong_max)
    click.echo()
    click.echo(f"`stack` stands at position {report.position}: see admission.position.")
    _write_judge(report.judge)


def write_set(name: str, each: ReplaySet) -> None:
    """Print what a set is, and the tables of its gates.

    Args:
        name: Of the set.
        each: The set.
    """
    counts = each.counts
    click.echo(
        f"{printable(name)}: {counts.rows} conversations, {counts.turns} turns of users; {counts.turns_stating} state "
        f"{counts.facts} facts"
    )
    click.echo(
        f"  Smallest difference that can be told from chance: precision {each.detectable.precision:.2f}, "
        f"recall {each.detectable.recall:.2f}"
    )
    identity = each.identity
    click.echo(f"  Control: {identity.arm} replayed twice, {identity.differences} of {identity.rows} turns differ")
    left_out = _left_out(each.excluded)
    if left_out:
        click.echo(f"  Left out: {left_out}")
    if counts.undated:
        click.echo(f"  Without a date: {counts.undated} conversations, taken to have been on 2026-01-05")
    if each.is_weak:
        click.echo("  Weak labels: they do not say what is not worth storing, so that recall alone is counted")
    _write_gates(each.gates)


def _write_gates(gates: Mapping[str, GateReport]) -> None:
    table: list[tuple[str, ...]] = [("gate", "precision of records", "recall of facts", "wrong/1,000")]
    table += [
        (name, _rate(gate.precision), _rate(gate.recall), _number(gate.wrong_per_1000)) for name, gate in gates.items()
    ]
    write_columns(table)
    click.echo()
    more: list[tuple[str, ...]] = [
        ("gate", "turn precision", "turn recall", "writes/turn", "noted/asked", "ms p50", "p95")
    ]
    more += [
        (
            name,
            _short(gate.turn_precision),
            _short(gate.turn_recall),
            f"{gate.write_rate:.3f}",
            f"{gate.observed}/{gate.proposed}",
            f"{gate.ms_p50:.1f}",
            f"{gate.ms_p95:.1f}",
        )
        for name, gate in gates.items()
    ]
    write_columns(more)


def _write_wrong(wrong: Sequence[WrongRecord], wrong_max: int | None) -> None:
    if not wrong:
        click.echo("No wrong record of `stack`.")
        return
    click.echo(f"Wrong records of `stack`: {len(wrong)}, let in by")
    counted = Counter(each.rule for each in wrong).most_common()
    write_columns([(f"  {count}", printable(rule)) for rule, count in counted])
    shown = wrong if wrong_max is None else wrong[:wrong_max]
    for each in shown:
        reason = f" ({printable(each.reason, chars_max=40)})" if each.reason else ""
        click.echo(printable(f"{each.set} {each.row}, turn {each.turn}, {each.rule}") + reason)
        click.echo(f"    {printable(each.statement, chars_max=COLUMNS - 4)}")
    if len(shown) < len(wrong):
        click.echo(f"{len(wrong) - len(shown)} more: --all-wrong shows them.")


def _write_judge(judge: JudgeUsed) -> None:
    if not judge.id:
        click.echo(f"No judge: {printable(judge.mismatch)}")
        return
    how = ", each style of the package judged by a fit on the others" if judge.is_held_out else ""
    click.echo(f"Judge {printable(judge.id)}, record {judge.sha256[:12]}{how}")


def _left_out(counts: LeftOut) -> str:
    """What is left out, in words; empty: nothing."""
    found = {
        "rows_disputed": counts.rows_disputed,
        "rows_without_user": counts.rows_without_user,
        "rows_not_drawn": counts.rows_not_drawn,
        "facts_of_others": counts.facts_of_others,
        "facts_elsewhere": counts.facts_elsewhere,
        "facts_ending": counts.facts_ending,
        "quotes_elsewhere": counts.quotes_elsewhere,
    }
    return ", ".join(f"{found[name]} {words}" for name, words in _LEFT_OUT if found[name])


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return _NOT_TOLD
    share = f"{rate.k}/{rate.n}"
    return f"{share} = {rate.rate:.3f} [{rate.low:.2f}, {rate.high:.2f}]" if rate.n else share


def _short(rate: Rate | None) -> str:
    return f"{rate.rate:.2f} [{rate.low:.2f}, {rate.high:.2f}]" if rate is not None and rate.n else _NOT_TOLD


def _number(value: float | None) -> str:
    return _NOT_TOLD if value is None else f"{value:.1f}"
