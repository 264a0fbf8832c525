"""`recalld explain --reason` and `--reasons`: what a code means, without a daemon."""

from __future__ import annotations

import itertools

import click

from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import printable, write_columns, write_json
from recalld.daemon.cli.reason_help import ReasonsDocument, all_reasons, help_for, similar_codes


def write_reason(code: str, *, as_json: bool) -> None:
    """Print what a code means and what to do about it, for every list that has it.

    Raises:
        CommandError: No list has it.
    """
    found = help_for(code)
    if not found:
        similar = similar_codes(code)
        hint = f"did you mean {' or '.join(similar)}? " if similar else ""
        message = f"--reason: there is no reason {printable(code)!r}; {hint}`recalld explain --reasons` lists all"
        raise usage_error(message)
    if as_json:
        write_json(ReasonsDocument(reasons=found))
        return
    for each in found:
        click.echo(f"{each.code} ({each.of})")
        click.echo(f"  {each.meaning}")
        click.echo(f"  {each.remedy}")


def write_all_reasons(*, as_json: bool) -> None:
    """Print every code, list by list."""
    reasons = all_reasons()
    if as_json:
        write_json(ReasonsDocument(reasons=reasons))
        return
    for place, (of, group) in enumerate(itertools.groupby(reasons, key=lambda each: each.of)):
        if place:
            click.echo()
        click.echo(f"{of}:")
        write_columns([(f"  {each.code}", each.meaning) for each in group])
    click.echo("\n`recalld explain --reason CODE` says what to do about one.")
