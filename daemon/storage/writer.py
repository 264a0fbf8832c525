"""The writing side of the store, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
from anyio import to_thread

from recalld.actors.store.rules import unstorable
from recalld.daemon.storage import (
    admission,
    audit_samples,
    forget,
    meta,
    outcomes,
    pending_turns,
    remember,
    standing,
    update,
    upkeep,
)
from recalld.daemon.storage.changes import ChangeNotes, SeqBoard
from recalld.daemon.storage.connection import Session
from recalld.daemon.storage.errors import is_read_only
from recalld.daemon.storage.ledger import append_decision
from recalld.daemon.storage.meta import fold_key
from recalld.daemon.storage.placement import PlacedFiles
from recalld.daemon.storage.reserve import DiskReserve
from recalld.daemon.storage.transactions import guarded, in_transaction, undone
from recalld.daemon.storage.trouble import TroubleListener, WriteTrouble, keep_quiet
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
from recalld.models.domain.errors import ErrorCode, RecalldError
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

R = TypeVar("R")


class SqliteWriter:
    """Implements `MemoryWriter`: each call is one transaction in the thread of the one writing connection.

    A transaction runs to its end whatever becomes of the task that asked for it, and so does its publication: once a
    write is acknowledged, every read that begins afterwards sees it.

    Every method raises `RecalldError`: `STORAGE_FULL` or `STORAGE_UNAVAILABLE` (also for a damaged row that it met),
    `BAD_REQUEST` for a value that cannot be stored (a lone surrogate, a number beyond 64 bits), or `INTERNAL`. Nothing
    of the call is stored then, and the next one is carried out. Anything else it raises means that the state of the
    connection is unknown.

    A full disk is tried once more after the write-ahead log was cut back, for which a forgetting may use the reserve,
    and a file that was read-only after it was opened anew.
    """

    def __init__(self, session: Session, board: SeqBoard, path: Path, on_trouble: TroubleListener = keep_quiet) -> None:
        self._session = session
        self._board = board
        self._path = path
        self._files = PlacedFiles(path)
        self._trouble = WriteTrouble(on_trouble)
        self._reserve = DiskReserve(path.parent)
        self._reserve.fill()

    async def remember(self, command: Remember) -> Remembered:
        """Store a memory. Raises `CONFLICT` when a new memory's id is taken."""
        return await self._write(lambda db, notes: remember.remember(db, notes, command))

    async def record_turn(self, command: RecordTurn) -> TurnRecorded:
        """Note that an observed turn led to nothing."""
        return await self._write(lambda db, _: remember.record_turn(db, command))

    async def admit_turn(self, command: AdmitTurn) -> TurnAdmitted:
        """Write all facts of a turn, once. Raises `CONFLICT` for an id that is taken."""
        return await self._write(lambda db, notes: admission.admit_turn(db, notes, command))

    async def confirm(self, command: Confirm) -> Confirmed:
        """Answer a proposal. Raises `NOT_FOUND`, `FORBIDDEN` and `CONFLICT`."""
        return await self._write(lambda db, notes: admission.confirm(db, notes, command))

    async def settle_observation(self, command: SettleObservation) -> ObservationSettled:
        """Take a person's word on an observation. Raises `NOT_FOUND`, `FORBIDDEN` and `CONFLICT`."""
        return await self._write(lambda db, notes: admission.settle_observation(db, notes, command))

    async def import_memories(self, command: ImportMemories) -> MemoriesImported:
        """Take over memories that were exported."""
        return await self._write(lambda db, notes: admission.import_memories(db, notes, command))

    async def purge_user(self, command: PurgeUser) -> UserPurged:
        """Leave nothing of a user; index and write-ahead log are scrubbed as by a hard forgetting."""
        return await self._run(lambda db: self._purge(db, command), may_use_reserve=True)

    async def append_pending(self, command: AppendPending) -> bool:
        """Put a turn among those that wait for a model; False when it is not taken."""
        return await self._write(lambda db, _: pending_turns.append_pending(db, command))

    async def settle_pending(self, command: SettlePending) -> PendingCounts:
        """Note what became of turns that waited for a model."""
        return await self._write(lambda db, _: pending_turns.settle_pending(db, command))

    async def forget(self, command: Forget) -> Forgotten:
        """Forget memories; a hard one also scrubs index and write-ahead log, as far as no reader holds the log.

        What a reader held up is done by the next checkpoint.
        """
        return await self._run(lambda db: self._forget(db, command), may_use_reserve=True)

    async def put_vectors(self, command: PutVectors) -> bool:
        """Attach vectors; False when the memory changed or went away meanwhile, or there are no vectors."""
        return await self._write(lambda db, notes: remember.put_vectors(db, notes, command))

    async def update(self, command: Update) -> Updated:
        """Change a memory. Raises `NOT_FOUND`, `CONFLICT` for another revision or words that a scope has already."""
        return await self._write(lambda db, notes: update.update(db, notes, command))

    async def record_outcome(self, command: RecordOutcome) -> OutcomeRecorded:
        """Keep a report. Raises `NOT_FOUND` or `BAD_REQUEST` for one that is about nothing that was decided."""
        return await self._write(lambda db, _: outcomes.record_outcome(db, command))

    async def set_standing(self, command: SetStanding) -> StandingSet:
        """Note what a person decided about the standing block. Raises `NOT_FOUND` for a memory that is not live."""
        return await self._write(lambda db, _: standing.set_standing(db, command))

    async def note_audit(self, command: NoteAudit) -> None:
        """Note that somebody went through the newest memories."""
        await self._write(lambda db, _: meta.note_audit(db, command.at_ms))

    async def append_samples(self, command: AppendSamples) -> int:
        """Keep samples for an audit; how many are new."""
        return await self._write(lambda db, _: audit_samples.append_samples(db, command))

    async def mark_sample(self, command: MarkSample) -> None:
        """Note what somebody says of a sample. Raises `NOT_FOUND`."""
        await self._write(lambda db, _: audit_samples.mark_sample(db, command))

    async def append_decisions(self, command: AppendDecisions) -> None:
        """Append ledger rows; a row whose id is there already is skipped."""
        await self._write(lambda db, _: _append_all(db, command))

    async def expire(self, command: Expire) -> Expired:
        """Sweep what expired."""
        return await self._write(lambda db, notes: upkeep.expire(db, notes, command))

    async def checkpoint(self, command: Checkpoint) -> Checkpointed:
        """Trim the logs, then truncate the write-ahead log. Takes the disk reserve again if it was given up."""
        checkpointed = await self._run(lambda db: self._checkpoint(db, command))
        await to_thread.run_sync(self._reserve.fill)
        return checkpointed

    async def truncate_log(self) -> Checkpointed:
        """Truncate the write-ahead log alone, as far as nobody reads from it."""
        return await self._run(lambda db: upkeep.truncate_log(db, self._path))

    async def probe(self) -> None:
        """Write a row and take it back, which proves that this process may write. Changes nothing."""
        await self._run(self._rehearse)

    def _rehearse(self, db: sqlite3.Connection) -> None:
        self._files.check()
        fold_key(db)
        undone(db, upkeep.touch)

    def _forget(self, db: sqlite3.Connection, command: Forget) -> Forgotten:
        forgotten = self._commit(db, lambda db, notes: forget.forget(db, notes, command))
        if not command.is_hard:
            return forgotten
        return msgspec.structs.replace(forgotten, is_erasure_pending=not self._is_erased(db))

    def _purge(self, db: sqlite3.Connection, command: PurgeUser) -> UserPurged:
        purged = self._commit(db, lambda db, notes: forget.purge_user(db, notes, command))
        return msgspec.structs.replace(purged, is_erasure_pending=not self._is_erased(db))

    def _is_erased(self, db: sqlite3.Connection) -> bool:
        """Cut the write-ahead log back, so that what was overwritten in the database is gone from there as well."""
        # The transaction stands, so a checkpoint that fails must not say that it does not; it is tried again later.
        with suppress(sqlite3.Error):
            return upkeep.truncate_log(db, self._path).is_truncated
        return False

    def _checkpoint(self, db: sqlite3.Connection, command: Checkpoint) -> Checkpointed:
        self._commit(db, lambda db, _: upkeep.trim(db, command))
        return upkeep.truncate_log(db, self._path)

    async def _write(self, work: Callable[[sqlite3.Connection, ChangeNotes], R]) -> R:
        return await self._run(lambda db: self._commit(db, work))

    def _commit(self, db: sqlite3.Connection, work: Callable[[sqlite3.Connection, ChangeNotes], R]) -> R:
        """Commit, then publish the new change numbers. In the connection's thread."""
        self._files.check()
        notes = ChangeNotes(db)
        result = in_transaction(db, lambda db: work(db, notes))
        self._board.advance(notes.seqs)
        # What went into a file that is no longer at its place will be gone: it is not acknowledged.
        self._files.check()
        return result

    async def _run(self, work: Callable[[sqlite3.Connection], R], *, may_use_reserve: bool = False) -> R:
        # Shielded, so that a killed caller does not leave before its transaction is over.
        with anyio.CancelScope(shield=True):
            try:
                result = await self._attempt_twice(work, may_use_reserve=may_use_reserve)
            except RecalldError as error:
                self._trouble.note_failure(error)
                raise
        self._trouble.note_success()
        return result

    async def _attempt_twice(self, work: Callable[[sqlite3.Connection], R], *, may_use_reserve: bool) -> R:
        """Run `work`, once more if what stood in its way could be removed."""
        try:
            return await self._attempt(work)
        except RecalldError as error:
            if not await self._is_mended(error, may_use_reserve=may_use_reserve):
                raise
        try:
            return await self._attempt(work)
        finally:
            if may_use_reserve:
                # The log has given back more than the reserve did: it is kept back again before others use it.
                await to_thread.run_sync(self._reserve.fill)

    async def _attempt(self, work: Callable[[sqlite3.Connection], R]) -> R:
        try:
            return await self._session.run(lambda db: guarded(db, work, self._path))
        except (UnicodeEncodeError, OverflowError) as error:
            raise unstorable(type(error).__name__) from error

    async def _is_mended(self, error: RecalldError, *, may_use_reserve: bool) -> bool:
        """Whether it is worth trying again: there is room again, or the file is no longer read-only."""
        if error.code is ErrorCode.STORAGE_FULL:
            return await self._has_made_room(may_use_reserve=may_use_reserve)
        if not is_read_only(error):
            return False
        with suppress(RecalldError):  # the first error is the one to tell
            await self._session.reopen()
            return True
        return False

    async def _has_made_room(self, *, may_use_reserve: bool) -> bool:
        """Cut the write-ahead log back. A forgetting may give up the reserve for that, and for its own pages."""
        if await self._is_log_truncated():
            return True
        if not (may_use_reserve and self._reserve.release()):
            return False
        await self._is_log_truncated()
        return True

    async def _is_log_truncated(self) -> bool:
        try:
            return (await self._session.run(lambda db: upkeep.truncate_log(db, self._path))).is_truncated
        except RecalldError:
            return False


def _append_all(db: sqlite3.Connection, command: AppendDecisions) -> None:
    for row in command.rows:
        append_decision(db, row)
