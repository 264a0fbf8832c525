"""`recalld why`: everything behind one memory, in the order in which it happened."""

from __future__ import annotations

import click

from recalld.daemon.cli.commands.why_view import why_lines
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import CommandError
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import RECORD_ID, text_of
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.errors import ErrorCode
from recalld.protocol import requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.replies import Lineage


@click.command("why")
@click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def command(common: Common, *, memory_id: str) -> None:
    """Show why the memory ID is there: turns, rules and models, proposals, promotions, and what replaced what.

    Exit code 1 when the user has no such memory, or has forgotten it.
    """
    with common.client() as client:
        found = _lineage(client, common.user_name, memory_id)
    if common.as_json:
        write_json(found)
        return
    for line in why_lines(found):
        click.echo(line)


def _lineage(client: Client, user: str, memory_id: str) -> Lineage:
    try:
        return client.lineage(requests.GetLineage(user=user, memory_id=memory_id))
    except ClientError as error:
        if error.code != ErrorCode.NOT_FOUND:
            raise
        raise _not_there(client, user, memory_id) from error


def _not_there(client: Client, user: str, memory_id: str) -> CommandError:
    """Why there is nothing to tell: a hard dry run still sees the trace of what was forgotten."""
    trace = client.forget(requests.Forget(user=user, ids=(memory_id,), hard=True, dry_run=True))
    name, whose = printable(memory_id), printable(user)
    if trace.count:
        message = (
            f"{name} was forgotten; only that it was there is still known (`recalld forget --hard` ends that, too)"
        )
        return CommandError("forgotten", message, ExitCode.FAILURE)
    message = f"{whose} has no memory {name}; see `recalld list`, or name its user with --user"
    return CommandError(ErrorCode.NOT_FOUND.value, message, ExitCode.FAILURE)
