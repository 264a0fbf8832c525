"""`recalld audit`: judge sampled decisions, or go through the newest memories."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import click
import msgspec

from recalld.daemon.cli.commands.audit_loop import Audited, audit
from recalld.daemon.cli.commands.audit_marks import mark_all
from recalld.daemon.cli.commands.audit_samples import ALL_KINDS, WHAT, ClientMarkDesk, SampleDocument, find_samples
from recalld.daemon.cli.commands.plotting import checked_plot
from recalld.daemon.cli.commands.review_items import DAY_MS
from recalld.daemon.cli.commands.review_loop import LineKeys, TerminalKeys
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import RECORD_ID, TextRule, path, text_of, whole
from recalld.daemon.cli.words import counted, counted_memories
from recalld.daemon.evaluation.audit_plot import draw_audit
from recalld.models.policy.position import AUDIT_DAYS_MAX
from recalld.protocol import fields, requests
from recalld.protocol.audit_items import AuditSection
from recalld.protocol.client.blocking import Client
from recalld.protocol.items import MemoryItem

DAYS_MAX: Final = 3_650
LIMIT: Final = 50
SAMPLES_LIMIT: Final = 20
"""A session that is worth a few minutes a week."""
RECORDS: Final = "records"
MARKED_BY: Final = TextRule(chars_max=fields.MARKED_BY_CHARS_MAX, remedy="give a name")
ANSWERS: Final[dict[str, fields.SampleAnswerName | None]] = {"yes": "yes", "no": "no", "unsure": "unsure", "none": None}


class AuditDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be looked at, as `--json` prints it.

    Attributes:
        memories: The newest, newest first.
        older: How many more of these days there are, over the limit.
    """

    memories: tuple[MemoryItem, ...]
    older: int


@click.command("audit")
@click.option("--drops", "what", flag_value="drops", help="Memories that the relevance gate held back.")
@click.option("--skips", "what", flag_value="skips", help="Turns that were, or were not, searched for.")
@click.option("--injections", "what", flag_value="injections", help="Memories that were recalled.")
@click.option("--unstored", "what", flag_value="unstored", help="Turns of which nothing was kept.")
@click.option("--records", "what", flag_value=RECORDS, help="Go through memories: keep, edit or forget each.")
@click.option("--marked", "is_marked", is_flag=True, help="What was marked already, to think again.")
@click.option(
    "--mark",
    "mark",
    metavar="ID ANSWER",
    nargs=2,
    type=str,
    help="Mark one sample: yes, no or unsure; none takes the mark back.",
)
@click.option("--by", metavar="NAME", type=text_of(MARKED_BY), help="Who marks.  [default: your login name]")
@click.option(
    "--days",
    type=whole(1, DAYS_MAX),
    default=AUDIT_DAYS_MAX,
    show_default=True,
    help="Of so many days.",
)
@click.option(
    "--limit",
    type=whole(1, fields.LIST_LIMIT_MAX),
    help=f"At most so many of them.  [default: {SAMPLES_LIMIT}; with --records {LIMIT}]",
)
@click.option("--plot", "plot_path", type=path, help="Draw what the marks say of the gates into FILE.svg or FILE.png.")
@user_options
@click.pass_obj
def command(
    common: Common,
    *,
    plot_path: Path | None,
    what: str | None,
    is_marked: bool,
    mark: tuple[str, str] | None,
    by: str | None,
    days: int,
    limit: int | None,
) -> None:
    """Judge decisions that were kept by chance, the newest of each kind in turn; nothing is asked twice.

    On a terminal a key decides: y yes, n no, u unsure, s skip, b back, q quit; elsewhere a line of standard input with
    such a letter or its word. `recalld stats` says what the marks make of the gates. --json lists the samples and
    decides nothing; --mark takes one mark, from a person or a program.

    With --records the newest memories are gone through instead: k keeps, e edits, f forgets, q quits. Who has decided
    about all of them has audited the memories, and the daemon notes when: admission.position "open" rests on it.
    """
    if plot_path is not None:
        checked_plot(plot_path)
    by = by or common.environment.login
    since_ms = common.clock.now_ms() - days * DAY_MS
    if (mark is not None) + is_marked + (what == RECORDS) > 1:
        message = "--mark, --marked and --records: give one of them at a time"
        raise usage_error(message)
    with common.client(timeout_s=60.0) as client:
        if mark is not None:
            _mark_one(common, client, mark, by)
        elif what == RECORDS:
            _audit_records(common, client, by, since_ms=since_ms, days=days, limit=limit or LIMIT)
        else:
            kinds = ALL_KINDS if what is None else WHAT[what]
            found = find_samples(
                client,
                common.user_name,
                kinds,
                is_marked=is_marked,
                since_ms=since_ms,
                limit=limit or SAMPLES_LIMIT,
            )
            _audit_samples(common, client, by, found, days=days)
        if plot_path is not None:
            report = client.stats(requests.Stats(user=common.user_name, days=min(days, fields.DAYS_MAX)))
            draw_audit(report.audit or AuditSection(), plot_path)


def _mark_one(common: Common, client: Client, mark: tuple[str, str], by: str) -> None:
    sample_id, answer = text_of(RECORD_ID)(mark[0]), mark[1]
    if answer not in ANSWERS:
        message = f"--mark: {answer!r} is no answer; give one of {', '.join(ANSWERS)}"
        raise usage_error(message)
    reply = client.mark_sample(
        requests.MarkSample(user=common.user_name, sample_id=sample_id, answer=ANSWERS[answer], by=by)
    )
    if common.as_json:
        write_json(reply)
    else:
        click.echo("Noted." if ANSWERS[answer] else "The mark is taken back.")


def _audit_samples(common: Common, client: Client, by: str, found: SampleDocument, *, days: int) -> None:
    if common.as_json:
        write_json(found)
        return
    if not found.samples:
        click.echo(f"Nothing to judge is of the last {counted(days, 'day')}; `[audit] sample_rate` keeps more.")
        return
    from recalld.daemon.cli.commands.audit_screen import ConsoleMarkScreen  # noqa: PLC0415 - rich is slow to import
    from recalld.daemon.cli.consoles import table_console  # noqa: PLC0415 - as above

    keys = TerminalKeys() if sys.stdin.isatty() else LineKeys()
    desk = ClientMarkDesk(client, common.user_name, by)
    done = mark_all(found.samples, desk, keys, ConsoleMarkScreen(table_console()))
    yes, no, unsure = (done.count(answer) for answer in ("yes", "no", "unsure"))
    click.echo(f"{yes} yes, {no} no, {unsure} unsure; {done.left} not marked.")
    if done.left + found.left:
        click.echo(f"{counted(done.left + found.left, 'sample')} left; run it again to go on.")


def _audit_records(common: Common, client: Client, by: str, *, since_ms: int, days: int, limit: int) -> None:
    found = newest(client, common.user_name, since_ms=since_ms, limit=limit)
    if common.as_json:
        write_json(found)
        return
    done = _go_through(common, client, found, by)
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


def _go_through(common: Common, client: Client, found: AuditDocument, by: str) -> Audited:
    if not found.memories:
        return Audited()
    from recalld.daemon.cli.commands.audit_desk import (  # noqa: PLC0415 - rich is slow to import
        ClientAuditDesk,
        ConsoleAuditScreen,
    )
    from recalld.daemon.cli.consoles import table_console  # noqa: PLC0415 - as above

    keys = TerminalKeys() if sys.stdin.isatty() else LineKeys()
    asked = requests.ListSamples(user=common.user_name, kinds=("record",), limit=fields.LIST_LIMIT_MAX)
    samples = {sample.memory_id: sample.id for sample in client.samples(asked).samples}
    desk = ClientAuditDesk(client, common.user_name, common.environment, samples=samples, by=by)
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
