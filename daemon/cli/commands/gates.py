"""`recalld gates`: which gates there are, what each guards, and by which settings it decides. Needs no daemon."""

from __future__ import annotations

import difflib
from typing import Final

import click
import msgspec

from recalld.daemon.cli.common import Common, json_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import printable, write_columns, write_json
from recalld.models.policy.profiles.registry import DEFAULT_PREFIX, policy_version, shipped_profiles
from recalld.models.policy.profiles.spec import KnobBounds, Profile

_SHARED: Final = frozenset({"name", "op", "version", "guards", "directions", "notice", "error_rates"})
"""Fields of a profile that are no knobs of its own family."""


class GateDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One gate, for programs."""

    policy_version: str
    is_default: bool
    """Whether it decides for its operation when a request names no profile."""
    profile: Profile


class GatesDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `recalld gates --json` prints."""

    gates: tuple[GateDocument, ...]


@click.group("gates", invoke_without_command=True)
@json_options
@click.pass_context
def command(ctx: click.Context) -> None:
    """List gates and show their settings. `recalld decide` asks one."""
    if ctx.invoked_subcommand is None:
        _list(ctx.ensure_object(Common))


@command.command("list")
@json_options
@click.pass_obj
def list_command(common: Common) -> None:
    """List the gates: name, operation, version and what each guards."""
    _list(common)


@command.command("show")
@click.argument("name", metavar="NAME")
@json_options
@click.pass_obj
def show_command(common: Common, *, name: str) -> None:
    """Show the settings of one gate, and how often it is known to be wrong."""
    profile = shipped_profiles().get(name)
    if profile is None:
        similar = _similar(name)
        hint = f"did you mean {' or '.join(similar)}? " if similar else ""
        message = f"NAME: there is no gate called {printable(name)!r}; {hint}`recalld gates` lists them"
        raise usage_error(message)
    if common.as_json:
        write_json(_document(profile))
        return
    for line in _lines(profile):
        click.echo(line)


def _similar(name: str) -> list[str]:
    """Gates that may have been meant: the one that decides for an operation of this name, then those spelled alike."""
    names = list(shipped_profiles())
    default = f"{DEFAULT_PREFIX}{name}"
    return [default] if default in names else difflib.get_close_matches(name, names)


def _list(common: Common) -> None:
    profiles = tuple(shipped_profiles().values())
    if common.as_json:
        write_json(GatesDocument(gates=tuple(_document(profile) for profile in profiles)))
        return
    rows = [("gate", "operation", "family", "version", "guards")]
    rows += [(each.name, each.op.value, _family(each), str(each.version), each.guards.rstrip(".")) for each in profiles]
    write_columns(rows)


def _document(profile: Profile) -> GateDocument:
    return GateDocument(policy_version=policy_version(profile), is_default=_is_default(profile), profile=profile)


def _is_default(profile: Profile) -> bool:
    return profile.name == f"{DEFAULT_PREFIX}{profile.op.value}"


def _family(profile: Profile) -> str:
    return str(profile.__struct_config__.tag)


def _lines(profile: Profile) -> list[str]:
    default = ", decides when a request names no profile" if _is_default(profile) else ""
    lines = [
        f"{profile.name}, version {profile.version} ({policy_version(profile)})",
        f"  operation: {profile.op.value}{default}",
        f"  family: {_family(profile)}",
        f"  guards: {profile.guards}",
        "  knobs:",
    ]
    lines += [f"    {name}: {_shown(name, getattr(profile, name))}" for name in _knobs(profile)] or [
        "    none of its own"
    ]
    lines.append("  when it cannot decide:")
    lines += [f"    {name}: {getattr(profile.directions, name)}" for name in profile.directions.__struct_fields__]
    if profile.notice is not None:
        lines.append(f"  after {profile.notice.failures_min} failures in a row: {profile.notice.consequence}")
        lines.append(f"    look at: {profile.notice.setting}")
    rates = profile.error_rates
    lines.append(
        "  error rates: not measured"
        if rates is None
        else f"  error rates: {rates.false_yes} of {rates.of_no} false yes, {rates.false_no} of {rates.of_yes} false no"
        f" on {rates.measured_on}"
    )
    return lines


def _knobs(profile: Profile) -> list[str]:
    return [name for name in profile.__struct_fields__ if name not in _SHARED]


def _shown(name: str, value: float | str | tuple[str, ...] | dict[str, KnobBounds] | None) -> str:
    match value:
        case dict():
            return ", ".join(f"{knob} {bounds.least:g} to {bounds.most:g}" for knob, bounds in value.items())
        case None:
            return "not calibrated" if name.startswith("threshold_") else "no limit"
        case tuple():
            return ", ".join(value) or "none"
        case bool():
            return "yes" if value else "no"
        case _:
            return str(value)
