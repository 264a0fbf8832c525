"""`recalld explain`: why a decision went as it did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import click

from recalld.daemon.cli.commands.explain_view import RecallRecord, read_recall_record, write_recall_record
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.output import moment, printable, write_json
from recalld.daemon.cli.parameters import RECORD_ID, text_of
from recalld.daemon.cli.words import DEGRADED_REASONS, MODES, in_words, reason_in_words
from recalld.models.domain.reasons import Op, RecallDecision
from recalld.protocol import requests
from recalld.protocol.replies import Explanation

_MEMORY_PREFIX: Final = "mem_"


@click.command("explain")
@click.argument("decision_id", metavar="ID", type=text_of(RECORD_ID))
@user_options
@click.pass_obj
def command(common: Common, *, decision_id: str) -> None:
    """Say why a decision went as it did.

    ID is that of a decision, as `recall`, `remember` and `forget` print it last, and as a runtime gets it in recall_id
    or decision_id. `recalld get` shows a memory.
    """
    if decision_id.startswith(_MEMORY_PREFIX):
        message = (
            f"ID: {decision_id} is a memory; give the id of a decision (rec_…, adm_…, fgt_…), as recall, remember and "
            f"forget print it. `recalld get {decision_id}` shows the memory"
        )
        raise usage_error(message)
    with common.client() as client:
        explanation = client.explain(requests.Explain(user=common.user_name, decision_id=decision_id))
        if common.as_json:
            write_json(explanation)
            return
        record = read_recall_record(explanation.body) if explanation.op == Op.RECALL else None
        texts = texts_of(client, common.user_name, record.memory_ids) if record is not None else {}
    _show(explanation, record, texts)


def _show(explanation: Explanation, record: RecallRecord | None, texts: Mapping[str, str]) -> None:
    session = f", session {printable(explanation.session)}" if explanation.session else ""
    click.echo(f"{explanation.op} {explanation.decision_id}, {moment(explanation.at_ms)}{session}")
    click.echo(f"decision: {explanation.decision} ({explanation.reason})")
    click.echo(f"  {reason_in_words(explanation.reason)}")
    is_skipped = explanation.decision == RecallDecision.SKIP  # then no mode was ever reached, whatever the row says
    if explanation.mode and not is_skipped:
        click.echo(f"mode: {explanation.mode}, {in_words(explanation.mode, MODES)}")
    if explanation.degraded_reason:
        click.echo(
            f"degraded: {explanation.degraded_reason}, {in_words(explanation.degraded_reason, DEGRADED_REASONS)}"
        )
    if record is None:
        for line in _body_lines(explanation.body):
            click.echo(line)
    elif not is_skipped:
        write_recall_record(record, texts)


def _body_lines(body: str) -> list[str]:
    """The details, indented; as they came when a newer daemon wrote something else than JSON."""
    try:
        details = json.loads(body)
    except ValueError:
        return [printable(body)]
    if details == {}:
        return []
    pretty = json.dumps(details, indent=2, ensure_ascii=False)
    # Line by line, so that the indentation stays while control characters in a value cannot reach the terminal.
    return [" " * (len(line) - len(line.lstrip(" "))) + printable(line) for line in pretty.splitlines()]
