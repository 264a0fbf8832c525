"""`recalld standing`: what a session is given unasked, why, and what a person decides about it."""

from __future__ import annotations

import click

from recalld.daemon.cli.common import Common, session_options, user_options
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import RECORD_ID, SCOPE, text_of, whole
from recalld.daemon.cli.words import STANDING_CHOICES, in_words
from recalld.protocol import fields, requests
from recalld.protocol.replies import StandingSet


@click.group("standing", invoke_without_command=True)
@click.option("--scope", type=text_of(SCOPE), default="", help="Of this scope too. Default: what holds everywhere.")
@click.option(
    "--max-chars", type=whole(1, fields.STANDING_CHARS_MAX), help="Characters of the block. Default: the daemon's."
)
@click.option("--again", is_flag=True, help="Give it although the session has had it.")
@click.option("--explain", is_flag=True, help="Show how every candidate was judged.")
@session_options
@click.pass_context
def command(ctx: click.Context, *, scope: str, max_chars: int | None, again: bool, explain: bool) -> None:
    """Show the standing block: preferences and conventions that a session is given before anything is asked.

    With --session it is that session's own block, and counts as given to it; without, it is only shown.
    """
    if ctx.invoked_subcommand is not None:
        return
    from recalld.daemon.cli.commands.standing_view import write_block  # noqa: PLC0415 - rich is slow to import

    common = ctx.ensure_object(Common)
    request = requests.Standing(
        user=common.user_name,
        session=common.session_name,
        scope=scope,
        max_chars=max_chars,
        again=again,
        explain=explain,
    )
    with common.client() as client:
        block = client.standing(request)
    if common.as_json:
        write_json(block)
    else:
        write_block(block, is_explained=explain)


@command.command("pin")
@click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def pin(common: Common, *, memory_id: str) -> None:
    """Put the memory ID first in the block, whatever its kind and its outcomes."""
    _decide(common, memory_id, "pin")


@command.command("unpin")
@click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def unpin(common: Common, *, memory_id: str) -> None:
    """Undo the pin of the memory ID: a preference or convention is left to its outcomes, any other stands no more."""
    _decide(common, memory_id, "unpin")


@command.command("demote")
@click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def demote(common: Common, *, memory_id: str) -> None:
    """Take the memory ID out of the block, but for a pointer. It is still recalled when a turn asks for it."""
    _decide(common, memory_id, "demote")


@command.command("restore")
@click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def restore(common: Common, *, memory_id: str) -> None:
    """Forget what was decided about the memory ID, and for the block also what was reported on it.

    A preference or convention stands as on its first day; a memory of another kind no longer stands.
    """
    _decide(common, memory_id, "restore")


def _state(done: StandingSet) -> str:
    """What holds now. An older daemon does not say whether a memory that nobody decided about stands."""
    if done.choice is not None:
        return f"is {in_words(done.choice, STANDING_CHOICES)}"
    if done.is_standing is False:
        return "does not stand: only preferences, conventions and what is pinned do"
    return "is left to its kind and its outcomes: nothing is decided about it"


def _decide(common: Common, memory_id: str, action: fields.StandingActionName) -> None:
    request = requests.SetStanding(user=common.user_name, memory_id=memory_id, action=action)
    with common.client() as client:
        done = client.set_standing(request)
    if common.as_json:
        write_json(done)
        return
    click.echo(f"{'Done' if done.is_changed else 'Nothing to change'}: {printable(memory_id)} {_state(done)}.")
    click.echo(f"  `recalld explain {done.decision_id}` shows the decision.")
