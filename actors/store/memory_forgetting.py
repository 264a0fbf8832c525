"""Forgetting and purging in the in-memory store."""

from __future__ import annotations

import msgspec

from recalld.actors.store.forgetting_rules import Sought, reach_of
from recalld.actors.store.memory_audit import forget_samples, forget_sought
from recalld.actors.store.memory_pending_turns import forget_pending
from recalld.actors.store.memory_sought import forget_notes
from recalld.actors.store.memory_state import Entry, StoreState, UserState
from recalld.actors.store.rules import EMPTY_BODY, body_needles
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.domain.store import Forget, Forgotten
from recalld.models.domain.user_data import PurgeUser, UserPurged
from recalld.models.policy.duplicates import tombstone_digest


def forget_each(store: StoreState, fold_key: bytes, command: Forget) -> Forgotten:
    """Forget memories of one user."""
    state = store.user(command.user)
    sought = Sought(words=frozenset(command.words))
    notes = forget_notes(state, sought)
    forget_sought(state, sought)
    ids: list[str] = []
    tombstones = 0
    for memory_id in dict.fromkeys(command.memory_ids):
        entry = state.entries.get(memory_id)
        if entry is None:
            continue
        is_forgotten = entry.memory.status is MemoryStatus.FORGOTTEN
        if not is_forgotten:
            tombstones += _forget_one(store, state, fold_key, entry, command.now_ms)
        if not is_forgotten or command.is_hard:
            ids.append(memory_id)
        if command.is_hard:
            del state.entries[memory_id]
    return Forgotten(ids=tuple(ids), tombstones=tombstones, notes=notes)


def purge_memories(store: StoreState, command: Forget) -> Forgotten:
    """Leave nothing of the named memories, and not the user either once nothing is left."""
    state = store.users.get(command.user)
    wanted = dict.fromkeys(command.memory_ids)
    purged = [] if state is None else [state.entries[id_].memory for id_ in wanted if id_ in state.entries]
    if state is None or not purged:
        return Forgotten(ids=(), tombstones=0)
    for memory in purged:
        _purge_one(store, state, memory)
    if not state.entries and not state.tombstones:
        remove_user(store, command.user)
    return Forgotten(ids=tuple(memory.id for memory in purged), tombstones=0)


def purge_user(store: StoreState, command: PurgeUser) -> UserPurged:
    """Leave nothing of a user."""
    state = store.users.get(command.user)
    if state is None:
        return UserPurged(memories=0)
    purged = UserPurged(
        memories=len(state.entries),
        observations=len(state.admission.observations),
        proposals=len(state.admission.proposals),
    )
    store.note(command.user, "")
    remove_user(store, command.user)
    return purged


def remove_user(store: StoreState, user: str) -> None:
    """Remove a user of whom nothing is left. The newest change number stays, so that an index learns of it."""
    del store.users[user]
    store.changes = [change for change in store.changes if change.user != user]
    store.decisions = {id_: row for id_, row in store.decisions.items() if row.user != user}
    store.ledger.drop_user(user)


def _forget_one(store: StoreState, state: UserState, fold_key: bytes, entry: Entry, now_ms: int) -> int:
    """Forget one memory; returns how many tombstones that added."""
    memory = entry.memory
    store.withdraw(memory.user, entry)
    digest = tombstone_digest(memory.text, fold_key)
    is_new = digest not in state.tombstones
    state.tombstones.add(digest)
    state.reports.forget(memory.id)
    _forget_derived(state, memory)
    for row in [row for row in store.decisions.values() if row.user == memory.user]:
        if any(needle in row.body for needle in body_needles(memory.id, memory.text)):
            store.decisions[row.id] = msgspec.structs.replace(row, body=EMPTY_BODY)
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


def _forget_derived(state: UserState, memory: Memory) -> None:
    """Forget what speaks for a memory, what it states values of, and what would bring it back."""
    admission = state.admission
    evidence = tuple(admission.evidence_of(memory.id))
    reach = reach_of(memory, admission.slots.get(memory.id, ()), (each.quote for each in evidence))
    forget_pending(state.pending, reach, evidence)
    forget_samples(state, reach)
    observed = [row.id for row in admission.observations.values() if reach.holds_observation(row)]
    proposed = [row.id for row in admission.proposals.values() if reach.holds_proposal(row)]
    for note_id in observed:
        del admission.observations[note_id]
    for note_id in proposed:
        del admission.proposals[note_id]
    gone = {memory.id, *observed, *proposed}
    admission.evidence = [
        msgspec.structs.replace(each, evidence=msgspec.structs.replace(each.evidence, quote=""))
        if reach.holds_quote(each.evidence.quote)
        else each
        for each in admission.evidence
        if each.holder_id not in gone
    ]
    admission.slots.pop(memory.id, None)
    admission.closings = {
        older_id: each for older_id, each in admission.closings.items() if memory.id not in (older_id, each.by)
    }


def _purge_one(store: StoreState, state: UserState, memory: Memory) -> None:
    user = memory.user
    store.changes = [each for each in store.changes if (each.user, each.memory_id) != (user, memory.id)]
    store.note(user, memory.id)
    del state.entries[memory.id]
    state.reports.forget(memory.id)
    _forget_derived(state, memory)
    needles = body_needles(memory.id, memory.text)
    turns = {key: turn for key, turn in state.turns.items() if _led_to(state, key, memory.id)}
    decided = {turn.decision_id for turn in turns.values()}
    state.turns = {key: turn for key, turn in state.turns.items() if key not in turns}
    for key in turns:
        state.admission.results.pop(key, None)
    store.decisions = {
        id_: row
        for id_, row in store.decisions.items()
        if row.user != user or not (id_ in decided or any(needle in row.body for needle in needles))
    }
    state.reports.forget_orphans({id_ for id_, row in store.decisions.items() if row.user == user})


def _led_to(state: UserState, turn_key: str, memory_id: str) -> bool:
    """Whether a turn led to a memory, as its first or as any of its facts."""
    if state.turns[turn_key].memory_id == memory_id:
        return True
    results = state.admission.results.get(turn_key)
    return results is not None and any(memory_id in (fact.memory_id, *fact.superseded) for fact in results.facts)
