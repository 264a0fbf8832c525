"""`recalld forget`: show what would go, ask, and let go of exactly that."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from recalld.daemon.cli.commands.forget_preview import (
    PreviewDocument,
    is_one,
    look_closer,
    notes_in_words,
    preview_lines,
)
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import CommandError
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import QUERY, RECORD_ID, text_of
from recalld.daemon.cli.words import counted_memories
from recalld.daemon.exit_codes import ExitCode
from recalld.protocol import fields, requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.replies import Forgotten


@click.command("forget")
@click.argument("ids", nargs=-1, type=text_of(RECORD_ID))
@click.option(
    "--query", type=text_of(QUERY), help="Forget every memory that contains all these words, instead of naming ids."
)
@click.option("--hard", is_flag=True, help="Also overwrite the stored bytes, so that nothing stays in the files.")
@click.option("--dry-run", is_flag=True, help="Only show what would be forgotten.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@user_options
@click.pass_obj
def command(
    common: Common, *, ids: tuple[str, ...], query: str | None, hard: bool, dry_run: bool, yes: bool
) -> int | None:
    """Forget the memories with these IDS, or all that match --query.

    With --query, turns that wait for a language model, observations and proposals with all these words go as well.
    On a terminal you see them first and are asked. Forgetting by --query elsewhere needs --yes. Exit code 1 when one of
    the IDS does not exist; the others are forgotten all the same. A --query that matches nothing is no failure.
    """
    if bool(ids) == bool(query):
        message = "Give either ids or --query."
        raise click.UsageError(message)
    if query and not (dry_run or yes or common.is_interactive):
        code, message = (
            "confirmation_needed",
            "forgetting by --query without a terminal needs --yes (--dry-run looks first)",
        )
        raise CommandError(code, message, ExitCode.USAGE)
    request = requests.Forget(user=common.user_name, ids=ids, query=query or "", hard=hard, dry_run=True)
    with common.client(timeout_s=120.0) as client:
        preview = client.forget(request)
        if dry_run and preview.count:
            return _finish_preview(common, look_closer(client, common.user_name, preview))
        if not (preview.count or notes_in_words(preview)):
            return _finish(common, msgspec.structs.replace(preview, is_dry_run=dry_run))
        if not yes and common.is_interactive:
            _show(preview)
            click.confirm("Forget it?" if is_one(preview) else "Forget them?", abort=True)
        # What was shown is what goes: a memory stored since then that matches the query, too, stays.
        done = _forget_by_id(client, request, preview)
    return _finish(common, done)


def _forget_by_id(client: Client, preview_request: requests.Forget, preview: Forgotten) -> Forgotten:
    """Forget the previewed ids, as many at a time as a request may name, and add the replies up."""
    total = msgspec.structs.replace(
        preview, count=0, ids=(), items=(), unknown=preview.unknown, tombstones=0, is_dry_run=False, decision_id=""
    )
    total = msgspec.structs.replace(total, pending_turns=0, observations=0, proposals=0)
    query = preview_request.query
    for start in range(0, max(1, len(preview.ids)), fields.IDS_MAX):
        ids = preview.ids[start : start + fields.IDS_MAX]
        # Where no memory was shown, the words themselves say what goes.
        request = msgspec.structs.replace(
            preview_request, ids=ids, query="" if ids else query, notes_query="" if start else query, dry_run=False
        )
        part = client.forget(request)
        total = msgspec.structs.replace(
            total,
            count=total.count + part.count,
            ids=total.ids + part.ids,
            items=total.items + part.items,
            unknown=total.unknown + part.unknown,
            tombstones=total.tombstones + part.tombstones,
            decision_id=part.decision_id,
            is_erasure_pending=total.is_erasure_pending or part.is_erasure_pending,
            pending_turns=total.pending_turns + part.pending_turns,
            observations=total.observations + part.observations,
            proposals=total.proposals + part.proposals,
        )
    return total


def _finish_preview(common: Common, preview: PreviewDocument) -> int | None:
    if common.as_json:
        write_json(preview)
    else:
        click.echo(f"Would forget {counted_memories(preview.count)}:")
        if notes := notes_in_words(preview):
            click.echo(f"  with the words: {notes}")
        for line in preview_lines(preview.items):
            click.echo(line)
        if preview.count > len(preview.items):
            click.echo(f"  … and {preview.count - len(preview.items)} more")
        _show_unknown(preview.unknown)
    return ExitCode.FAILURE if preview.unknown else None


def _finish(common: Common, forgotten: Forgotten) -> int | None:
    if common.as_json:
        write_json(forgotten)
    elif forgotten.is_dry_run or not (forgotten.count or notes_in_words(forgotten)):
        _show(forgotten)
    else:
        click.echo(f"Forgotten: {_all_in_words(forgotten)}.")
        if forgotten.is_erasure_pending:
            click.echo(
                "  Nothing finds it any more, but its bytes still lie in the write-ahead log, because a program reads"
                " the database; the daemon removes them within seconds of the reading's end."
            )
        if forgotten.decision_id:
            click.echo(f"  `recalld explain {forgotten.decision_id}` shows the decision.")
        _show_unknown(forgotten.unknown)
    return ExitCode.FAILURE if forgotten.unknown else None


def _show(preview: Forgotten) -> None:
    if not (preview.count or notes_in_words(preview)):
        click.echo("Nothing matches; nothing to forget.")
    else:
        click.echo(f"Would forget {_all_in_words(preview)}{':' if preview.items else '.'}")
    for item in preview.items:
        place = f" ({printable(item.scope)})" if item.scope else ""
        click.echo(f"  {item.id}  {item.kind}{place}  {printable(item.preview, chars_max=90)}")
    if preview.count > len(preview.items):
        click.echo(f"  … and {preview.count - len(preview.items)} more")
    _show_unknown(preview.unknown)


def _all_in_words(forgotten: Forgotten) -> str:
    notes = notes_in_words(forgotten)
    if not notes:
        return counted_memories(forgotten.count)
    return f"{counted_memories(forgotten.count)}, and with the words {notes}" if forgotten.count else notes


def _show_unknown(unknown: Sequence[str]) -> None:
    for memory_id in unknown:
        click.echo(f"recalld: {printable(memory_id)}: no such memory", err=True)
