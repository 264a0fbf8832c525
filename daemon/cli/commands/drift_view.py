"""How drift and shadow mode are told to a person, below the other figures of `recalld stats`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import DRIFT_REFERENCES, GATE_NAMES, in_words
from recalld.protocol.drift_items import DriftSection, DriftShift, GateDriftItem, ShadowCountItem, UserDrift

_USERS_MAX: Final = 8
"""Users shown at most; `--json` has them all, and `--user` one."""


def write_drift(section: DriftSection) -> None:
    """Print every user's gates: those with an alarm first."""
    ordered = sorted(section.users, key=lambda user: -sum(len(gate.alarms) for gate in user.gates))
    for line in (line for user in ordered[:_USERS_MAX] for line in drift_lines(user)):
        # The indentation stays, while control characters in a value cannot reach the terminal.
        click.echo(" " * (len(line) - len(line.lstrip(" "))) + printable(line))
    if len(ordered) > _USERS_MAX:
        click.echo(f"… and {len(ordered) - _USERS_MAX} more users; --json has them all")


def drift_lines(user: UserDrift) -> Iterator[str]:
    """The lines of one user."""
    yield ""
    yield f"Drift of {user.user}"
    for gate in user.gates:
        yield from _gate_lines(gate)
    for count in user.shadow:
        yield f"  shadow mode {count.mode}: {_shadow(count)}"


def _gate_lines(gate: GateDriftItem) -> Iterator[str]:
    before = f", before {_rate(gate.earlier_fired, gate.earlier_n)}" if gate.earlier_n else ""
    few = f" ({gate.too_few})" if gate.too_few else ""
    yield f"  {in_words(gate.gate, GATE_NAMES)}: fired {_rate(gate.fired, gate.n)}{before}{few}"
    for shift in gate.shifts:
        yield f"    {_shift(shift)}"
    for alarm in gate.alarms:
        yield f"    ALARM {alarm.name}: {alarm.seen}; {alarm.remedy}"


def _rate(fired: int, n: int) -> str:
    return f"{fired}/{n} = {fired / n:.3f}" if n else "0/0"


def _shift(shift: DriftShift) -> str:
    against = in_words(shift.reference, DRIFT_REFERENCES)
    return (
        f"{shift.what} against {against}: {shift.statistic.upper()} {shift.value:.3f} ({shift.band},"
        f" alarm from {shift.limit:.2f}; {shift.n} and {shift.reference_n})"
    )


def _shadow(count: ShadowCountItem) -> str:
    what = "recalls" if count.gate == "relevance" else "turns"
    return (
        f"{count.differing} of {count.decisions} {what} went otherwise than decided; {count.decided} would have come"
        f" through, {count.served} did"
    )
