"""Turns that wait for a language model, in the in-memory store."""

from __future__ import annotations

import msgspec

from recalld.actors.store.forgetting_rules import Reach
from recalld.actors.store.memory_pending_state import PendingState
from recalld.actors.store.memory_state import StoreState
from recalld.models.domain.admission_store import Evidence
from recalld.models.domain.extraction import AppendPending, PendingCounts, PendingTurn, SettlePending

_KEY_SEPARATOR = "\x1f"


def append_pending(store: StoreState, command: AppendPending) -> bool:
    """Put a turn there; False when it waits already, was decided about before, or too many wait."""
    turn, state = command.turn, store.user(command.user)
    pending = state.pending
    key = (turn.session, turn.turn_id)
    is_known = _KEY_SEPARATOR.join(key) in state.turns
    is_waiting = any((each.session, each.turn_id) == key for each in pending.turns.values())
    if is_known or is_waiting:
        return False
    if len(pending.turns) >= command.pending_max:
        pending.overflowed += 1
        return False
    store.newest_pending += 1
    pending.turns[store.newest_pending] = msgspec.structs.replace(
        turn, number=store.newest_pending, group=0, failures=0
    )
    return True


def settle_pending(store: StoreState, command: SettlePending) -> PendingCounts:
    """Note what became of turns; how many are left."""
    state = store.users.get(command.user)
    if state is None:
        return PendingCounts()
    pending = state.pending
    for number in command.read:
        pending.remove(number)
    pending.expired += sum(pending.remove(number) for number in command.expired)
    for each in command.failed:
        if each.number in pending.turns:
            pending.turns[each.number] = msgspec.structs.replace(
                pending.turns[each.number], group=each.group, failures=each.failures
            )
    for number in command.set_aside:
        if number in pending.turns:
            turn = pending.turns[number]
            pending.turns[number] = msgspec.structs.replace(turn, failures=turn.failures + 1)
            pending.set_aside.add(number)
    for number in sorted(pending.set_aside, key=lambda each: (pending.turns[each].failures, each))[: command.retried]:
        pending.turns[number] = msgspec.structs.replace(pending.turns[number], group=number)
        pending.set_aside.discard(number)
    return pending_counts(store, command.user)


def pending_turns(store: StoreState, user: str, *, limit: int) -> tuple[PendingTurn, ...]:
    """Turns that wait and were not set aside, in order of arrival."""
    state = store.users.get(user)
    return () if state is None else state.pending.waiting()[:limit]


def pending_users(store: StoreState) -> tuple[str, ...]:
    """Users with turns that wait and were not set aside, by the age of their oldest."""
    oldest = {user: waiting[0].number for user, state in store.users.items() if (waiting := state.pending.waiting())}
    return tuple(sorted(oldest, key=lambda user: oldest[user]))


def pending_counts(store: StoreState, user: str | None) -> PendingCounts:
    """How many turns wait, of one user or (None) of all."""
    states = [state.pending for name, state in store.users.items() if user in {None, name}]
    waiting = [turn for state in states for turn in state.waiting()]
    return PendingCounts(
        waiting=len(waiting),
        set_aside=sum(len(state.set_aside) for state in states),
        expired=sum(state.expired for state in states),
        overflowed=sum(state.overflowed for state in states),
        oldest_at_ms=min((turn.added_at_ms for turn in waiting), default=None),
    )


def forget_pending(pending: PendingState, reach: Reach, evidence: tuple[Evidence, ...]) -> None:
    """Remove turns that speak for a memory, or repeat its words."""
    spoke = {(each.session, each.turn_id) for each in evidence}
    for number, turn in tuple(pending.turns.items()):
        if (turn.session, turn.turn_id) in spoke or reach.holds_quote(turn.text):
            pending.remove(number)
