"""What the store actor can be told. Each is one transaction, except that ledger rows are gathered."""

from __future__ import annotations

import msgspec

from recalld.actors.kernel import Reply
from recalld.models.domain.outcomes import OutcomeRecorded, RecordOutcome
from recalld.models.domain.standing import SetStanding, StandingSet
from recalld.models.domain.store import (
    AppendDecisions,
    Checkpoint,
    Checkpointed,
    Expire,
    Expired,
    Forget,
    Forgotten,
    PutVectors,
    RecordTurn,
    Remember,
    Remembered,
    TurnRecorded,
    Update,
    Updated,
)


class StoreMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Store a memory."""

    command: Remember
    reply: Reply[Remembered]


class NoteTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Note that an observed turn led to nothing."""

    command: RecordTurn
    reply: Reply[TurnRecorded]


class EraseMemories(msgspec.Struct, frozen=True, kw_only=True):
    """Forget memories, after whatever ledger rows were handed over before."""

    command: Forget
    reply: Reply[Forgotten]


class AttachVectors(msgspec.Struct, frozen=True, kw_only=True):
    """Attach vectors to a memory."""

    command: PutVectors
    reply: Reply[bool]


class AmendMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Change what is known about a memory beside its text."""

    command: Update
    reply: Reply[Updated]


class KeepOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Keep a report on a decision, after whatever ledger rows were handed over before."""

    command: RecordOutcome
    reply: Reply[OutcomeRecorded]


class KeepStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Note what a person decided about a memory and the standing block."""

    command: SetStanding
    reply: Reply[StandingSet]


class SweepExpired(msgspec.Struct, frozen=True, kw_only=True):
    """Remove expired memories from the indices."""

    command: Expire
    reply: Reply[Expired]


class TruncateLogs(msgspec.Struct, frozen=True, kw_only=True):
    """Trim the logs and truncate the write-ahead log."""

    command: Checkpoint
    reply: Reply[Checkpointed]


class FlushLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Write the ledger rows gathered so far; the actor sends this to itself."""


class FinishErasure(msgspec.Struct, frozen=True, kw_only=True):
    """Remove what a hard forgetting had to leave in the write-ahead log; the actor sends this to itself."""


class SettleLedger(msgspec.Struct, frozen=True, kw_only=True):
    """Write the ledger rows handed over so far, then answer; also shows that the actor is alive."""

    reply: Reply[None]


StoreMessage = (
    StoreMemory
    | NoteTurn
    | EraseMemories
    | AttachVectors
    | AmendMemory
    | KeepOutcome
    | KeepStanding
    | SweepExpired
    | TruncateLogs
    | AppendDecisions  # without a reply: whoever recalls does not wait for the ledger
    | FinishErasure
    | FlushLedger
    | SettleLedger
)
