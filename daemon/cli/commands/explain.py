"""`recalld explain`: why a decision went as it did."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import click

from recalld.daemon.cli.commands.explain_bodies import body_lines, named_memories
from recalld.daemon.cli.commands.explain_reasons import write_all_reasons, write_reason
from recalld.daemon.cli.commands.explain_view import (
    RecallRecord,
    read_recall_record,
    shown_ids,
    turn_lines,
    write_recall_record,
)
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.outcome_lines import decision_lines, report_on
from recalld.daemon.cli.output import moment, printable, write_json
from recalld.daemon.cli.parameters import RECORD_ID, text_of
from recalld.daemon.cli.words import DEGRADED_REASONS, MODES, in_words, reason_in_words
from recalld.models.domain.reasons import Op, RecallDecision
from recalld.models.policy.profiles.sentences import DECIDE_SENTENCES
from recalld.protocol import requests
from recalld.protocol.replies import Explanation

_MEMORY_PREFIX: Final = "mem_"


@click.command("explain")
@click.argument("decision_id", metavar="[ID]", required=False, type=text_of(RECORD_ID))
@click.option("--reason", metavar="CODE", help="Say what a reason code means and what to do about it; needs no daemon.")
@click.option("--reasons", "is_listing", is_flag=True, help="List all reason codes; needs no daemon.")
@click.option("--all", "is_all", is_flag=True, help="Of a recall: also each memory that was too far away to be judged.")
@user_options
@click.pass_obj
def command(common: Common, *, decision_id: str | None, reason: str | None, is_listing: bool, is_all: bool) -> None:
    """Say why a decision went as it did, or what a reason code means.

    ID is that of a decision, as `recall`, `remember`, `observe`, `review`, `forget`, `standing` and `decide` print it
    last, and as a runtime gets it in recall_id or decision_id. `recalld get` shows a memory.
    """
    if sum((decision_id is not None, reason is not None, is_listing)) != 1:
        message = "give one of: the ID of a decision, --reason CODE, --reasons"
        raise usage_error(message)
    if reason is not None:
        write_reason(reason, as_json=common.as_json)
    elif decision_id is None:
        write_all_reasons(as_json=common.as_json)
    else:
        _explain(common, decision_id, is_all=is_all)


def _explain(common: Common, decision_id: str, *, is_all: bool) -> None:
    if decision_id.startswith(_MEMORY_PREFIX):
        message = (
            f"ID: {decision_id} is a memory; give the id of a decision (such as rec_…, std_…, adm_…, cfm_…, fgt_…), "
            f"as recall, remember, forget, cues and decide print it. `recalld get {decision_id}` shows the memory"
        )
        raise usage_error(message)
    with common.client() as client:
        explanation = client.explain(requests.Explain(user=common.user_name, decision_id=decision_id))
        if common.as_json:
            write_json(explanation)
            return
        record = read_recall_record(explanation.body) if explanation.op == Op.RECALL else None
        named = named_memories(explanation.op, explanation.body) if record is None else shown_ids(record, is_all=is_all)
        texts = texts_of(client, common.user_name, named) if named else {}
        report = report_on(client, requests.Outcomes(user=common.user_name, decision_id=decision_id))
    _show(explanation, record, texts, is_all=is_all)
    for line in decision_lines(report):
        click.echo(line)


def _show(explanation: Explanation, record: RecallRecord | None, texts: Mapping[str, str], *, is_all: bool) -> None:
    session = f", session {printable(explanation.session)}" if explanation.session else ""
    click.echo(f"{explanation.op} {explanation.decision_id}, {moment(explanation.at_ms)}{session}")
    click.echo(f"decision: {explanation.decision} ({explanation.reason})")
    click.echo(f"  {_meaning(explanation)}")
    is_skipped = explanation.decision == RecallDecision.SKIP  # then no mode was ever reached, whatever the row says
    if explanation.mode and not is_skipped:
        click.echo(f"mode: {explanation.mode}, {in_words(explanation.mode, MODES)}")
    if explanation.degraded_reason:
        click.echo(
            f"degraded: {explanation.degraded_reason}, {in_words(explanation.degraded_reason, DEGRADED_REASONS)}"
        )
    if record is None:
        lines = body_lines(explanation.op, explanation.body, texts)
        for line in _body_lines(explanation.body) if lines is None else lines:
            click.echo(line)
    elif is_skipped:
        for line in turn_lines(record):
            click.echo(line)
    else:
        write_recall_record(record, texts, is_all=is_all)


def _meaning(explanation: Explanation) -> str:
    """The reason in words; the same code means another thing where a gate of `decide` gives it."""
    if explanation.op == Op.DECIDE:
        return in_words(explanation.reason, DECIDE_SENTENCES)
    return reason_in_words(explanation.reason, explanation.op)


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
