"""`recalld get`: one memory in full."""

from __future__ import annotations

import datetime as dt

import click

from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.local_zone import local_tzinfo
from recalld.daemon.cli.outcome_lines import memory_lines, report_on
from recalld.daemon.cli.output import expiry, moment, printable, write_json
from recalld.daemon.cli.parameters import RECORD_ID, text_of
from recalld.protocol.items import MemoryItem
from recalld.protocol.requests import Get, Outcomes


@click.command("get")
@click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def command(common: Common, *, memory_id: str) -> None:
    """Show the memory ID in full: text, headings, questions, scope and times. Exit code 1 when there is none."""
    with common.client() as client:
        reply = client.get(Get(user=common.user_name, memory_id=memory_id))
        report = None if common.as_json else report_on(client, Outcomes(user=common.user_name, memory_id=memory_id))
    if common.as_json:
        write_json(reply)
        return
    for line in (*_lines(reply.memory, local_tzinfo(common.environment)), *memory_lines(report)):
        click.echo(line)


def _lines(memory: MemoryItem, zone: dt.tzinfo) -> list[str]:
    lines = [
        printable(memory.text),
        f"  id       {memory.id}, of {printable(memory.user)}",
        f"  kind     {memory.kind}",
        f"  scope    {printable(memory.scope) or 'everywhere'}",
    ]
    lines += [f"  cue      {printable(cue)}" for cue in memory.cues]
    lines += [f"  ask      {printable(ask)}" for ask in memory.asks]
    lines += [
        f"  source   {memory.source}, {memory.status}, revision {memory.revision}",
        f"  stored   {moment(memory.created_at_ms)}",
    ]
    if memory.updated_at_ms != memory.created_at_ms:
        lines.append(f"  changed  {moment(memory.updated_at_ms)}")
    lines.append(f"  expires  {'never' if memory.expires_at_ms is None else expiry(memory.expires_at_ms, zone)}")
    return lines
