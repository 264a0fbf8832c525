"""`recalld purge-user`: nothing of a user is left."""

from __future__ import annotations

import click

from recalld.daemon.cli.common import Common, client_options
from recalld.daemon.cli.errors import CommandError
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import USER, text_of
from recalld.daemon.cli.words import counted, counted_memories
from recalld.daemon.exit_codes import ExitCode
from recalld.protocol import requests
from recalld.protocol.replies import Purged


@click.command("purge-user")
@click.argument("user", metavar="USER", type=text_of(USER))
@click.option("--yes", is_flag=True, help="Do not ask for the name again.")
@client_options
@click.pass_obj
def command(common: Common, *, user: str, yes: bool) -> None:
    """Leave nothing of USER behind: no memory, no observation, no proposal, no tombstone and no ledger row.

    It cannot be undone; `recalld export` first keeps a copy. On a terminal you type the name once more.
    """
    if not yes:
        _ask(common, user)
    with common.client(timeout_s=120.0) as client:
        purged = client.purge_user(requests.PurgeUser(user=user))
    if common.as_json:
        write_json(purged)
    else:
        _say(purged, user)


def _ask(common: Common, user: str) -> None:
    """Have the name typed. Raises `CommandError` where nobody can, or where it is another name."""
    if not common.is_interactive:
        code, message = "confirmation_needed", "purging a user without a terminal needs --yes"
        raise CommandError(code, message, ExitCode.USAGE)
    with common.client() as client:
        listed = client.list_memories(requests.ListMemories(user=user, limit=1))
    click.echo(f"{counted_memories(listed.total)} and everything else of {printable(user)} will be gone for good.")
    typed: str = click.prompt("Type the user's name to go on", type=str)
    if typed != user:
        code, message = "not_confirmed", "that is another name; nothing was purged"
        raise CommandError(code, message, ExitCode.FAILURE)


def _say(purged: Purged, user: str) -> None:
    name = printable(user)
    if not (purged.memories or purged.observations or purged.proposals):
        click.echo(f"No memories of {name}; nothing is left of the user.")
    else:
        what = (
            f"{counted_memories(purged.memories)}, {counted(purged.observations, 'observation')} and "
            f"{counted(purged.proposals, 'proposal')}"
        )
        click.echo(f"Purged: {what}. Nothing is left of {name}.")
    if purged.is_erasure_pending:
        click.echo(
            "  Nothing finds it any more, but its bytes still lie in the write-ahead log, because a program reads the"
            " database; the daemon removes them within seconds of the reading's end."
        )
