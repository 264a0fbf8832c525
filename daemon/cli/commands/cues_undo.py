"""`recalld cues backfill --undo`: what lent models wrote is taken away again, and nothing else."""

from __future__ import annotations

import click
import msgspec

from recalld.daemon.cli.common import Common
from recalld.daemon.cli.output import write_json
from recalld.daemon.cli.words import counted, counted_memories
from recalld.daemon.exit_codes import ExitCode
from recalld.models.domain.records import TextOrigin
from recalld.protocol import fields, requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.items import MemoryItem


class UndoDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What was undone, or in a dry run would be, as `--json` prints it: ids of memories, and texts taken away."""

    memory_ids: tuple[str, ...]
    cues: int
    asks: int


def undo_backfill(common: Common, *, is_dry_run: bool) -> int:
    """Take away every heading and question that a lent model wrote; returns the exit code.

    A memory that somebody changes meanwhile ends the command with a conflict; to call it again goes on.
    """
    with common.client() as client:
        found = [memory for memory in _memories(client, common.user_name) if _is_backfilled(memory)]
        if not is_dry_run:
            for memory in found:
                client.update(_without_model(memory))
    document = UndoDocument(
        memory_ids=tuple(memory.id for memory in found),
        cues=sum(memory.cue_origins.count(TextOrigin.MODEL) for memory in found),
        asks=sum(memory.ask_origins.count(TextOrigin.MODEL) for memory in found),
    )
    if common.as_json:
        write_json(document)
    else:
        what = "Would take" if is_dry_run else "Took"
        click.echo(
            f"{what} {counted(document.asks, 'question')} and {counted(document.cues, 'heading')} of models away,"
            f" from {counted_memories(len(found))}."
        )
    return ExitCode.OK


def _memories(client: Client, user: str) -> list[MemoryItem]:
    """All live memories: read before the first is changed, so that no page is left out."""
    found: list[MemoryItem] = []
    cursor: str | None = None
    while True:
        page = client.list_memories(requests.ListMemories(user=user, limit=fields.LIST_LIMIT_MAX, cursor=cursor))
        found += page.memories
        cursor = page.cursor
        if cursor is None:
            return found


def _is_backfilled(memory: MemoryItem) -> bool:
    return TextOrigin.MODEL in (*memory.cue_origins, *memory.ask_origins)


def _without_model(memory: MemoryItem) -> requests.Update:
    return requests.Update(
        user=memory.user,
        memory_id=memory.id,
        cues=_others(memory.cues, memory.cue_origins),
        asks=_others(memory.asks, memory.ask_origins),
        if_revision=memory.revision,
    )


def _others(texts: tuple[str, ...], origins: tuple[str, ...]) -> tuple[str, ...]:
    """The texts that no model wrote; without origins all were given."""
    if not origins:
        return texts
    return tuple(text for text, origin in zip(texts, origins, strict=True) if origin != TextOrigin.MODEL)
