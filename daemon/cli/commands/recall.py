"""`recalld recall`: what would go into the prompt for this turn, and why not more."""

from __future__ import annotations

import click

from recalld.daemon.cli.commands.recall_view import write_recalled
from recalld.daemon.cli.common import Common, session_options
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import SCOPE, text_of, whole
from recalld.daemon.cli.text_input import read_text
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.reasons import RecallDecision
from recalld.protocol import fields, requests


@click.command("recall")
@click.argument("text")
@click.option("--explain", is_flag=True, help="Show all candidates with their scores, also the dropped ones.")
@click.option(
    "--search", is_flag=True, help="Search on purpose: what is less relevant comes last instead of not at all."
)
@click.option("--scope", type=text_of(SCOPE), help="Only this scope and the global one. Default: all scopes.")
@click.option("--budget-ms", type=whole(1, fields.BUDGET_MS_MAX), help="Milliseconds allowed. Default: the daemon's.")
@click.option("--max-items", type=whole(1, fields.RECALL_ITEMS_MAX), help="Memories at most. Default: the daemon's.")
@session_options
@click.pass_obj
def command(
    common: Common,
    *,
    text: str,
    explain: bool,
    search: bool,
    scope: str | None,
    budget_ms: int | None,
    max_items: int | None,
) -> int:
    """Ask which memories help with TEXT (`-`: standard input), as a runtime would at the start of a turn.

    The honest answer is often none; then the reason is given. Exit code 75 means that something broke.
    """
    request = requests.Recall(
        user=common.user_name,
        session=common.session_name,
        text=read_text(text, chars_max=fields.TURN_CHARS_MAX),
        scope=scope,
        budget_ms=budget_ms,
        max_items=max_items,
        mode="search" if search else "auto",
        explain=explain,
    )
    with common.client() as client:
        recalled = client.recall(request)
        dropped = [item.id for item in recalled.dropped] if not common.as_json else []
        texts = texts_of(client, common.user_name, dropped)
    if common.as_json:
        write_json(recalled)
    else:
        write_recalled(recalled, is_explained=explain, texts=texts)
    return ExitCode.TEMPORARY if recalled.decision == RecallDecision.ERROR else ExitCode.OK
