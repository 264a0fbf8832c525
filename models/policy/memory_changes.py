"""What a change makes of a memory: decided once, the same in every store."""

from __future__ import annotations

import msgspec

from recalld.models.domain.cues import MemoryChanges
from recalld.models.domain.records import CUES_MAX, Memory, NewMemory, TextOrigin
from recalld.models.policy.ask_guard import check_asks
from recalld.models.policy.memory_checks import check_new_memory
from recalld.models.policy.text_origins import joined, origins_after


def checked_changes(memory: Memory, changes: MemoryChanges, *, now_ms: int) -> MemoryChanges:
    """The changes as they are to be stored: cues and asks trimmed, without repeated ones.

    The whole memory is checked as it would be after them, by the rules for a new one, so that nothing enters by an
    update that `remember` would refuse. The text was checked when it was stored, and an expiry that does not change is
    not judged again.

    Raises:
        RecalldError: `BAD_REQUEST`, naming the field and the remedy.
    """
    expires_at_ms = None if isinstance(changes.expires_at_ms, msgspec.UnsetType) else changes.expires_at_ms
    checked = check_new_memory(
        NewMemory(
            user=memory.user,
            text=memory.text,
            kind=memory.kind if changes.kind is None else changes.kind,
            scope=memory.scope if changes.scope is None else changes.scope,
            cues=memory.cues if changes.cues is None else changes.cues,
            asks=memory.asks if changes.asks is None else changes.asks,
            source=memory.source,
            expires_at_ms=expires_at_ms,
        ),
        now_ms=now_ms,
    )
    if changes.asks is not None:
        check_asks(checked)
    return msgspec.structs.replace(
        changes,
        cues=None if changes.cues is None else checked.cues,
        asks=None if changes.asks is None else checked.asks,
    )


def changed_memory(memory: Memory, changes: MemoryChanges, *, now_ms: int) -> Memory | None:
    """The memory after the changes, with a new revision; None when they change nothing."""
    unset = isinstance(changes.expires_at_ms, msgspec.UnsetType)
    changed = msgspec.structs.replace(
        memory,
        cues=memory.cues if changes.cues is None else changes.cues,
        asks=memory.asks if changes.asks is None else changes.asks,
        cue_origins=memory.cue_origins
        if changes.cues is None
        else origins_after(changes.cues, memory.cues, memory.cue_origins, changes.origin),
        ask_origins=memory.ask_origins
        if changes.asks is None
        else origins_after(changes.asks, memory.asks, memory.ask_origins, changes.origin),
        kind=memory.kind if changes.kind is None else changes.kind,
        scope=memory.scope if changes.scope is None else changes.scope,
        expires_at_ms=memory.expires_at_ms if unset else changes.expires_at_ms,
    )
    if changed == memory:
        return None
    return msgspec.structs.replace(changed, updated_at_ms=now_ms, revision=memory.revision + 1)


def joined_cues(memory: Memory, written: tuple[str, ...]) -> tuple[str, ...]:
    """The cues a memory has, and as many that a model wrote as there is room for; those of rules make room."""
    return joined(memory.cues, memory.cue_origins, written, CUES_MAX, by=TextOrigin.MODEL)[:CUES_MAX]


class FieldCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many cues, or asks, there were and are, and how many of them are new."""

    before: int
    after: int
    new: int


class ChangeSummary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an update changed, for the ledger: names of fields and counts, never text.

    Attributes:
        memory_id: Which memory.
        changed: Names of the fields that are different now.
        note: What made the change, such as the version of a prompt.
    """

    memory_id: str
    changed: tuple[str, ...]
    cues: FieldCount
    asks: FieldCount
    note: str = ""


def summary(before: Memory, after: Memory, note: str = "") -> ChangeSummary:
    """What is different between two states of a memory."""
    pairs = {
        "cues": (before.cues, after.cues),
        "asks": (before.asks, after.asks),
        "kind": (before.kind, after.kind),
        "scope": (before.scope, after.scope),
        "expires_at": (before.expires_at_ms, after.expires_at_ms),
    }
    return ChangeSummary(
        memory_id=before.id,
        changed=tuple(field for field, (old, new) in pairs.items() if old != new),
        cues=_count(before.cues, after.cues),
        asks=_count(before.asks, after.asks),
        note=note,
    )


def _count(before: tuple[str, ...], after: tuple[str, ...]) -> FieldCount:
    return FieldCount(before=len(before), after=len(after), new=len(set(after) - set(before)))
