"""What a store decides when it writes, the same in every implementation of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, assert_never

import msgspec

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import Memory, MemoryKind, MemoryStatus, NewMemory, TextOrigin, VectorRole
from recalld.models.domain.store import DecisionRow, Remember, TextVector
from recalld.models.policy.text_origins import added_by_rules

_ROLE_ORDER: Final = {role: place for place, role in enumerate(VectorRole)}
_NEEDLE_CHARS_MIN: Final = 16
"""Shortest text that is looked for inside longer ones."""
EMPTY_BODY: Final = b"{}"
"""What is left of the body of a ledger row about a forgotten memory."""
REFUSED: Final = "refused"
"""What a ledger row says was decided when a tombstone refused a memory."""


def new_record(command: Remember) -> Memory:
    """The memory that a command creates."""
    return created(command.memory, command.memory_id, command.now_ms)


def created(wanted: NewMemory, memory_id: str, now_ms: int) -> Memory:
    """The memory that is made of what asks to be stored."""
    return Memory(
        id=memory_id,
        user=wanted.user,
        text=wanted.text,
        kind=wanted.kind,
        scope=wanted.scope,
        cues=wanted.cues,
        asks=wanted.asks,
        source=wanted.source,
        status=MemoryStatus.ACTIVE,
        created_at_ms=now_ms,
        updated_at_ms=now_ms,
        expires_at_ms=wanted.expires_at_ms,
        revision=1,
        cue_origins=added_by_rules(len(wanted.cues), wanted.added_cues),
        ask_origins=added_by_rules(len(wanted.asks), wanted.added_asks),
    )


def brought_up_to_date(stored: Memory, wanted: NewMemory, now_ms: int) -> Memory | None:
    """The stored memory with what the same words, saved again, bring along; None when they bring nothing new.

    What is not given is kept: no cues, no asks, no expiry, and the kind `fact`, which is what a caller sends who does
    not care about kinds. The text stays as it was first written. Cues and asks that were only added to the wanted ones
    come where there are none, and otherwise leave the stored ones alone.
    """
    kind = stored.kind if wanted.kind is MemoryKind.FACT else wanted.kind
    cues, cue_origins = _wanted_or_stored(wanted.cues, wanted.added_cues, stored.cues, stored.cue_origins)
    asks, ask_origins = _wanted_or_stored(wanted.asks, wanted.added_asks, stored.asks, stored.ask_origins)
    expires_at_ms = stored.expires_at_ms if wanted.expires_at_ms is None else wanted.expires_at_ms
    is_reworded = (cues, asks) != (stored.cues, stored.asks)
    if not is_reworded and (kind, expires_at_ms) == (stored.kind, stored.expires_at_ms):
        return None
    return msgspec.structs.replace(
        stored,
        kind=kind,
        cues=cues,
        asks=asks,
        cue_origins=cue_origins,
        ask_origins=ask_origins,
        expires_at_ms=expires_at_ms,
        updated_at_ms=now_ms,
        revision=stored.revision + 1 if is_reworded else stored.revision,
    )


def _wanted_or_stored(
    wanted: tuple[str, ...], added: int, stored: tuple[str, ...], origins: tuple[TextOrigin, ...]
) -> tuple[tuple[str, ...], tuple[TextOrigin, ...]]:
    """The wanted texts and their origins if any of them was given, or none is stored; else the stored ones."""
    if len(wanted) > added or not stored:
        return wanted, added_by_rules(len(wanted), added)
    return stored, origins


def vectors_fit(command: Remember, memory: Memory) -> bool:
    """Whether the vectors of a command stand for exactly the texts that the memory now has.

    They do not when an update kept cues or asks that the command did not bring; then the memory waits to be embedded.
    """
    return bool(command.embedder_key and command.vectors) and is_same_wording(command.memory, memory)


def is_same_wording(wanted: NewMemory, memory: Memory) -> bool:
    """Whether a memory has exactly the texts of what asked to be stored, so that vectors of one fit the other."""
    return (wanted.text, wanted.cues, wanted.asks) == (memory.text, memory.cues, memory.asks)


def in_order(vectors: Sequence[TextVector]) -> tuple[TextVector, ...]:
    """Vectors by role (record, cues, asks) and ordinal."""
    return tuple(sorted(vectors, key=lambda vector: (_ROLE_ORDER[vector.role], vector.ordinal)))


def turn_reason(outcome: RememberOutcome | None, refusal: AdmissionReason | None = None) -> AdmissionReason:
    """The reason recorded for an observed turn whose memory had this outcome; without one, why it was refused."""
    match outcome:
        case None:
            return refusal or AdmissionReason.TOMBSTONED
        case RememberOutcome.DUPLICATE:
            return AdmissionReason.DUPLICATE
        case RememberOutcome.CREATED | RememberOutcome.UPDATED | RememberOutcome.SUPERSEDED:
            return AdmissionReason.EXPLICIT_SAVE
        case _:
            assert_never(outcome)


def completed_decision(
    row: DecisionRow, outcome: RememberOutcome | None, refusal: AdmissionReason | None = None
) -> DecisionRow:
    """The ledger row with decision and reason filled in from the outcome, where the caller left them empty.

    Only the store knows, inside its transaction, whether the words were new.
    """
    return msgspec.structs.replace(
        row,
        decision=row.decision or (REFUSED if outcome is None else outcome.value),
        reason=row.reason or turn_reason(outcome, refusal).value,
    )


def admission_decision(
    command: Remember, outcome: RememberOutcome | None, refusal: AdmissionReason | None = None
) -> DecisionRow:
    """The ledger row of a save, completed, with the outcome in its body where the command brings one."""
    row = completed_decision(command.decision, outcome, refusal)
    if command.body is None:
        return row
    body = msgspec.structs.replace(command.body, outcome=REFUSED if outcome is None else outcome.value)
    return msgspec.structs.replace(row, body=msgspec.json.encode(body))


def body_needles(memory_id: str, text: str) -> tuple[bytes, ...]:
    """What gives away, inside the JSON body of a ledger row, that it is about a memory.

    Its id, and its text as a JSON value, with and without non-ASCII characters escaped. A short text counts only as a
    whole value: "ok" inside of longer texts means nothing.
    """
    needles = [memory_id.encode("utf-8")]
    if text:
        values = (msgspec.json.encode(text), json.dumps(text).encode("ascii"))
        needles += (value[1:-1] for value in values) if len(text) >= _NEEDLE_CHARS_MIN else values
    return tuple(dict.fromkeys(needles))


def conflicting_id(memory_id: str) -> RecalldError:
    """The error for a new memory whose id is taken."""
    return RecalldError(ErrorCode.CONFLICT, f"`memory_id` {memory_id} is taken; make a new id and try again.")


def unstorable(detail: str) -> RecalldError:
    """The error for a value that no store can hold."""
    return RecalldError(
        ErrorCode.BAD_REQUEST, f"A value cannot be stored ({detail}); send valid Unicode and times within 64 bits."
    )
