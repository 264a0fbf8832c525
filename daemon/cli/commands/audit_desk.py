"""Carrying the decisions of an audit out through the daemon, and showing what each is about."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import msgspec
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from recalld.daemon.cli.commands.audit_loop import HELP
from recalld.daemon.cli.commands.review_loop import Said
from recalld.daemon.cli.commands.why_view import why_lines
from recalld.daemon.cli.editor import edited
from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import MEMORY_SOURCES, in_words
from recalld.daemon.config import Environment
from recalld.models.domain.errors import ErrorCode
from recalld.protocol import fields, requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.items import MemoryItem


class ClientAuditDesk:
    """Decides for one user.

    Args:
        client: Connected to the daemon.
        user: Whose.
        environment: Names the editor.
        samples: The sample of each memory that was made of a turn, by the memory's id.
        by: Who decides.
    """

    def __init__(
        self, client: Client, user: str, environment: Environment, *, samples: Mapping[str, str], by: str
    ) -> None:
        self._client = client
        self._samples = samples
        self._by = by
        self._user = user
        self._environment = environment

    def forget(self, memory: MemoryItem) -> Said:
        """Forget it; when it is gone already, that is as good."""
        try:
            self._client.forget(requests.Forget(user=self._user, ids=(memory.id,)))
        except ClientError as error:
            return _not_done(error)
        return Said(text="Forgotten.")

    def edit(self, memory: MemoryItem) -> str | None:
        """Have its words edited; None when nothing was saved, nothing is left of them, or nothing changed."""
        saved = edited(memory.text, self._environment, otherwise="forget it here, and store it with `recalld remember`")
        text = " ".join((saved or "").split())
        return text if text and text != memory.text else None

    def reword(self, memory: MemoryItem, text: str) -> Said:
        """Store it in these words, as asked for, then forget the old ones with their headings and questions."""
        request = requests.Remember(
            user=self._user,
            text=text,
            kind=msgspec.convert(memory.kind, fields.Kind),
            scope=memory.scope,
            expires_at=memory.expires_at_ms,
        )
        try:
            stored = self._client.remember(request)
            if memory.id != stored.memory.id:
                self._client.forget(requests.Forget(user=self._user, ids=(memory.id,)))
        except ClientError as error:
            return _not_done(error)
        return Said(text=f"Kept as {stored.memory.id} {printable(stored.memory.text)}")

    def note(self, memory: MemoryItem, *, is_right: bool) -> None:
        """Mark its sample: one that was kept is right, one that was edited or forgotten was not."""
        sample_id = self._samples.get(memory.id)
        if sample_id is None:
            return
        # The decision is carried out; without its mark the figures only rest on one memory less.
        with contextlib.suppress(ClientError):
            self._client.mark_sample(
                requests.MarkSample(
                    user=self._user, sample_id=sample_id, answer="yes" if is_right else "no", by=self._by
                )
            )


class ConsoleAuditScreen:
    """Shows memories in panels, each with everything behind it.

    Args:
        console: Where to.
        client: Connected to the daemon, which is asked for what lies behind a memory.
        user: Whose.
    """

    def __init__(self, console: Console, client: Client, user: str) -> None:
        self._console = console
        self._client = client
        self._user = user

    def show(self, memory: MemoryItem, place: int, total: int) -> None:
        """One memory."""
        body = Text("\n".join(self._lines(memory)))
        title = Text(f"{place} of {total}: {printable(memory.id)}")
        self._console.print(Panel(body, title=title, subtitle=Text(HELP), title_align="left", subtitle_align="left"))

    def say(self, text: str) -> None:
        """One line."""
        self._console.print(Text(text))

    def _lines(self, memory: MemoryItem) -> tuple[str, ...]:
        """The memory, and where it came from; that is an extra, and the memory is shown without it too."""
        text = printable(memory.text)
        try:
            _, *behind = why_lines(self._client.lineage(requests.GetLineage(user=self._user, memory_id=memory.id)))
        except ClientError:
            place = printable(memory.scope) or "everywhere"
            source = in_words(memory.source, MEMORY_SOURCES)
            return text, f"  {memory.kind}, {place}", f"  {moment(memory.created_at_ms)}  stored: {source}"
        return text, *behind


def _not_done(error: ClientError) -> Said:
    """Why a decision was not carried out; a memory that somebody else forgot meanwhile needs none any more."""
    if error.code == ErrorCode.NOT_FOUND:
        return Said(text="It is not there any more.")
    return Said(text=f"Not done: {printable(error.message)}. {HELP}", is_done=False)
