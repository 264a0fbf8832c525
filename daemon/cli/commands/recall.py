"""`recalld recall`: what would go into the prompt for this turn, and why not more."""

from __future__ import annotations

import click

from recalld.daemon.cli.commands.recall_view import ids_to_name, write_recalled
from recalld.daemon.cli.common import Common, session_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.local_zone import known_zone
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import SCOPE, text_of, whole
from recalld.daemon.cli.text_input import read_text
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.reasons import RecallDecision
from recalld.protocol import fields, requests


@click.command("recall")
@click.argument("text")
@click.option("--explain", is_flag=True, help="Show the candidates with their scores, also the dropped ones.")
@click.option("--all", "is_all", is_flag=True, help="With --explain: also each one that was too far away to be judged.")
@click.option(
    "--search", is_flag=True, help="Search on purpose: what is less relevant comes last instead of not at all."
)
@click.option("--scope", type=text_of(SCOPE), help="Only this scope and the global one. Default: all scopes.")
@click.option("--budget-ms", type=whole(1, fields.BUDGET_MS_MAX), help="Milliseconds allowed. Default: the daemon's.")
@click.option("--max-items", type=whole(1, fields.RECALL_ITEMS_MAX), help="Memories at most. Default: the daemon's.")
@click.option(
    "--only-then", is_flag=True, help='With a time in TEXT ("yesterday"): search only memories from then. Local time.'
)
@session_options
@click.pass_obj
def command(
    common: Common,
    *,
    text: str,
    explain: bool,
    is_all: bool,
    search: bool,
    scope: str | None,
    budget_ms: int | None,
    max_items: int | None,
    only_then: bool,
) -> int:
    """Ask which memories help with TEXT (`-`: standard input), as a runtime would at the start of a turn.

    The honest answer is often none; then the reason is given. Exit code 75 means that something broke.
    """
    if is_all and not explain:
        message = "--all: shows more of --explain; give that too"
        raise usage_error(message)
    request = requests.Recall(
        user=common.user_name,
        session=common.session_name,
        text=read_text(text, chars_max=fields.TURN_CHARS_MAX),
        scope=scope,
        budget_ms=budget_ms,
        max_items=max_items,
        mode="search" if search else "auto",
        explain=explain,
        time_zone=known_zone(common.environment),
        time="filter" if only_then else "boost",
    )
    with common.client() as client:
        recalled = client.recall(request)
        unnamed = ids_to_name(recalled, is_all=is_all) if explain and not common.as_json else []
        texts = texts_of(client, common.user_name, unnamed)
    if common.as_json:
        write_json(recalled)
    else:
        write_recalled(
            recalled,
            is_explained=explain,
            is_all=is_all,
            is_only_then=only_then,
            user=common.user_name,
            texts=texts,
        )
    return ExitCode.TEMPORARY if recalled.decision == RecallDecision.ERROR else ExitCode.OK
