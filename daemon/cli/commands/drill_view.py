"""What `recalld drill` prints for people."""

from __future__ import annotations

from typing import Final

import click

from recalld.daemon.cli.commands.eval_view import write_calibration
from recalld.daemon.cli.output import printable, write_columns
from recalld.models.lab.drill_report import Compared, DrillArm, DrillReport, DrillSet, DrillVerdict, Spread
from recalld.models.lab.paired import LEVEL, Paired
from recalld.models.lab.report import Rate

_VERDICTS: Final = {
    DrillVerdict.EARNS_ITS_PLACE: "With the gates shut measurably fewer turns are helped: recall earns its place here.",
    DrillVerdict.DOES_NOT_EARN_ITS_PLACE: (
        "With the gates shut nothing gets measurably worse: on these turns recall does not earn its place."
    ),
    DrillVerdict.TOO_FEW_TURNS: (
        "Too few turns with a relevant memory: not even the loss of all help could be told from chance. Label more."
    ),
    DrillVerdict.NOT_REPRODUCIBLE: (
        "The same gates decided otherwise the second time: no difference means anything until that is mended."
    ),
}


def write_drill(report: DrillReport) -> None:
    """Print the report, two tables and a verdict for each set."""
    for name, each in report.sets.items():
        _write_set(name, each)
        click.echo()
    write_calibration(report.calibration)


def _write_set(name: str, report: DrillSet) -> None:
    rows = report.rows
    left_out = f"; {rows.disputed} disputed left out" if rows.disputed else ""
    click.echo(
        f"{printable(name)}: {rows.answerable} answerable rows, of which the search finds a relevant memory for "
        f"{report.candidates.k}; {rows.nothing_relevant} with nothing relevant{left_out}"
    )
    click.echo(
        f"  Smallest loss that can be told from chance: retention {report.detectable.retention:.2f}, "
        f"silence {report.detectable.silence:.2f}"
    )
    control = report.control
    click.echo(f"  Control: {control.arm} asked twice, {control.differences} of {control.rows} rows differ")
    _write_arms(report)
    click.echo()
    _write_changes(report)
    _write_placebo(report)
    _write_cost(report)
    click.echo(f"  {_VERDICTS[report.verdict]}")


def _write_arms(report: DrillSet) -> None:
    table = [("arm", "retention", "silence", "injected", "if nothing helps")]
    table += [
        (
            name,
            _rate(arm.retention),
            _rate(arm.silence),
            f"{arm.mean_injected:.2f}",
            f"{arm.mean_injected_nothing_relevant:.2f}",
        )
        for name, arm in report.arms.items()
    ]
    placebo = report.random_skip
    table.append((DrillArm.RANDOM_SKIP.value, _spread(placebo.retention), _spread(placebo.silence), "", ""))
    write_columns(table)


def _write_changes(report: DrillSet) -> None:
    table: list[tuple[str, ...]] = [("from shipped to", "retention", "turns lost, gained", "silence", "lost, gained")]
    table += [_change_line(name, each) for name, each in report.against_shipped.items()]
    write_columns(table)


def _change_line(name: str, compared: Compared) -> tuple[str, ...]:
    kept, quiet = compared.retention, compared.silence
    return name, _change(kept), f"{kept.lost}, {kept.gained}", _change(quiet), f"{quiet.lost}, {quiet.gained}"


def _write_placebo(report: DrillSet) -> None:
    placebo = report.random_skip
    told = "the gates know more than chance" if placebo.p_value < LEVEL else "not told from chance"
    click.echo(
        f"  Silent on {placebo.silent} turns at random: as good as the gates in {placebo.as_good} of {placebo.draws} "
        f"draws, {told}"
    )


def _write_cost(report: DrillSet) -> None:
    cost = report.cost
    skips = (
        f" ({', '.join(f'{printable(reason)} {count}' for reason, count in cost.skips.items())})" if cost.skips else ""
    )
    click.echo(
        f"  Cost of the shipped gates: {cost.pairs_scored} pairs, {cost.ms_p50:.0f} ms (median), {cost.ms_p95:.0f} ms "
        f"(p95) a turn; search spared on {cost.spared.k} of {cost.spared.n} turns{skips}"
    )


def _change(change: Paired) -> str:
    told = "" if change.is_measurable else ", not measurable"
    return f"{change.difference:+.3f} [{change.low:+.2f}, {change.high:+.2f}]{told}"


def _rate(rate: Rate) -> str:
    return f"{rate.k}/{rate.n} = {rate.rate:.3f} [{rate.low:.2f}, {rate.high:.2f}]"


def _spread(spread: Spread) -> str:
    return f"{spread.mean:.3f} [{spread.low:.2f}, {spread.high:.2f}]"
