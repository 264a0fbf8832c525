"""`recalld cues`: the headings and questions by which memories are found, by hand or by a lent model."""

from __future__ import annotations

from typing import Final

import click

from recalld.daemon.cli.commands.cues_backfill import run_backfill
from recalld.daemon.cli.commands.cues_undo import undo_backfill
from recalld.daemon.cli.common import Common, user_options
from recalld.daemon.cli.cue_form import FormError, read_form, write_form
from recalld.daemon.cli.editor import edited
from recalld.daemon.cli.errors import usage_error
from recalld.daemon.cli.output import printable, write_json
from recalld.daemon.cli.parameters import ASK, CUE, CURSOR, RECORD_ID, text_of, whole
from recalld.daemon.cli.words import TEXT_ORIGINS
from recalld.models.domain.records import TextOrigin
from recalld.models.policy.text_origins import joined, origin_at
from recalld.protocol import fields, requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.items import MemoryItem
from recalld.protocol.replies import Memory, Updated

_ID: Final = click.argument("memory_id", metavar="ID", type=text_of(RECORD_ID))
_CUES: Final = click.option("--cue", "cues", type=text_of(CUE), multiple=True, help="A heading; may be repeated.")
_ASKS: Final = click.option(
    "--ask", "asks", type=text_of(ASK), multiple=True, help="A question that the memory answers; may be repeated."
)


@click.group("cues")
def command() -> None:
    """Show and change the headings (cues) and questions (asks) by which memories are found.

    A memory with questions is found by whoever asks one like them, also where no word of it is said.
    """


@command.command("list")
@click.option("--missing", is_flag=True, help="Only memories that have no questions.")
@click.option(
    "--limit", type=whole(1, fields.LIST_LIMIT_MAX), default=50, show_default=True, help="Memories on a page."
)
@click.option("--cursor", type=text_of(CURSOR), help="Where to go on, as the page before says.")
@user_options
@click.pass_obj
def list_command(common: Common, *, missing: bool, limit: int, cursor: str | None) -> None:
    """List memories with their headings and questions, newest first, a page at a time."""
    request = requests.ListMemories(user=common.user_name, limit=limit, cursor=cursor, without_asks=missing)
    with common.client() as client:
        page = client.list_memories(request)
    if common.as_json:
        write_json(page)
        return
    if not page.memories:
        click.echo("Every memory has questions." if missing and not page.total else "Nothing stored.")
    for memory in page.memories:
        _write(memory)
    if page.cursor is not None:
        click.echo(f"{len(page.memories)} of {page.total}; go on with --cursor {page.cursor}", err=True)


@command.command("show")
@_ID
@user_options
@click.pass_obj
def show_command(common: Common, *, memory_id: str) -> None:
    """Show the headings and questions of the memory ID. Exit code 1 when there is none."""
    with common.client() as client:
        memory = _read(client, common, memory_id)
    if common.as_json:
        write_json(Memory(memory=memory))
    else:
        _write(memory)


@command.command("add")
@_ID
@_CUES
@_ASKS
@user_options
@click.pass_obj
def add_command(common: Common, *, memory_id: str, cues: tuple[str, ...], asks: tuple[str, ...]) -> None:
    """Give the memory ID more headings and questions, beside those it has.

    Where there are too many, those that were added automatically make room, the last one first.
    """
    _check_given(cues, asks)
    with common.client() as client:
        memory = _read(client, common, memory_id)
        updated = _update(
            client,
            memory,
            joined(memory.cues, _origins(memory.cue_origins), cues, fields.CUES_MAX, by=TextOrigin.GIVEN),
            joined(memory.asks, _origins(memory.ask_origins), asks, fields.ASKS_MAX, by=TextOrigin.GIVEN),
        )
    _say(common, updated)


@command.command("set")
@_ID
@_CUES
@_ASKS
@click.option("--no-cues", is_flag=True, help="Take all headings away.")
@click.option("--no-asks", is_flag=True, help="Take all questions away.")
@user_options
@click.pass_obj
def set_command(
    common: Common, *, memory_id: str, cues: tuple[str, ...], asks: tuple[str, ...], no_cues: bool, no_asks: bool
) -> None:
    """Replace headings, questions or both of the memory ID; what is not given stays as it is."""
    for given, is_removed, name in ((cues, no_cues, "cue"), (asks, no_asks, "ask")):
        if given and is_removed:
            message = f"--{name} and --no-{name}s contradict each other; leave one of them out"
            raise usage_error(message)
    if not (no_cues or no_asks):
        _check_given(cues, asks)
    with common.client() as client:
        memory = _read(client, common, memory_id)
        new_cues = cues if cues or no_cues else memory.cues
        updated = _update(client, memory, new_cues, asks if asks or no_asks else memory.asks)
    _say(common, updated)


@command.command("edit")
@_ID
@user_options
@click.pass_obj
def edit_command(common: Common, *, memory_id: str) -> None:
    """Edit the headings and questions of the memory ID in your editor (VISUAL, else EDITOR)."""
    with common.client() as client:
        memory = _read(client, common, memory_id)
    text = write_form(memory)
    while True:
        saved = edited(text, common.environment)
        if saved is None:
            click.echo("Not saved, nothing changed.", err=True)
            return
        text = saved
        try:
            form = read_form(text, memory)
            break
        except FormError as error:
            # What was typed is not thrown away where somebody can mend it.
            if not common.is_interactive or not click.confirm(f"{error.message}\nEdit again?", default=True, err=True):
                raise usage_error(error.message) from error
    with common.client() as client:
        updated = _update(client, memory, form.cues, form.asks)
    _say(common, updated)


@command.command("backfill")
@click.option("--limit", type=whole(1), help="Memories to ask about, at most. Default: all without questions.")
@click.option("--dry-run", is_flag=True, help="Ask nobody and only count.")
@click.option("--undo", is_flag=True, help="Take away all that models wrote, from every memory; nobody is asked.")
@user_options
@click.pass_obj
def backfill_command(common: Common, *, limit: int | None, dry_run: bool, undo: bool) -> int:
    """Have the model of a connected runtime write headings and questions for memories that have no questions.

    One memory a question; what comes back is checked, and nothing of a wrong answer is kept. Exit code 1 when some
    answers could not be used, 69 when no runtime lends its model, 75 when the model does not answer.
    """
    if undo:
        if limit is not None:
            message = "--limit: --undo goes through all memories; leave one of the two out"
            raise usage_error(message)
        return undo_backfill(common, is_dry_run=dry_run)
    return run_backfill(common, limit=limit, is_dry_run=dry_run)


def _read(client: Client, common: Common, memory_id: str) -> MemoryItem:
    return client.get(requests.Get(user=common.user_name, memory_id=memory_id)).memory


def _update(client: Client, memory: MemoryItem, cues: tuple[str, ...], asks: tuple[str, ...]) -> Updated:
    """Store the lists, unless somebody changed the memory since it was read."""
    for entries, count_max, option in ((cues, fields.CUES_MAX, "--cue"), (asks, fields.ASKS_MAX, "--ask")):
        if len(entries) > count_max:
            message = f"{option}: that makes {len(entries)}, and at most {count_max} are kept; see `recalld cues set`"
            raise usage_error(message)
    return client.update(
        requests.Update(user=memory.user, memory_id=memory.id, cues=cues, asks=asks, if_revision=memory.revision)
    )


def _check_given(cues: tuple[str, ...], asks: tuple[str, ...]) -> None:
    if not cues and not asks:
        message = "give at least one --cue or --ask"
        raise usage_error(message)


def _say(common: Common, updated: Updated) -> None:
    if common.as_json:
        write_json(updated)
        return
    if not updated.decision_id:
        click.echo("Nothing changed.")
    _write(updated.memory)
    if updated.decision_id:
        click.echo(f"  `recalld explain {updated.decision_id}` shows the change.")
    if not updated.is_embedded:
        click.echo("  Not embedded in full yet: until then new questions are only found by their words.")


def _write(memory: MemoryItem) -> None:
    click.echo(f"{memory.id}  {printable(memory.text)}")
    for name, texts, written in (("cue", memory.cues, memory.cue_origins), ("ask", memory.asks, memory.ask_origins)):
        origins = _origins(written)
        for place, text in enumerate(texts):
            click.echo(f"  {name}  {printable(text)}{TEXT_ORIGINS.get(origin_at(origins, place), '')}")


def _origins(written: tuple[str, ...]) -> tuple[TextOrigin, ...]:
    """Origins as the daemon names them; one that only a newer daemon knows is displaced by nothing."""
    known = {origin.value: origin for origin in TextOrigin}
    return tuple(known.get(origin, TextOrigin.GIVEN) for origin in written)
