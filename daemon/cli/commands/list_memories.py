"""`recalld list`: what is stored."""

from __future__ import annotations

import datetime as dt
from typing import get_args

import click

from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.local_zone import local_tzinfo
from recalld.daemon.cli.output import expiry, moment, printable, write_columns, write_json
from recalld.daemon.cli.parameters import CONTAINS, CURSOR, SCOPE, text_of, whole
from recalld.protocol import fields, requests
from recalld.protocol.replies import Memories


@click.command("list")
@click.option(
    "--scope", type=text_of(SCOPE), help="Only this scope; an empty one shows what holds everywhere. Default: all."
)
@click.option("--kind", type=click.Choice(get_args(fields.Kind)), help="Only this kind.")
@click.option(
    "--contains", type=text_of(CONTAINS), default="", help="Only memories with these characters in them, in any case."
)
@click.option(
    "--superseded",
    "is_superseded",
    is_flag=True,
    help="What something newer took the place of, or ended, instead of what holds.",
)
@click.option(
    "--limit",
    type=whole(1, fields.LIST_LIMIT_MAX),
    default=50,
    show_default=True,
    help="Memories on one page.",
)
@click.option("--cursor", type=text_of(CURSOR), help="Where to go on, as the page before says.")
@user_options
@click.pass_obj
def command(
    common: Common,
    *,
    scope: str | None,
    kind: fields.Kind | None,
    contains: str,
    is_superseded: bool,
    limit: int,
    cursor: str | None,
) -> None:
    """List memories, newest first, a page at a time."""
    request = requests.ListMemories(
        user=common.user_name,
        scope=scope,
        kind=kind,
        contains=contains,
        limit=limit,
        cursor=cursor,
        superseded=is_superseded,
    )
    with common.client() as client:
        page = client.list_memories(request)
    if common.as_json:
        write_json(page)
    else:
        is_filtered = scope is not None or kind is not None or bool(contains) or is_superseded
        _show(page, local_tzinfo(common.environment), is_filtered=is_filtered)


def _show(page: Memories, zone: dt.tzinfo, *, is_filtered: bool) -> None:
    if not page.memories:
        nothing = "Nothing stored matches." if is_filtered else "Nothing stored."
        click.echo("Nothing on this page." if page.total else nothing)
        return
    rows = [("id", "kind", "scope", "stored", "expires", "memory")]
    rows += [
        (
            memory.id,
            memory.kind,
            printable(memory.scope, chars_max=24),
            moment(memory.created_at_ms),
            "" if memory.expires_at_ms is None else expiry(memory.expires_at_ms, zone),
            printable(memory.text),
        )
        for memory in page.memories
    ]
    write_columns(rows)
    if page.cursor is not None:
        click.echo(f"{len(page.memories)} of {page.total}; go on with --cursor {page.cursor}", err=True)
