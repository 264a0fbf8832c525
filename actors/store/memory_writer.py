"""The writing side of the in-memory store."""

from __future__ import annotations

import msgspec

from recalld.actors.store import memory_audit, memory_pending_turns
from recalld.actors.store.admitting import admit_turn
from recalld.actors.store.confirming import confirm
from recalld.actors.store.importing import import_memories
from recalld.actors.store.memory_forgetting import forget_each, purge_memories, purge_user
from recalld.actors.store.memory_outcomes import record_outcome, set_standing
from recalld.actors.store.memory_state import Entry, StoreState, Turn, UserState
from recalld.actors.store.memory_tables import InMemoryTables
from recalld.actors.store.memory_undo import all_or_nothing
from recalld.actors.store.rules import in_order, unstorable
from recalld.actors.store.saving import remember
from recalld.actors.store.search_text import search_text
from recalld.actors.store.settling import settle_observation
from recalld.actors.store.update_rules import (
    check_revision,
    no_live_memory,
    same_words_in_scope,
    update_decision,
    vectors_after,
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
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.standing import SetStanding, StandingSet
from recalld.models.domain.store import (
    AppendDecisions,
    Checkpoint,
    Checkpointed,
    DecisionRow,
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
from recalld.models.policy.memory_changes import changed_memory


class InMemoryWriter:
    """Implements `MemoryWriter`. No method awaits anything before it is done, so each call is all or nothing."""

    def __init__(self, state: StoreState, fold_key: bytes) -> None:
        self._state = state
        self._fold_key = fold_key

    async def remember(self, command: Remember) -> Remembered:
        """Store a memory. Raises `CONFLICT` when a new memory's id is taken, `BAD_REQUEST` for text not Unicode."""
        wanted = command.memory
        _check_encodable(wanted.user, wanted.text, wanted.scope, *wanted.cues, *wanted.asks)
        with all_or_nothing(self._state, wanted.user):
            return remember(self._tables(wanted.user), command)

    async def admit_turn(self, command: AdmitTurn) -> TurnAdmitted:
        """Write all facts of a turn, once. Raises `CONFLICT` for an id that is taken."""
        _check_storable(command)
        with all_or_nothing(self._state, command.user):
            return admit_turn(self._tables(command.user), command)

    async def confirm(self, command: Confirm) -> Confirmed:
        """Answer a proposal. Raises `NOT_FOUND`, `FORBIDDEN` and `CONFLICT`."""
        _check_storable(command)
        with all_or_nothing(self._state, command.user):
            return confirm(self._tables(command.user), command)

    async def settle_observation(self, command: SettleObservation) -> ObservationSettled:
        """Take a person's word on an observation. Raises `NOT_FOUND`, `FORBIDDEN` and `CONFLICT`."""
        _check_storable(command)
        with all_or_nothing(self._state, command.user):
            return settle_observation(self._tables(command.user), command)

    async def import_memories(self, command: ImportMemories) -> MemoriesImported:
        """Take over memories that were exported."""
        _check_storable(command)
        with all_or_nothing(self._state, command.user):
            return import_memories(self._tables(command.user), command)

    async def purge_user(self, command: PurgeUser) -> UserPurged:
        """Leave nothing of a user."""
        return purge_user(self._state, command)

    async def record_turn(self, command: RecordTurn) -> TurnRecorded:
        """Note that an observed turn led to nothing, or answer with what it led to when it was first seen."""
        state = self._state.user(command.user)
        earlier = state.turns.get(command.turn_key)
        if earlier is not None:
            memory = _memory_of_turn(state, earlier)
            return TurnRecorded(decision_id=earlier.decision_id, reason=earlier.reason, memory=memory)
        self._append(command.decision)
        state.turns[command.turn_key] = Turn(
            decision_id=command.decision.id,
            reason=command.reason,
            outcome=None,
            memory_id=None,
            at_ms=command.decision.at_ms,
        )
        return TurnRecorded(decision_id=command.decision.id, reason=command.reason)

    async def append_pending(self, command: AppendPending) -> bool:
        """Put a turn among those that wait for a model; False when it is not taken."""
        _check_storable(command)
        return memory_pending_turns.append_pending(self._state, command)

    async def settle_pending(self, command: SettlePending) -> PendingCounts:
        """Note what became of turns that waited for a model."""
        return memory_pending_turns.settle_pending(self._state, command)

    async def forget(self, command: Forget) -> Forgotten:
        """Forget memories of one user; a purge leaves nothing of them behind."""
        if command.is_purge:
            return purge_memories(self._state, command)
        forgotten = forget_each(self._state, self._fold_key, command)
        self._append(command.decision)
        return forgotten

    async def put_vectors(self, command: PutVectors) -> bool:
        """Attach vectors; False when the memory changed or went away meanwhile, or there are no vectors."""
        state = self._state.users.get(command.user)
        entry = None if state is None else state.entries.get(command.memory_id)
        if entry is None or not entry.is_indexed or entry.memory.revision != command.revision or not command.vectors:
            return False
        entry.embedder_key = command.embedder_key
        entry.vectors = in_order(command.vectors)
        entry.is_waiting = False
        self._state.note(command.user, command.memory_id)
        return True

    async def update(self, command: Update) -> Updated:
        """Change a live memory. Raises `NOT_FOUND` and `CONFLICT`, `BAD_REQUEST` for text that is not Unicode."""
        changes = command.changes
        _check_encodable(changes.scope or "", *(changes.cues or ()), *(changes.asks or ()))
        state = self._state.users.get(command.user, UserState())
        entry = state.entries.get(command.memory_id)
        if entry is None or not entry.is_indexed or not entry.memory.is_live(command.now_ms):
            raise no_live_memory(command.memory_id)
        before = entry.memory
        check_revision(before, command.if_revision)
        after = changed_memory(before, changes, now_ms=command.now_ms)
        if after is None:
            is_embedded = bool(entry.vectors) and not entry.is_waiting
            return Updated(memory=before, is_changed=False, is_embedded=is_embedded)
        if after.scope != before.scope:
            self._make_place(state, after, entry.digest, command.now_ms)
        waiting = _amend(entry, after, command)
        self._state.note(command.user, after.id)
        self._append(update_decision(command, before, after))
        return Updated(memory=after, is_changed=True, is_embedded=not waiting)

    async def record_outcome(self, command: RecordOutcome) -> OutcomeRecorded:
        """Keep a report on something that was decided."""
        return record_outcome(self._state, command)

    async def set_standing(self, command: SetStanding) -> StandingSet:
        """Note what a person decided about a memory and the standing block."""
        return set_standing(self._state, command)

    async def note_audit(self, command: NoteAudit) -> None:
        """Note that somebody went through the newest memories."""
        self._state.audited_at_ms = command.at_ms

    async def append_samples(self, command: AppendSamples) -> int:
        """Keep samples for an audit; how many were kept."""
        return memory_audit.append_samples(self._state, command)

    async def mark_sample(self, command: MarkSample) -> None:
        """Note what somebody says of a sample. Raises `NOT_FOUND`."""
        memory_audit.mark_sample(self._state, command)

    async def append_decisions(self, command: AppendDecisions) -> None:
        """Append ledger rows; a row whose id is there already is skipped."""
        for row in command.rows:
            self._append(row)

    async def expire(self, command: Expire) -> Expired:
        """Sweep what expired."""
        swept = [
            (user, entry)
            for user, state in self._state.users.items()
            for entry in state.indexed()
            if not entry.memory.is_live(command.now_ms)
        ]
        for user, entry in sorted(swept, key=lambda each: (each[1].memory.expires_at_ms or 0, each[1].memory.id)):
            self._state.withdraw(user, entry)
        return Expired(count=len(swept), users=tuple(sorted({user for user, _ in swept})))

    async def checkpoint(self, command: Checkpoint) -> Checkpointed:
        """Trim the change log and the ledger; there is no write-ahead log."""
        state = self._state
        newest = state.changes[-1].seq if state.changes else 0
        state.trimmed_through = max(state.trimmed_through, newest - max(command.changes_keep, 0))
        state.changes = [change for change in state.changes if change.seq > state.trimmed_through]
        before_ms = command.now_ms - command.ledger_keep_ms
        state.decisions = {id_: row for id_, row in state.decisions.items() if row.at_ms >= before_ms}
        state.ledger.trim(before_ms)
        memory_audit.trim_samples(state, command.now_ms - command.samples_keep_ms)
        for user in state.users.values():
            user.turns = {key: turn for key, turn in user.turns.items() if turn.at_ms >= before_ms}
            results = user.admission.results
            user.admission.results = {key: each for key, each in results.items() if key in user.turns}
        return Checkpointed(is_truncated=True, wal_bytes=0)

    async def truncate_log(self) -> Checkpointed:
        """There is no write-ahead log."""
        return Checkpointed(is_truncated=True, wal_bytes=0)

    def _append(self, row: DecisionRow) -> None:
        self._state.append_decision(row)

    def _tables(self, user: str) -> InMemoryTables:
        return InMemoryTables(self._state, self._fold_key, user)

    def _make_place(self, state: UserState, after: Memory, digest: bytes, now_ms: int) -> None:
        """See to it that the memory's words are free in its new scope."""
        same = state.same_words(after.scope, digest)
        if same is None:
            return
        if same.memory.is_live(now_ms):
            raise same_words_in_scope(after.scope)
        self._state.withdraw(after.user, same)


def _amend(entry: Entry, after: Memory, command: Update) -> bool:
    """Give an entry its changed memory and its vectors; returns whether any text waits for its own."""
    embedder_key = command.embedder_key or entry.embedder_key
    sound = entry.vectors if entry.embedder_key == embedder_key else ()
    vectors = vectors_after(entry.memory, after, sound, command.vectors)
    entry.memory, entry.found_by = after, search_text(after)
    entry.embedder_key, entry.vectors = embedder_key, in_order(vectors.kept)
    entry.is_waiting = bool(vectors.waiting)
    return entry.is_waiting


def _memory_of_turn(state: UserState, turn: Turn) -> Memory | None:
    """The memory a turn led to, as it is now; None when it led to none or the memory was forgotten since."""
    entry = None if turn.memory_id is None else state.entries.get(turn.memory_id)
    if entry is None or entry.memory.status is MemoryStatus.FORGOTTEN:
        return None
    return entry.memory


def _check_encodable(*texts: str) -> None:
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError as error:
        raise unstorable(type(error).__name__) from error


def _check_storable(command: AdmitTurn | Confirm | SettleObservation | ImportMemories | AppendPending) -> None:
    """As `_check_encodable`, of every text in a command."""
    try:
        msgspec.json.encode(command)
    except UnicodeEncodeError as error:
        raise unstorable(type(error).__name__) from error
