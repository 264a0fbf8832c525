"""`recalld audit`: go through the newest memories, which a looser position of the write path rests on."""

from __future__ import annotations

import sys
from typing import Final

import click
import msgspec

from recalld.daemon.cli.commands.audit_loop import Audited, audit
from recalld.daemon.cli.commands.review_items import DAY_MS
from recalld.daemon.cli.commands.review_loop import LineKeys, TerminalKeys
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import whole
from recalld.daemon.cli.words import counted, counted_memories
from recalld.models.policy.position import AUDIT_DAYS_MAX
from recalld.protocol import fields, requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.items import MemoryItem

DAYS_MAX: Final = 3_650
LIMIT: Final = 50


class AuditDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be looked at, as `--json` prints it.

    Attributes:
        memories: The newest, newest first.
        older: How many more of these days there are, over the limit.
    """

    memories: tuple[MemoryItem, ...]
    older: int


@click.command("audit")
@click.option("--records", "is_of_records", is_flag=True, help="Go through memories.")
@click.option(
    "--days",
    type=whole(1, DAYS_MAX),
    default=AUDIT_DAYS_MAX,
    show_default=True,
    help="Memories stored in so many days.",
)
@click.option(
    "--limit", type=whole(1, fields.LIST_LIMIT_MAX), default=LIMIT, show_default=True, help="At most so many of them."
)
@user_options
@click.pass_obj
def command(common: Common, *, is_of_records: bool, days: int, limit: int) -> None:
    """Go through the newest memories: each is kept, edited or forgotten.

    On a terminal a key decides: k keeps, e edits, f forgets, q quits; elsewhere the first letter of each line of
    standard input. Who has decided about all of them has audited the memories, and the daemon notes when:
    admission.position "open" rests on it. --json lists them, and neither decides nor notes anything.
    """
    if not is_of_records:
        message = "say what to audit: --records"
        raise usage_error(message)
    with common.client(timeout_s=60.0) as client:
        found = newest(client, common.user_name, since_ms=common.clock.now_ms() - days * DAY_MS, limit=limit)
        if common.as_json:
            write_json(found)
            return
        done = _go_through(common, client, found)
        if done.is_whole:
            client.note_audit(requests.NoteAudit(user=common.user_name))
    for line in _lines(done, found, days=days):
        click.echo(line)


def newest(client: Client, user: str, *, since_ms: int, limit: int) -> AuditDocument:
    """The newest live memories, page by page.

    Args:
        client: Connected to the daemon.
        user: Whose.
        since_ms: Those stored since then, Unix epoch milliseconds.
        limit: At most so many; the others are counted.
    """
    found: list[MemoryItem] = []
    older = 0
    cursor: str | None = None
    while True:
        page = client.list_memories(requests.ListMemories(user=user, limit=fields.LIST_LIMIT_MAX, cursor=cursor))
        recent = [memory for memory in page.memories if memory.created_at_ms >= since_ms]
        taken = recent[: limit - len(found)]
        found += taken
        older += len(recent) - len(taken)
        cursor = page.cursor
        if cursor is None or len(recent) < len(page.memories):
            return AuditDocument(memories=tuple(found), older=older)


def _go_through(common: Common, client: Client, found: AuditDocument) -> Audited:
    if not found.memories:
        return Audited()
    from recalld.daemon.cli.commands.audit_desk import (  # noqa: PLC0415 - rich is slow to import
        ClientAuditDesk,
        ConsoleAuditScreen,
    )
    from recalld.daemon.cli.consoles import table_console  # noqa: PLC0415 - as above

    keys = TerminalKeys() if sys.stdin.isatty() else LineKeys()
    desk = ClientAuditDesk(client, common.user_name, common.environment)
    return audit(found.memories, desk, keys, ConsoleAuditScreen(table_console(), client, common.user_name))


def _lines(done: Audited, found: AuditDocument, *, days: int) -> list[str]:
    lines = [f"{done.kept} kept, {done.edited} edited, {done.forgotten} forgotten."]
    if not found.memories:
        lines = [f"No memory is of the last {counted(days, 'day')}."]
    if not done.is_whole:
        return [*lines, f"{counted_memories(done.left)} not looked at, so no audit is noted; run it again to go on."]
    if found.older:
        lines.append(f"{counted_memories(found.older)} more of these days; --limit shows them.")
    return [*lines, f"Noted as audited; it counts for {AUDIT_DAYS_MAX} days."]
