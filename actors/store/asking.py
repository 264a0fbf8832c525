"""Asking the store actor, with the type of the answer following from the type of the command."""

from __future__ import annotations

from typing import assert_never, overload

from recalld.actors.kernel import Address
from recalld.actors.store.messages import (
    AmendMemory,
    AnswerProposal,
    AttachVectors,
    EraseMemories,
    EraseUser,
    KeepAudit,
    KeepMark,
    KeepOutcome,
    KeepSamples,
    KeepStanding,
    NotePending,
    NoteTurn,
    PutPending,
    SettleNote,
    StoreMemory,
    StoreMessage,
    StoreTurn,
    SweepExpired,
    TakeOver,
    TruncateLogs,
)
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

StoreCommand = (
    Remember
    | RecordTurn
    | AdmitTurn
    | Confirm
    | SettleObservation
    | ImportMemories
    | AppendPending
    | SettlePending
    | PurgeUser
    | Forget
    | PutVectors
    | Update
    | RecordOutcome
    | SetStanding
    | NoteAudit
    | AppendSamples
    | MarkSample
    | Expire
    | Checkpoint
)
StoreResult = (
    Remembered
    | TurnRecorded
    | TurnAdmitted
    | Confirmed
    | ObservationSettled
    | MemoriesImported
    | PendingCounts
    | UserPurged
    | Forgotten
    | bool
    | int
    | Updated
    | OutcomeRecorded
    | StandingSet
    | Expired
    | Checkpointed
    | None
)


@overload
async def ask_store(store: Address[StoreMessage], command: Remember, *, deadline_s: float) -> Remembered: ...
@overload
async def ask_store(store: Address[StoreMessage], command: RecordTurn, *, deadline_s: float) -> TurnRecorded: ...
@overload
async def ask_store(store: Address[StoreMessage], command: AdmitTurn, *, deadline_s: float) -> TurnAdmitted: ...
@overload
async def ask_store(store: Address[StoreMessage], command: Confirm, *, deadline_s: float) -> Confirmed: ...
@overload
async def ask_store(
    store: Address[StoreMessage], command: SettleObservation, *, deadline_s: float
) -> ObservationSettled: ...
@overload
async def ask_store(
    store: Address[StoreMessage], command: ImportMemories, *, deadline_s: float
) -> MemoriesImported: ...
@overload
async def ask_store(store: Address[StoreMessage], command: AppendPending, *, deadline_s: float) -> bool: ...
@overload
async def ask_store(store: Address[StoreMessage], command: SettlePending, *, deadline_s: float) -> PendingCounts: ...
@overload
async def ask_store(store: Address[StoreMessage], command: PurgeUser, *, deadline_s: float) -> UserPurged: ...
@overload
async def ask_store(store: Address[StoreMessage], command: Forget, *, deadline_s: float) -> Forgotten: ...
@overload
async def ask_store(store: Address[StoreMessage], command: PutVectors, *, deadline_s: float) -> bool: ...
@overload
async def ask_store(store: Address[StoreMessage], command: Update, *, deadline_s: float) -> Updated: ...
@overload
async def ask_store(store: Address[StoreMessage], command: RecordOutcome, *, deadline_s: float) -> OutcomeRecorded: ...
@overload
async def ask_store(store: Address[StoreMessage], command: SetStanding, *, deadline_s: float) -> StandingSet: ...
@overload
async def ask_store(store: Address[StoreMessage], command: NoteAudit, *, deadline_s: float) -> None: ...
@overload
async def ask_store(store: Address[StoreMessage], command: AppendSamples, *, deadline_s: float) -> int: ...
@overload
async def ask_store(store: Address[StoreMessage], command: MarkSample, *, deadline_s: float) -> None: ...
@overload
async def ask_store(store: Address[StoreMessage], command: Expire, *, deadline_s: float) -> Expired: ...
@overload
async def ask_store(store: Address[StoreMessage], command: Checkpoint, *, deadline_s: float) -> Checkpointed: ...
async def ask_store(  # noqa: C901, PLR0911, PLR0912 - one case and one return for each command
    store: Address[StoreMessage], command: StoreCommand, *, deadline_s: float
) -> StoreResult:
    """Send a command to the store actor and wait until its transaction is over.

    Args:
        store: The store actor.
        command: What to do.
        deadline_s: When to stop waiting, in seconds on the monotonic clock. The command is carried out all the same.

    Raises:
        AskError: No answer came.
        RecalldError: The store answered with it; nothing of the command is stored then.
    """
    match command:
        case Remember():
            return await store.ask(lambda reply: StoreMemory(command=command, reply=reply), deadline_s=deadline_s)
        case RecordTurn():
            return await store.ask(lambda reply: NoteTurn(command=command, reply=reply), deadline_s=deadline_s)
        case AdmitTurn():
            return await store.ask(lambda reply: StoreTurn(command=command, reply=reply), deadline_s=deadline_s)
        case Confirm():
            return await store.ask(lambda reply: AnswerProposal(command=command, reply=reply), deadline_s=deadline_s)
        case SettleObservation():
            return await store.ask(lambda reply: SettleNote(command=command, reply=reply), deadline_s=deadline_s)
        case ImportMemories():
            return await store.ask(lambda reply: TakeOver(command=command, reply=reply), deadline_s=deadline_s)
        case AppendPending():
            return await store.ask(lambda reply: PutPending(command=command, reply=reply), deadline_s=deadline_s)
        case SettlePending():
            return await store.ask(lambda reply: NotePending(command=command, reply=reply), deadline_s=deadline_s)
        case PurgeUser():
            return await store.ask(lambda reply: EraseUser(command=command, reply=reply), deadline_s=deadline_s)
        case Forget():
            return await store.ask(lambda reply: EraseMemories(command=command, reply=reply), deadline_s=deadline_s)
        case PutVectors():
            return await store.ask(lambda reply: AttachVectors(command=command, reply=reply), deadline_s=deadline_s)
        case Update():
            return await store.ask(lambda reply: AmendMemory(command=command, reply=reply), deadline_s=deadline_s)
        case RecordOutcome():
            return await store.ask(lambda reply: KeepOutcome(command=command, reply=reply), deadline_s=deadline_s)
        case SetStanding():
            return await store.ask(lambda reply: KeepStanding(command=command, reply=reply), deadline_s=deadline_s)
        case NoteAudit():
            return await store.ask(lambda reply: KeepAudit(command=command, reply=reply), deadline_s=deadline_s)
        case AppendSamples():
            return await store.ask(lambda reply: KeepSamples(command=command, reply=reply), deadline_s=deadline_s)
        case MarkSample():
            return await store.ask(lambda reply: KeepMark(command=command, reply=reply), deadline_s=deadline_s)
        case Expire():
            return await store.ask(lambda reply: SweepExpired(command=command, reply=reply), deadline_s=deadline_s)
        case Checkpoint():
            return await store.ask(lambda reply: TruncateLogs(command=command, reply=reply), deadline_s=deadline_s)
        case _:
            assert_never(command)
