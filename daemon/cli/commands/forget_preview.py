"""What a forgetting would take along: the whole text, what it states a value of, its evidence, and what it replaced."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import counted
from recalld.models.domain.errors import ErrorCode
from recalld.protocol import requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.replies import Forgotten


class WouldGo(msgspec.Struct, frozen=True, kw_only=True):
    """One memory that would be forgotten, and what hangs on it.

    Attributes:
        evidence: Turns behind it, whose quotes of it go along.
        supersedes: Ids of memories that it replaced. They stay; each is forgotten by its own id.
        superseded_by: Id of the memory that replaced it; empty: none did.
    """

    id: str
    text: str
    kind: str
    scope: str
    slot: str = ""
    subject: str = ""
    evidence: int = 0
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""


class PreviewDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `recalld forget --dry-run --json` prints: the daemon's answer, and what hangs on each of `items`."""

    count: int
    ids: tuple[str, ...]
    unknown: tuple[str, ...]
    is_dry_run: bool
    items: tuple[WouldGo, ...]
    pending_turns: int = 0
    observations: int = 0
    proposals: int = 0


def notes_in_words(found: Forgotten | PreviewDocument) -> str:
    """What goes beside memories, as in "1 waiting turn, 2 observations"; empty: nothing."""
    counts = (
        (found.pending_turns, "waiting turn"),
        (found.observations, "observation"),
        (found.proposals, "proposal"),
    )
    return ", ".join(counted(count, name) for count, name in counts if count)


def is_one(found: Forgotten) -> bool:
    """Whether a single thing would go."""
    return found.count + found.pending_turns + found.observations + found.proposals == 1


def look_closer(client: Client, user: str, preview: Forgotten) -> PreviewDocument:
    """Ask what hangs on each previewed memory; one request each, and no more than the daemon names."""
    return PreviewDocument(
        count=preview.count,
        ids=preview.ids,
        unknown=preview.unknown,
        is_dry_run=preview.is_dry_run,
        items=tuple(_items(client, user, preview)),
        pending_turns=preview.pending_turns,
        observations=preview.observations,
        proposals=preview.proposals,
    )


def _items(client: Client, user: str, preview: Forgotten) -> Iterator[WouldGo]:
    for item in preview.items:
        bare = WouldGo(id=item.id, text=item.preview, kind=item.kind, scope=item.scope)
        try:
            found = client.lineage(requests.GetLineage(user=user, memory_id=item.id))
        except ClientError as error:
            if error.code != ErrorCode.NOT_FOUND:
                raise
            yield bare  # forgotten before, and only a hard forgetting finds its trace; or damaged
            continue
        yield msgspec.structs.replace(
            bare,
            text=found.memory.text,
            slot=found.slot,
            subject=found.subject,
            evidence=len(found.evidence),
            supersedes=tuple(each.id for each in found.supersedes),
            superseded_by="" if found.superseded_by is None else found.superseded_by.id,
        )


def preview_lines(items: tuple[WouldGo, ...]) -> Iterator[str]:
    """Each memory in full, and below it what goes along and what stays."""
    for item in items:
        place = f" ({printable(item.scope)})" if item.scope else ""
        yield f"  {item.id}  {item.kind}{place}  {printable(item.text)}"
        slot = (
            f"the {printable(item.slot)}{f' of {printable(item.subject)}' if item.subject else ''}" if item.slot else ""
        )
        evidence = f"quotes of {counted(item.evidence, 'turn')}" if item.evidence else ""
        along = " and ".join(part for part in (slot, evidence) if part)
        if along:
            yield f"      with it: {along}"
        if item.supersedes:
            yield f"      what it replaced stays as history: {', '.join(map(printable, item.supersedes))}"
        if item.superseded_by:
            yield f"      it was replaced by {printable(item.superseded_by)}, which stays"
