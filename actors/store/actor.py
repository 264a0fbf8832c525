"""The store actor: the one place all writes go through, one after another.

A write that fails in a way the caller can be told about (disk full, database locked away, a damaged row) is answered
with that error and the actor goes on. Anything else ends the actor, and with it the process: a store in an unknown
state must not acknowledge another write. What was acknowledged before is on disk.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar, assert_never

from recalld.actors.kernel import Actor, ActorContext, ActorSpec, Reply, StopReason
from recalld.actors.kernel.bounds import STORE_MAILBOX_MAX
from recalld.actors.ports import MemoryWriter
from recalld.actors.store.erasure import PendingErasure
from recalld.actors.store.ledger_buffer import LedgerBuffer
from recalld.actors.store.messages import (
    AmendMemory,
    AnswerProposal,
    AttachVectors,
    EraseMemories,
    EraseUser,
    FinishErasure,
    FlushLedger,
    KeepAudit,
    KeepMark,
    KeepOutcome,
    KeepSamples,
    KeepStanding,
    NotePending,
    NoteTurn,
    PutPending,
    SettleLedger,
    SettleNote,
    StoreMemory,
    StoreMessage,
    StoreTurn,
    SweepExpired,
    TakeOver,
    TruncateLogs,
)
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.store import AppendDecisions, Forget, Forgotten
from recalld.models.domain.user_data import PurgeUser, UserPurged

R = TypeVar("R")

STORE_ACTOR = "store"
"""The store actor's name."""


class StoreActor(Actor[StoreMessage]):
    """Carries out one command at a time, each to its end. A command is carried out even if its asker has left.

    Args:
        writer: The writing side of the store.
        on_rows_dropped: Told how many ledger rows were given up because they could not be written.
    """

    def __init__(self, writer: MemoryWriter, on_rows_dropped: Callable[[int], None]) -> None:
        self._writer = writer
        self._ledger = LedgerBuffer(writer, on_rows_dropped)
        self._erasure = PendingErasure(writer)

    async def handle(  # noqa: C901, PLR0912, PLR0915 - one case each
        self, message: StoreMessage, ctx: ActorContext[StoreMessage]
    ) -> None:
        """Carry out one command."""
        match message:
            case StoreMemory(command=remember, reply=remembered):
                await _answer(remembered, self._writer.remember(remember))
            case NoteTurn(command=turn, reply=noted):
                await _answer(noted, self._writer.record_turn(turn))
            case StoreTurn(command=admit, reply=admitted):
                await _answer(admitted, self._writer.admit_turn(admit))
            case AnswerProposal(command=answer, reply=confirmed):
                await _answer(confirmed, self._writer.confirm(answer))
            case SettleNote(command=word, reply=word_taken):
                await _answer(word_taken, self._writer.settle_observation(word))
            case TakeOver(command=import_, reply=imported):
                await _answer(imported, self._writer.import_memories(import_))
            case PutPending(command=append, reply=appended):
                await _answer(appended, self._writer.append_pending(append))
            case NotePending(command=settle, reply=counted):
                await _answer(counted, self._writer.settle_pending(settle))
            case EraseUser(command=purge, reply=purged):
                # No row about the user may be written afterwards.
                await self._ledger.flush()
                await _answer(purged, self._purge(purge, ctx))
            case EraseMemories(command=forget, reply=forgotten):
                # Rows about what is forgotten must be in the ledger before it is cleaned of it.
                await self._ledger.flush()
                await _answer(forgotten, self._forget(forget, ctx))
            case FinishErasure():
                await self._erasure.retry(ctx)
            case AttachVectors(command=vectors, reply=attached):
                await _answer(attached, self._writer.put_vectors(vectors))
            case AmendMemory(command=update, reply=updated):
                await _answer(updated, self._writer.update(update))
            case KeepOutcome(command=outcome, reply=kept):
                # The row of the decision that is reported on may still wait to be written.
                await self._ledger.flush()
                await _answer(kept, self._writer.record_outcome(outcome))
            case KeepStanding(command=standing, reply=set_):
                await _answer(set_, self._writer.set_standing(standing))
            case KeepAudit(command=audit, reply=noted):
                await _answer(noted, self._writer.note_audit(audit))
            case KeepSamples(command=append_samples, reply=samples_kept):
                # A sample is kept only beside its decision, which may still wait to be written.
                await self._ledger.flush()
                await _answer(samples_kept, self._writer.append_samples(append_samples))
            case KeepMark(command=mark, reply=marked):
                await _answer(marked, self._writer.mark_sample(mark))
            case SweepExpired(command=expire, reply=expired):
                await _answer(expired, self._writer.expire(expire))
            case TruncateLogs(command=checkpoint, reply=truncated):
                await self._ledger.flush()
                await _answer(truncated, self._writer.checkpoint(checkpoint))
            case AppendDecisions(rows=rows):
                await self._ledger.add(rows, ctx)
            case FlushLedger():
                await self._ledger.flush_when_due(ctx)
            case SettleLedger(reply=settled):
                await self._ledger.flush()
                settled.send(None)
            case _:
                assert_never(message)

    async def _forget(self, command: Forget, ctx: ActorContext[StoreMessage]) -> Forgotten:
        forgotten = await self._writer.forget(command)
        if forgotten.is_erasure_pending:
            self._erasure.retry_later(ctx)
        return forgotten

    async def _purge(self, command: PurgeUser, ctx: ActorContext[StoreMessage]) -> UserPurged:
        purged = await self._writer.purge_user(command)
        if purged.is_erasure_pending:
            self._erasure.retry_later(ctx)
        return purged

    async def stopped(self, reason: StopReason, ctx: ActorContext[StoreMessage]) -> None:  # noqa: ARG002 - a hook
        """Write the ledger rows that still wait, unless the writer is what failed."""
        match reason:
            case StopReason.DRAINED | StopReason.KILLED:
                await self._ledger.flush()
            case StopReason.FAILED | StopReason.ESCALATED:
                pass
            case _:
                assert_never(reason)
        self._ledger.give_up()


def store_spec(writer: MemoryWriter, on_rows_dropped: Callable[[int], None]) -> ActorSpec[StoreMessage]:
    """How to run the store actor: never restarted, its failure escalates."""
    return ActorSpec(
        name=STORE_ACTOR,
        build=lambda: StoreActor(writer, on_rows_dropped),
        mailbox_max=STORE_MAILBOX_MAX,
        restarts_max=0,
    )


async def _answer(reply: Reply[R], result: Awaitable[R]) -> None:
    try:
        value = await result
    except RecalldError as error:
        reply.fail(error)
    else:
        reply.send(value)
