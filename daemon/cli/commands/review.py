"""`recalld review`: accept, turn down or reword what waits to be a memory."""

from __future__ import annotations

import sys
from typing import Final

import click
import msgspec

from recalld.daemon.cli.commands.export import exported_records
from recalld.daemon.cli.commands.review_desk import Answered, ClientDesk
from recalld.daemon.cli.commands.review_items import DAY_MS, Waiting, waiting_in
from recalld.daemon.cli.commands.review_loop import LineKeys, Reviewed, TerminalKeys, review
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import RECORD_ID, text_of
from recalld.daemon.cli.text_input import read_text
from recalld.daemon.cli.words import counted
from recalld.protocol import fields
from recalld.protocol.client.blocking import Client

CLIENT_NAME: Final = "recalld-review"
"""A name of its own: what `recalld observe` brought, a person may accept here."""


class ReviewDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What waits, as `--json` prints it."""

    waiting: tuple[Waiting, ...]


@click.command("review")
@click.option("--accept", "accepted", metavar="ID", type=text_of(RECORD_ID), help="Make a memory of this one.")
@click.option("--reject", "rejected", metavar="ID", type=text_of(RECORD_ID), help="Turn this one down.")
@click.option("--edit", "edited", metavar="ID TEXT", nargs=2, type=str, help="Accept this one in other words.")
@click.option("--all", "is_all", is_flag=True, help="Observations that are far from a memory, too.")
@user_options
@click.pass_obj
def command(
    common: Common, *, accepted: str | None, rejected: str | None, edited: tuple[str, str] | None, is_all: bool
) -> None:
    """Go through what waits for your word: proposals, and observations that are one turn short of a memory.

    On a terminal a key decides: a accepts, r turns down, e edits first, s skips, q quits; elsewhere a line of standard
    input with such a letter or its word. What you turn down comes back only when you have it remembered explicitly.
    """
    if sum(each is not None for each in (accepted, rejected, edited)) > 1:
        message = "--accept, --reject and --edit: give one of them at a time"
        raise usage_error(message)
    with common.client(timeout_s=60.0, name=CLIENT_NAME) as client:
        desk = ClientDesk(client, common.user_name, common.environment)
        if accepted is not None:
            _report(common, desk.answer(accepted, is_accepted=True))
        elif rejected is not None:
            _report(common, desk.answer(rejected, is_accepted=False))
        elif edited is not None:
            note_id = text_of(RECORD_ID)(edited[0])
            text = read_text(edited[1], chars_max=fields.MEMORY_CHARS_MAX)
            _report(common, desk.answer(note_id, is_accepted=True, text=text))
        else:
            _go_through(common, client, desk, is_all=is_all)


def _go_through(common: Common, client: Client, desk: ClientDesk, *, is_all: bool) -> None:
    now_ms = common.clock.now_ms()
    admission = common.settings.admission
    items = waiting_in(
        exported_records(client, common.user_name, is_waiting_only=True),
        now_ms=now_ms,
        window_ms=round(admission.promote_window_days * DAY_MS),
        turns_min=1 if is_all else max(1, admission.promote_after - 1),
    )
    if common.as_json:
        write_json(ReviewDocument(waiting=items))
        return
    if not items:
        click.echo("Nothing waits for your word.")
        return
    from recalld.daemon.cli.commands.review_view import ConsoleScreen  # noqa: PLC0415 - rich is slow to import
    from recalld.daemon.cli.consoles import table_console  # noqa: PLC0415 - as above

    keys = TerminalKeys() if sys.stdin.isatty() else LineKeys()
    _say(review(items, desk, keys, ConsoleScreen(table_console(), now_ms=now_ms)))


def _report(common: Common, answered: Answered) -> None:
    if common.as_json:
        write_json(answered.reply)
    else:
        click.echo(answered.text)
        if answered.reply.decision_id:
            click.echo(f"  `recalld explain {answered.reply.decision_id}` shows the decision.")


def _say(done: Reviewed) -> None:
    left = f", {done.left} not looked at" if done.left else ""
    click.echo(
        f"{done.accepted} accepted, {done.rejected} turned down, {done.skipped} skipped{left}."
        if done.accepted + done.rejected + done.skipped
        else f"Nothing decided; {counted(done.left, 'fact')} still waiting."
    )
