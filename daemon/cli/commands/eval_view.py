"""What `recalld eval` prints for people."""

from __future__ import annotations

from collections.abc import Mapping

import click
from msgspec import UNSET, UnsetType

from recalld.daemon.cli.output import printable, write_columns
from recalld.models.lab.report import Breakdown, CalibrationUsed, CompoundRates, EvalReport, Rate, SetReport, Share


def write_report(report: EvalReport) -> None:
    """Print the report, a few tables for each set."""
    for name, each in report.sets.items():
        _write_set(name, each)
        click.echo()
    write_calibration(report.calibration)


def write_rates(name: str, report: SetReport) -> None:
    """Print what a set is, and the first table: the rates of every arm, with counts and intervals.

    Args:
        name: Of the set.
        report: Of it.
    """
    rows = report.rows
    left_out = f"; {rows.disputed} disputed left out" if rows.disputed else ""
    click.echo(
        f"{printable(name)}: {rows.answerable} answerable rows, {rows.nothing_relevant} with nothing relevant{left_out}"
    )
    click.echo(
        f"  Smallest difference that can be told from chance: silence {report.detectable.silence:.2f}, "
        f"retention {report.detectable.retention:.2f}"
    )
    control = report.control
    click.echo(f"  Control: {control.arm} judged twice, {control.differences} of {control.rows} rows differ")
    table: list[tuple[str, ...]] = [("arm", "silence", "retention", "had it", "memory retention")]
    for arm_name, arm in report.arms.items():
        had = f"{arm.candidates.k}/{arm.candidates.n}"
        table.append((arm_name, _rate(arm.silence), _rate(arm.retention), had, _rate(arm.memory_retention)))
    write_columns(table)


def _write_set(name: str, report: SetReport) -> None:
    write_rates(name, report)
    click.echo()
    write_columns(_second_table(report))
    _write_kinds(report)
    _write_sources(report.breakdown)
    _write_compound(report.compound)


def _second_table(report: SetReport) -> list[tuple[str, ...]]:
    rows = report.rows.answerable + report.rows.nothing_relevant
    table: list[tuple[str, ...]] = [
        ("arm", "of all answerable", "precision", "F0.5", "injected", "if nothing helps", "pairs/row", "ms p50", "p95")
    ]
    for name, arm in report.arms.items():
        more = report.breakdown[name]
        table.append(
            (
                name,
                _rate(more.served),
                _rate(more.precision),
                f"{arm.f05:.3f}",
                f"{arm.mean_injected:.2f}",
                f"{more.mean_injected_nothing_relevant:.2f}",
                f"{arm.pairs_scored / rows if rows else 0.0:.1f}",
                f"{arm.ms_p50:.0f}",
                f"{arm.ms_p95:.0f}",
            )
        )
    return table


def _write_kinds(report: SetReport) -> None:
    """By kind of turn, and by kind of memory; each arm a column of its own would not fit, so the kinds are."""
    for title, of_arm in (
        ("by kind of turn", {name: arm.by_kind for name, arm in report.arms.items()}),
        ("relevant memories kept, by kind", {name: each.by_memory_kind for name, each in report.breakdown.items()}),
    ):
        kinds = list(dict.fromkeys(kind for shares in of_arm.values() for kind in shares))
        if not kinds:
            continue
        click.echo()
        header = (title, *(printable(kind) for kind in kinds))
        write_columns(
            [header, *((name, *(_share(shares.get(kind)) for kind in kinds)) for name, shares in of_arm.items())]
        )


def _write_sources(breakdowns: Mapping[str, Breakdown]) -> None:
    """By source, where a set has several."""
    table: list[tuple[str, ...]] = [("by source", "source", "silence", "retention")]
    for name, each in breakdowns.items():
        table += [
            (name, printable(source), _rate(rates.silence), _rate(rates.retention))
            for source, rates in each.by_source.items()
        ]
    if len(table) > len(breakdowns) + 1:
        click.echo()
        write_columns(table)


def _write_compound(compound: CompoundRates | UnsetType) -> None:
    """Of the relevant memories that the search nominated: what each gate lets through alone, and all of them."""
    if compound is UNSET:
        return
    click.echo()
    write_columns(
        [
            ("relevant memories", "pass"),
            ("nominated by the search", _rate(compound.search)),
            ("turn gate alone", _rate(compound.turn)),
            ("floor alone", _rate(compound.floor)),
            ("relevance gate alone", _rate(compound.relevance)),
            ("pack alone", _rate(compound.pack)),
            ("all gates together", _rate(compound.joint)),
            ("product of the parts", f"{compound.product:.3f}, if they erred independently"),
            ("injected, of all", _rate(compound.injected)),
        ]
    )


def write_calibration(used: CalibrationUsed) -> None:
    """Print what the gate ran with, and on whose data it was fitted."""
    whose = "your own data" if used.is_own else "data that is not yours"
    click.echo(f"Calibration {printable(used.id) or 'none'}, threshold {used.threshold:.4f}")
    click.echo(f"  fitted on {used.n} turns of {printable(used.corpus_id)}, {whose}")
    for mismatch in used.mismatches:
        click.echo(f"  not in use: {printable(mismatch)}")


def _rate(rate: Rate) -> str:
    return f"{rate.k}/{rate.n} = {rate.rate:.3f} [{rate.low:.2f}, {rate.high:.2f}]"


def _share(share: Share | None) -> str:
    return "-" if share is None else f"{share.k}/{share.n}"
