"""`recalld outcome`: what became of what was shown."""

from __future__ import annotations

from typing import get_args

import click

from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.parameters import RECORD_ID, text_of
from recalld.daemon.cli.words import OUTCOME_RESULTS, in_words
from recalld.protocol import fields, requests


@click.command("outcome")
@click.argument("decision_id", metavar="ID", type=text_of(RECORD_ID))
@click.option(
    "--result",
    type=click.Choice(get_args(fields.OutcomeName)),
    required=True,
    help="used: the answer rested on it. ignored: no difference. harmful: it led astray. missed: wanted, not shown.",
)
@click.option("--item", type=text_of(RECORD_ID), help="The memory that is meant. Default: the decision as a whole.")
@user_options
@click.pass_obj
def command(common: Common, *, decision_id: str, result: fields.OutcomeName, item: str | None) -> None:
    """Report what became of what the decision ID showed.

    ID is that of a recall (rec_…) or of a standing block (std_…). Reports are counted, and decide what stays in the
    standing block; they never change what a recall finds.
    """
    request = requests.Outcome(user=common.user_name, decision_id=decision_id, item_id=item, result=result)
    with common.client() as client:
        done = client.outcome(request)
    if common.as_json:
        write_json(done)
        return
    click.echo(f"Noted: {in_words(result, OUTCOME_RESULTS)}.")
    click.echo(f"  `recalld explain {decision_id}` shows what was reported on it.")
