"""The writing side of the in-memory store."""

from __future__ import annotations

import msgspec

from recalld.actors.store.memory_outcomes import record_outcome, set_standing
from recalld.actors.store.memory_state import Entry, StoreState, Turn, UserState
from recalld.actors.store.rules import (
    EMPTY_BODY,
    admission_decision,
    body_needles,
    brought_up_to_date,
    conflicting_id,
    in_order,
    new_record,
    turn_reason,
    unstorable,
    vectors_fit,
)
from recalld.actors.store.search_text import search_text
from recalld.actors.store.update_rules import (
    check_revision,
    no_live_memory,
    same_words_in_scope,
    update_decision,
    vectors_after,
)
from recalld.models.domain.outcomes import OutcomeRecorded, RecordOutcome
from recalld.models.domain.reasons import RememberOutcome
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
from recalld.models.policy.duplicates import duplicate_digest, tombstone_digest
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
        state = self._state.user(wanted.user)
        earlier = state.turns.get(command.turn_key) if command.turn_key else None
        if earlier is not None:
            memory = _memory_of_turn(state, earlier)
            return Remembered(outcome=earlier.outcome, memory=memory, decision_id=earlier.decision_id)
        outcome, memory = self._store_words(state, command)
        self._append(admission_decision(command, outcome))
        if command.turn_key:
            state.turns[command.turn_key] = Turn(
                decision_id=command.decision.id,
                reason=turn_reason(outcome),
                outcome=outcome,
                memory_id=None if memory is None else memory.id,
                at_ms=command.now_ms,
            )
        return Remembered(outcome=outcome, memory=memory, decision_id=command.decision.id)

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

    async def forget(self, command: Forget) -> Forgotten:
        """Forget memories of one user; a purge leaves nothing of them behind."""
        if command.is_purge:
            return self._purge(command)
        forgotten = self._forget_each(command)
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
        for user in state.users.values():
            user.turns = {key: turn for key, turn in user.turns.items() if turn.at_ms >= before_ms}
        return Checkpointed(is_truncated=True, wal_bytes=0)

    async def truncate_log(self) -> Checkpointed:
        """There is no write-ahead log."""
        return Checkpointed(is_truncated=True, wal_bytes=0)

    def _append(self, row: DecisionRow) -> None:
        self._state.user(row.user)
        self._state.decisions.setdefault(row.id, row)

    def _store_words(self, state: UserState, command: Remember) -> tuple[RememberOutcome | None, Memory | None]:
        wanted = command.memory
        digest = duplicate_digest(wanted.text, self._fold_key)
        tombstone = tombstone_digest(wanted.text, self._fold_key)
        same = state.same_words(wanted.scope, digest)
        is_new = same is None or not same.memory.is_live(command.now_ms)
        if tombstone in state.tombstones and not command.is_explicit:
            return None, None
        if is_new and self._state.is_id_taken(command.memory_id):
            raise conflicting_id(command.memory_id)
        state.tombstones.discard(tombstone)
        if same is not None and not is_new:
            return self._update(same, command)
        if same is not None:
            self._state.withdraw(wanted.user, same)
        return self._create(state, digest, command)

    def _create(self, state: UserState, digest: bytes, command: Remember) -> tuple[RememberOutcome, Memory]:
        memory = new_record(command)
        entry = Entry(memory=memory, digest=digest, found_by=search_text(memory))
        state.entries[memory.id] = entry
        _take_vectors(entry, command)
        self._state.note(memory.user, memory.id)
        return RememberOutcome.CREATED, memory

    def _update(self, same: Entry, command: Remember) -> tuple[RememberOutcome, Memory]:
        memory = brought_up_to_date(same.memory, command.memory, command.now_ms)
        if memory is None:
            return RememberOutcome.DUPLICATE, same.memory
        is_reworded = memory.revision != same.memory.revision
        same.memory = memory
        if is_reworded:
            same.found_by = search_text(memory)
            same.embedder_key, same.vectors, same.is_waiting = "", (), False
            _take_vectors(same, command)
        self._state.note(memory.user, memory.id)
        return RememberOutcome.UPDATED, memory

    def _make_place(self, state: UserState, after: Memory, digest: bytes, now_ms: int) -> None:
        """See to it that the memory's words are free in its new scope."""
        same = state.same_words(after.scope, digest)
        if same is None:
            return
        if same.memory.is_live(now_ms):
            raise same_words_in_scope(after.scope)
        self._state.withdraw(after.user, same)

    def _forget_each(self, command: Forget) -> Forgotten:
        state = self._state.user(command.user)
        ids: list[str] = []
        tombstones = 0
        for memory_id in dict.fromkeys(command.memory_ids):
            entry = state.entries.get(memory_id)
            if entry is None:
                continue
            is_forgotten = entry.memory.status is MemoryStatus.FORGOTTEN
            if not is_forgotten:
                tombstones += self._forget_one(state, entry, command.now_ms)
            if not is_forgotten or command.is_hard:
                ids.append(memory_id)
            if command.is_hard:
                del state.entries[memory_id]
        return Forgotten(ids=tuple(ids), tombstones=tombstones)

    def _forget_one(self, state: UserState, entry: Entry, now_ms: int) -> int:
        """Forget one memory; returns how many tombstones that added."""
        memory = entry.memory
        self._state.withdraw(memory.user, entry)
        digest = tombstone_digest(memory.text, self._fold_key)
        is_new = digest not in state.tombstones
        state.tombstones.add(digest)
        state.reports.forget(memory.id)
        for row in [row for row in self._state.decisions.values() if row.user == memory.user]:
            if any(needle in row.body for needle in body_needles(memory.id, memory.text)):
                self._state.decisions[row.id] = msgspec.structs.replace(row, body=EMPTY_BODY)
        entry.digest = b""
        entry.memory = msgspec.structs.replace(
            memory,
            status=MemoryStatus.FORGOTTEN,
            text="",
            cues=(),
            asks=(),
            cue_origins=(),
            ask_origins=(),
            updated_at_ms=now_ms,
        )
        return int(is_new)

    def _purge(self, command: Forget) -> Forgotten:
        state = self._state.users.get(command.user)
        wanted = dict.fromkeys(command.memory_ids)
        purged = [] if state is None else [state.entries[id_].memory for id_ in wanted if id_ in state.entries]
        if state is None or not purged:
            return Forgotten(ids=(), tombstones=0)
        for memory in purged:
            self._purge_one(state, memory)
        if not state.entries and not state.tombstones:
            self._remove_user(command.user)
        return Forgotten(ids=tuple(memory.id for memory in purged), tombstones=0)

    def _purge_one(self, state: UserState, memory: Memory) -> None:
        user, store = memory.user, self._state
        store.changes = [each for each in store.changes if (each.user, each.memory_id) != (user, memory.id)]
        store.note(user, memory.id)
        del state.entries[memory.id]
        state.reports.forget(memory.id)
        needles = body_needles(memory.id, memory.text)
        turns = {key: turn for key, turn in state.turns.items() if turn.memory_id == memory.id}
        decided = {turn.decision_id for turn in turns.values()}
        state.turns = {key: turn for key, turn in state.turns.items() if key not in turns}
        store.decisions = {
            id_: row
            for id_, row in store.decisions.items()
            if row.user != user or not (id_ in decided or any(needle in row.body for needle in needles))
        }
        state.reports.forget_orphans({id_ for id_, row in store.decisions.items() if row.user == user})

    def _remove_user(self, user: str) -> None:
        """Remove a user of whom no memory is left. The newest change number stays, so that an index learns of it."""
        del self._state.users[user]
        self._state.changes = [change for change in self._state.changes if change.user != user]
        self._state.decisions = {id_: row for id_, row in self._state.decisions.items() if row.user != user}


def _amend(entry: Entry, after: Memory, command: Update) -> bool:
    """Give an entry its changed memory and its vectors; returns whether any text waits for its own."""
    embedder_key = command.embedder_key or entry.embedder_key
    sound = entry.vectors if entry.embedder_key == embedder_key else ()
    vectors = vectors_after(entry.memory, after, sound, command.vectors)
    entry.memory, entry.found_by = after, search_text(after)
    entry.embedder_key, entry.vectors = embedder_key, in_order(vectors.kept)
    entry.is_waiting = bool(vectors.waiting)
    return entry.is_waiting


def _take_vectors(entry: Entry, command: Remember) -> None:
    if vectors_fit(command, entry.memory):
        entry.embedder_key = command.embedder_key
        entry.vectors = in_order(command.vectors)


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
