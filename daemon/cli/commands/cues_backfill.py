"""`recalld cues backfill`: a few memories at a time, so that somebody who watches sees it go on."""

from __future__ import annotations

import collections
import sys
from typing import Final

import click
import msgspec

from recalld.daemon.cli.common import Common
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.words import (
    BACKFILL_ENDS,
    BACKFILL_FAILURES,
    CUE_REPLY_FAULTS,
    counted,
    counted_memories,
    in_words,
)
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.cues import BackfillEnd
from recalld.protocol import requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.replies import Backfilled

STEP: Final = 4
"""Memories a request."""
STEP_TIMEOUT_S: Final = 150.0
"""Longest wait for one reply: the daemon ends a request after about a minute by itself."""


class BackfillDocument(msgspec.Struct, kw_only=True):
    """All that a run did, as `--json` prints it; `reason` is that of the last reply."""

    asked: int = 0
    updated: int = 0
    refused: int = 0
    failed: int = 0
    remaining: int = 0
    reason: str = ""
    refusals: collections.Counter[str] = msgspec.field(default_factory=collections.Counter)
    failures: collections.Counter[str] = msgspec.field(default_factory=collections.Counter)

    def add(self, reply: Backfilled) -> None:
        """Add what one request did."""
        self.asked += reply.asked
        self.updated += reply.updated
        self.refused += reply.refused
        self.failed += reply.failed
        self.remaining, self.reason = reply.remaining, reply.reason
        self.refusals.update(reply.refusals)
        self.failures.update(reply.failures)


def run_backfill(common: Common, *, limit: int | None, is_dry_run: bool) -> int:
    """Backfill and say what came of it; returns the exit code."""
    done = BackfillDocument()
    with common.client(timeout_s=STEP_TIMEOUT_S) as client:
        if is_dry_run:
            done.add(client.backfill(requests.Backfill(user=common.user_name, dry_run=True)))
        else:
            _run(client, common.user_name, limit, done)
    if common.as_json:
        write_json(done)
    else:
        _say(done, is_dry_run=is_dry_run)
    return _exit_code(done)


def _run(client: Client, user: str, limit: int | None, done: BackfillDocument) -> None:
    """Ask for a few memories again and again, until the limit, the end, or a reason to stop."""
    is_watched = sys.stderr.isatty()
    cursor: str | None = None
    while limit is None or done.asked < limit:
        step = STEP if limit is None else min(STEP, limit - done.asked)
        reply = client.backfill(requests.Backfill(user=user, limit=step, cursor=cursor))
        done.add(reply)
        if is_watched:
            click.echo(
                f"\r{done.asked} asked about, {done.updated} done, {done.remaining} without questions ",
                err=True,
                nl=False,
            )
        cursor = reply.cursor
        is_going_on = reply.reason in {BackfillEnd.LIMIT, BackfillEnd.TIME} and reply.asked > 0
        if not is_going_on:
            break
    if is_watched:
        click.echo(err=True)


def _say(done: BackfillDocument, *, is_dry_run: bool) -> None:
    without = f"{counted_memories(done.remaining)} without questions"
    if is_dry_run:
        click.echo(f"{without}.")
    else:
        click.echo(f"Asked about {counted_memories(done.asked)}: {done.updated} now with questions; {without} left.")
    for reason, count in done.refusals.most_common():
        click.echo(f"  {counted(count, 'answer')} not used: {in_words(reason, CUE_REPLY_FAULTS)}")
    for reason, count in done.failures.most_common():
        click.echo(f"  {count} without an answer: {in_words(reason, BACKFILL_FAILURES)}")
    if done.reason in {BackfillEnd.NO_RUNTIME, BackfillEnd.FAILING, BackfillEnd.TIME}:
        click.echo(in_words(done.reason, BACKFILL_ENDS), err=True)


def _exit_code(done: BackfillDocument) -> ExitCode:
    if done.reason == BackfillEnd.NO_RUNTIME and done.remaining:
        return ExitCode.UNAVAILABLE
    if done.reason in {BackfillEnd.FAILING, BackfillEnd.TIME}:
        return ExitCode.TEMPORARY
    return ExitCode.FAILURE if done.refused or done.failed else ExitCode.OK
