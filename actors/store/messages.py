"""What the store actor can be told. Each is one transaction, except that ledger rows are gathered."""

from __future__ import annotations

import msgspec

from recalld.actors.kernel import Reply
from recalld.models.domain.admission_store import (
    AdmitTurn,
    Confirm,
    Confirmed,
    ObservationSettled,
    SettleObservation,
    TurnAdmitted,
)
from recalld.models.domain.audit import NoteAudit
from recalld.models.domain.audit_samples import AppendSamples, MarkSample
from recalld.models.domain.extraction import AppendPending, PendingCounts, SettlePending
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
from recalld.models.domain.user_data import ImportMemories, MemoriesImported, PurgeUser, UserPurged


class StoreMemory(msgspec.Struct, frozen=True, kw_only=True):
    """Store a memory."""

    command: Remember
    reply: Reply[Remembered]


class NoteTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Note that an observed turn led to nothing."""

    command: RecordTurn
    reply: Reply[TurnRecorded]


class StoreTurn(msgspec.Struct, frozen=True, kw_only=True):
    """Write all facts of a turn."""

    command: AdmitTurn
    reply: Reply[TurnAdmitted]


class AnswerProposal(msgspec.Struct, frozen=True, kw_only=True):
    """Answer a proposal."""

    command: Confirm
    reply: Reply[Confirmed]


class SettleNote(msgspec.Struct, frozen=True, kw_only=True):
    """Take a person's word on an observation."""

    command: SettleObservation
    reply: Reply[ObservationSettled]


class TakeOver(msgspec.Struct, frozen=True, kw_only=True):
    """Take over memories that were exported."""

    command: ImportMemories
    reply: Reply[MemoriesImported]


class PutPending(msgspec.Struct, frozen=True, kw_only=True):
    """Put a turn among those that wait for a model."""

    command: AppendPending
    reply: Reply[bool]


class NotePending(msgspec.Struct, frozen=True, kw_only=True):
    """Note what became of turns that waited for a model."""

    command: SettlePending
    reply: Reply[PendingCounts]


class EraseUser(msgspec.Struct, frozen=True, kw_only=True):
    """Leave nothing of a user, after whatever ledger rows were handed over before."""

    command: PurgeUser
    reply: Reply[UserPurged]


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


class KeepAudit(msgspec.Struct, frozen=True, kw_only=True):
    """Note that somebody went through the newest memories."""

    command: NoteAudit
    reply: Reply[None]


class KeepSamples(msgspec.Struct, frozen=True, kw_only=True):
    """Keep samples for an audit, after whatever ledger rows were handed over before."""

    command: AppendSamples
    reply: Reply[int]


class KeepMark(msgspec.Struct, frozen=True, kw_only=True):
    """Note what somebody says of a sample."""

    command: MarkSample
    reply: Reply[None]


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
    | StoreTurn
    | AnswerProposal
    | SettleNote
    | TakeOver
    | PutPending
    | NotePending
    | EraseUser
    | EraseMemories
    | AttachVectors
    | AmendMemory
    | KeepOutcome
    | KeepStanding
    | KeepAudit
    | KeepSamples
    | KeepMark
    | SweepExpired
    | TruncateLogs
    | AppendDecisions  # without a reply: whoever recalls does not wait for the ledger
    | FinishErasure
    | FlushLedger
    | SettleLedger
)
