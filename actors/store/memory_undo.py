"""Taking back what was done to the in-memory store: a copy of what it was, put back in place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager

from recalld.actors.store.memory_outcome_state import OutcomeState
from recalld.actors.store.memory_state import StoreState, UserState


class StateAttempt:
    """Work on one user of a store that can be taken back. Costs a walk over everything the user has.

    Args:
        store: The store.
        user: The only user whose tables are changed meanwhile.
    """

    def __init__(self, store: StoreState, user: str) -> None:
        self._store = store
        self._user = user
        self._state = store.users.get(user)
        self._saved = None if self._state is None else _copied(self._state)
        self._decisions = dict(store.decisions)
        self._ledger = store.ledger.copied()
        self._changes = list(store.changes)
        self._seqs = dict(store.seqs)
        self._newest_seq = store.newest_seq

    def undo(self) -> None:
        """Take back everything that was done since."""
        store, state = self._store, self._state
        store.decisions, store.changes = dict(self._decisions), list(self._changes)
        store.ledger = self._ledger.copied()
        store.seqs, store.newest_seq = dict(self._seqs), self._newest_seq
        if state is None or self._saved is None:
            store.users.pop(self._user, None)
            return
        # The tables are put back into the same object: others hold on to it.
        saved = _copied(self._saved)
        for name in state.__struct_fields__:
            setattr(state, name, getattr(saved, name))
        store.users[self._user] = state


@contextmanager
def all_or_nothing(store: StoreState, user: str) -> Iterator[None]:
    """Take back what the block did to a user if it raises."""
    attempt = StateAttempt(store, user)
    try:
        yield
    except BaseException:
        attempt.undo()
        raise


def _copied(state: UserState) -> UserState:
    reports = OutcomeState(outcomes=list(state.reports.outcomes), choices=dict(state.reports.choices))
    return UserState(
        last_seq=state.last_seq,
        entries={memory_id: copy.copy(entry) for memory_id, entry in state.entries.items()},
        tombstones=set(state.tombstones),
        turns=dict(state.turns),
        reports=reports,
        admission=state.admission.copied(),
        pending=state.pending.copied(),
        samples=dict(state.samples),
    )
