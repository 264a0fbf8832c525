"""`recalld observe`: hand over a turn as it was said, and see what it leads to."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from recalld.daemon.cli.common import Common, session_options
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.local_zone import known_zone
from recalld.daemon.cli.memory_texts import texts_of
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import SCOPE, SESSION, path, text_of
from recalld.daemon.cli.text_input import read_text
from recalld.daemon.cli.usage_line import eviction_lines, named, usage_line
from recalld.daemon.cli.words import ADMISSION_REASONS, FACT_OUTCOMES, GENERATORS, counted, in_words
from recalld.models.domain.admission_store import FactOutcome
from recalld.protocol import fields, items, requests
from recalld.protocol.replies import Admitted

TEXT_CHARS_MAX: Final = 100
CANDIDATES_BYTES_MAX: Final = 1_000_000


@click.command("observe")
@click.argument("text")
@click.option("--speaker", type=text_of(SESSION), default="user", show_default=True, help="Who said it.")
@click.option("--turn", "turn_id", type=text_of(SESSION), help="Name of the turn. Default: a new one each time.")
@click.option(
    "--scope", type=text_of(SCOPE), default="", help="Project or context it was said in. Default: everywhere."
)
@click.option(
    "--candidates",
    "candidates_path",
    type=path,
    help="JSON file with a list of facts that a model found in it: statement, quote, kind, cues, asks and so on.",
)
@session_options
@click.pass_obj
def command(
    common: Common,
    *,
    text: str,
    speaker: str,
    turn_id: str | None,
    scope: str,
    candidates_path: Path | None,
) -> None:
    """Hand over TEXT (`-`: standard input) as a turn that was said, and print what it leads to.

    The daemon decides as it does for a runtime. A turn with the same --session and --turn as before gets the same
    answer, and changes nothing.
    """
    request = requests.Observe(
        user=common.user_name,
        session=common.session_name,
        turn_id=turn_id or f"cli-{secrets.token_hex(6)}",
        speaker=speaker,
        text=read_text(text, chars_max=fields.TURN_CHARS_MAX),
        time_zone=known_zone(common.environment),
        scope=scope,
        candidates=() if candidates_path is None else read_candidates(candidates_path),
    )
    with common.client() as client:
        admitted = client.observe(request)
        texts = {} if common.as_json else texts_of(client, common.user_name, _mentioned(admitted))
    if common.as_json:
        write_json(admitted)
        return
    for line in admitted_lines(admitted, texts):
        click.echo(line)
    click.echo(f"`recalld explain {admitted.decision_id}` shows the decision.")


def read_candidates(file: Path) -> tuple[items.OfferedFact, ...]:
    """The facts in a file.

    Raises:
        CommandError: It is no list of facts; the message names the field at fault.
    """
    with file.open("rb") as opened:
        content = opened.read(CANDIDATES_BYTES_MAX + 1)
    if len(content) > CANDIDATES_BYTES_MAX:
        message = f"--candidates: {file} is larger than {CANDIDATES_BYTES_MAX} bytes; leave the weakest out"
        raise usage_error(message)
    try:
        offered = msgspec.json.decode(content, type=tuple[items.OfferedFact, ...])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f'--candidates: {file} is no list of facts ({error}); write [{{"statement": …, "quote": …}}]'
        raise usage_error(message) from error
    if len(offered) > fields.OFFERED_MAX:
        message = f"--candidates: {file} has {len(offered)} facts; leave all but {fields.OFFERED_MAX} out"
        raise usage_error(message)
    return offered


def admitted_lines(admitted: Admitted, texts: Mapping[str, str]) -> Iterator[str]:
    """What a turn led to, in lines that are safe on a terminal.

    Args:
        admitted: The daemon's answer.
        texts: What is known of the memories that it names by their ids.
    """
    yield from _section("Kept", admitted.kept, texts)
    yield from _section("Noted until more turns say the same", admitted.observed, texts)
    yield from _section("Waiting for your yes", admitted.proposals, texts)
    yield from _section("Dropped", admitted.dropped, texts)


def _mentioned(admitted: Admitted) -> tuple[str, ...]:
    """Ids of memories that the answer names and does not hold, each once."""
    verdicts = (*admitted.kept, *admitted.observed, *admitted.proposals, *admitted.dropped)
    evictions = (each for verdict in verdicts if verdict.usage is not None for each in verdict.usage.evictions)
    superseded = (each for verdict in verdicts for each in verdict.superseded)
    return tuple(dict.fromkeys((*superseded, *evictions)))


def _section(title: str, verdicts: Sequence[items.Verdict], texts: Mapping[str, str]) -> Iterator[str]:
    if not verdicts:
        return
    yield f"{title}:"
    for verdict in verdicts:
        yield f"  {_what(verdict)}"
        yield from (f"    {line}" for line in _why(verdict, texts))


def _what(verdict: items.Verdict) -> str:
    """The text and the id of what there is of it; otherwise what found it."""
    if verdict.memory is not None:
        return f"{printable(verdict.memory.text, chars_max=TEXT_CHARS_MAX)}  {verdict.memory.id}"
    if verdict.observation is not None:
        turns = counted(verdict.observation.turns, "turn")
        return f"{printable(verdict.observation.text, chars_max=TEXT_CHARS_MAX)}  {verdict.observation.id}, {turns}"
    if verdict.proposal is not None:
        return f"{printable(verdict.proposal.text, chars_max=TEXT_CHARS_MAX)}  {verdict.proposal.id}"
    return f"found by {_finder(verdict)}" if verdict.generator else "the turn as a whole"


def _why(verdict: items.Verdict, texts: Mapping[str, str]) -> Iterator[str]:
    is_unmet = verdict.outcome == FactOutcome.CLOSED and not verdict.superseded
    told = "there was nothing stored to end" if is_unmet else in_words(verdict.outcome, FACT_OUTCOMES)
    outcome = f"{told}: " if verdict.outcome else ""
    by = f", by the rule {printable(verdict.decided_by)}" if verdict.decided_by else ""
    yield f"{outcome}{in_words(verdict.reason, ADMISSION_REASONS)} ({verdict.reason}){by}"
    has_text = verdict.memory is not None or verdict.observation is not None or verdict.proposal is not None
    if verdict.generator and has_text:
        also = f", and by {printable(', '.join(verdict.evidence))}" if verdict.evidence else ""
        yield f"found by {_finder(verdict)}{also}"
    if verdict.superseded:
        closed = ", ".join(named(memory_id, texts) for memory_id in verdict.superseded)
        yield f"in place of {closed}" if verdict.memory else f"ended {closed}"
    if verdict.usage is not None:
        yield usage_line(verdict.usage)
        yield from eviction_lines(verdict.usage, texts)


def _finder(verdict: items.Verdict) -> str:
    rule = f" ({printable(verdict.rule)})" if verdict.rule else ""
    return f"{in_words(verdict.generator, GENERATORS)}{rule}"
