"""`recalld remember`: store a memory."""

from __future__ import annotations

from typing import get_args

import click

from recalld.daemon.cli.common import Common, session_options
from recalld.daemon.cli.local_zone import local_zone
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import ASK, CUE, SCOPE, ZONE, text_of, time
from recalld.daemon.cli.text_input import read_text
from recalld.daemon.cli.usage_line import eviction_lines, named, usage_line
from recalld.daemon.cli.words import REMEMBER_OUTCOMES, in_words
from recalld.protocol import fields, requests


@click.command("remember")
@click.argument("text")
@click.option(
    "--kind",
    type=click.Choice(get_args(fields.Kind)),
    default="fact",
    show_default=True,
    help="What sort of thing it is.",
)
@click.option("--scope", type=text_of(SCOPE), default="", help="Project or context it belongs to. Default: everywhere.")
@click.option(
    "--cue",
    "cues",
    type=text_of(CUE),
    multiple=True,
    help=f"Heading it could be filed under; up to {fields.CUES_MAX} times.",
)
@click.option(
    "--ask", "asks", type=text_of(ASK), multiple=True, help=f"Question it answers; up to {fields.ASKS_MAX} times."
)
@click.option(
    "--expires-at",
    type=time,
    help="When it stops being true: RFC 3339 date or time, or Unix time in milliseconds. Default: never.",
)
@click.option(
    "--time-zone", type=text_of(ZONE), help="Zone of an --expires-at without an offset. Default: the local one."
)
@session_options
@click.pass_obj
def command(
    common: Common,
    *,
    text: str,
    kind: fields.Kind,
    scope: str,
    cues: tuple[str, ...],
    asks: tuple[str, ...],
    expires_at: str | int | None,
    time_zone: str | None,
) -> None:
    """Store TEXT (`-`: standard input), because you ask for it."""
    request = requests.Remember(
        user=common.user_name,
        session=common.session_name,
        text=read_text(text, chars_max=fields.MEMORY_CHARS_MAX),
        kind=kind,
        scope=scope,
        cues=_at_most(cues, fields.CUES_MAX, "--cue"),
        asks=_at_most(asks, fields.ASKS_MAX, "--ask"),
        expires_at=expires_at,
        time_zone=time_zone or (local_zone(common.environment) if isinstance(expires_at, str) else ""),
    )
    with common.client() as client:
        remembered = client.remember(request)
        evictions = () if remembered.usage is None else remembered.usage.evictions
        mentioned = (*remembered.superseded, *evictions)
        texts = {} if common.as_json else texts_of(client, common.user_name, mentioned)
    if common.as_json:
        write_json(remembered)
        return
    click.echo(f"{in_words(remembered.outcome, REMEMBER_OUTCOMES)}: {printable(remembered.memory.text, chars_max=100)}")
    click.echo(f"  {remembered.memory.id}")
    if remembered.superseded:
        closed = ", ".join(named(each, texts) for each in remembered.superseded)
        click.echo(f"  In place of {closed}, which no recall finds any more.")
    if remembered.usage is not None:
        for line in (usage_line(remembered.usage), *eviction_lines(remembered.usage, texts)):
            click.echo(f"  {line}")
    click.echo(f"  `recalld explain {remembered.decision_id}` shows the decision.")
    if not remembered.is_embedded:
        click.echo("  Not embedded yet: until then only its words find it.")


def _at_most(values: tuple[str, ...], count_max: int, option: str) -> tuple[str, ...]:
    if len(values) > count_max:
        message = f"at most {count_max} are kept; leave out the weakest."
        raise click.BadParameter(message, param_hint=option)
    return values
