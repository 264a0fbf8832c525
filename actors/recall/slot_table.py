"""What filters a memory in the index, as arrays: a look at all of a user's memories costs microseconds, not a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recalld.models.domain.store import EmbeddedMemory
from recalld.models.domain.time_window import TimeWindow

S = TypeVar("S", bound=np.generic)

_SLOTS_INITIAL = 64
_NEVER_MS = np.iinfo(np.int64).max
_GLOBAL = 0
"""Number of the global scope, which every other scope sees as well."""


class SlotTable:
    """A place for each memory, reused when it goes.

    Attributes:
        size: Slots ever used: the length of everything that is per slot.
    """

    def __init__(self) -> None:
        self.size = 0
        self._ids: list[str] = []
        self._slot_of: dict[str, int] = {}
        self._free: list[int] = []
        self._scopes: dict[str, int] = {"": _GLOBAL}
        self._is_used: NDArray[np.bool_] = np.zeros(_SLOTS_INITIAL, dtype=np.bool_)
        self._is_pending: NDArray[np.bool_] = np.zeros(_SLOTS_INITIAL, dtype=np.bool_)
        self._has_asks: NDArray[np.bool_] = np.zeros(_SLOTS_INITIAL, dtype=np.bool_)
        self._expires_ms: NDArray[np.int64] = np.full(_SLOTS_INITIAL, _NEVER_MS, dtype=np.int64)
        self._scope_of: NDArray[np.int64] = np.zeros(_SLOTS_INITIAL, dtype=np.int64)
        self._times_ms: NDArray[np.int64] = np.zeros((_SLOTS_INITIAL, 2), dtype=np.int64)

    def id_of(self, slot: int) -> str:
        """The id of the memory in a used slot."""
        return self._ids[slot]

    def slot_of(self, memory_id: str) -> int | None:
        """Where a memory is; None when it is not there."""
        return self._slot_of.get(memory_id)

    def known(self, memory_ids: Sequence[str]) -> list[str]:
        """Those of the ids whose memories have a slot."""
        return [memory_id for memory_id in memory_ids if memory_id in self._slot_of]

    def times_of(self, slot: int) -> tuple[int, int]:
        """When the memory in a used slot was made and last changed, Unix epoch milliseconds."""
        made_ms, changed_ms = self._times_ms[slot].tolist()
        return made_ms, changed_ms

    def add(self, memories: Sequence[EmbeddedMemory]) -> NDArray[np.int64]:
        """Give memories a slot each, as ones without vectors, shape (memories,). They must not have one."""
        slots = self._places(len(memories))
        ids = [memory.memory_id for memory in memories]
        self._slot_of.update(zip(ids, slots, strict=True))
        for slot, memory_id in zip(slots, ids, strict=True):
            self._ids[slot] = memory_id
        # All of a column at once: setting numbers one by one would cost more than everything else here.
        where = np.array(slots, dtype=np.int64)
        self._is_used[where] = True
        self._is_pending[where] = True
        self._has_asks[where] = [memory.has_asks for memory in memories]
        self._expires_ms[where] = [_NEVER_MS if each.expires_at_ms is None else each.expires_at_ms for each in memories]
        self._times_ms[where, 0] = [memory.created_at_ms for memory in memories]
        self._times_ms[where, 1] = [memory.updated_at_ms for memory in memories]
        self._scope_of[where] = [self._scopes.setdefault(memory.scope, len(self._scopes)) for memory in memories]
        return where

    def mark_embedded(self, slots: NDArray[np.int64]) -> None:
        """Note that the memories in these slots have vectors."""
        self._is_pending[slots] = False

    def remove(self, memory_id: str) -> int | None:
        """Take a memory out; the slot it had, or None."""
        slot = self._slot_of.pop(memory_id, None)
        if slot is not None:
            self._ids[slot] = ""
            self._is_used[slot] = False
            self._free.append(slot)
        return slot

    def live(self, now_ms: int) -> NDArray[np.bool_]:
        """Which slots hold a memory that has not expired, shape (size,)."""
        return self._is_used[: self.size] & (now_ms < self._expires_ms[: self.size])

    def in_scope(self, scope: str | None) -> NDArray[np.bool_]:
        """Which slots are visible from a scope (None: all), shape (size,)."""
        if scope is None:
            return np.ones(self.size, dtype=np.bool_)
        scopes = self._scope_of[: self.size]
        wanted = self._scopes.get(scope)
        is_global: NDArray[np.bool_] = scopes == _GLOBAL
        return is_global if wanted is None else is_global | (scopes == wanted)

    def in_windows(self, windows: Sequence[TimeWindow]) -> NDArray[np.bool_]:
        """Which slots were made or changed in one of the windows (none given: all), shape (size,)."""
        if not windows:
            return np.ones(self.size, dtype=np.bool_)
        times_ms = self._times_ms[: self.size]
        found = np.zeros(self.size, dtype=np.bool_)
        for window in windows:
            is_in = np.ones(times_ms.shape, dtype=np.bool_)
            if window.start_ms is not None:
                is_in &= times_ms >= window.start_ms
            if window.end_ms is not None:
                is_in &= times_ms < window.end_ms
            found |= is_in.any(axis=1)
        return found

    def pending(self) -> NDArray[np.bool_]:
        """Which slots have no vector, shape (size,)."""
        return self._is_pending[: self.size]

    def without_asks(self) -> NDArray[np.bool_]:
        """Which slots hold a record without asks, shape (size,)."""
        without: NDArray[np.bool_] = ~self._has_asks[: self.size]
        return without

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays."""
        return sum(
            array.nbytes
            for array in (
                self._is_used,
                self._is_pending,
                self._has_asks,
                self._expires_ms,
                self._scope_of,
                self._times_ms,
            )
        )

    def _places(self, count: int) -> list[int]:
        """So many slots: those that are free first."""
        reused = [self._free.pop() for _ in range(min(count, len(self._free)))]
        fresh = range(self.size, self.size + count - len(reused))
        self._ids.extend("" for _ in fresh)
        self.size += len(fresh)
        while self.size > len(self._is_used):
            self._grow()
        return [*reused, *fresh]

    def _grow(self) -> None:
        self._is_used = _doubled(self._is_used)
        self._is_pending = _doubled(self._is_pending)
        self._has_asks = _doubled(self._has_asks)
        self._expires_ms = _doubled(self._expires_ms)
        self._scope_of = _doubled(self._scope_of)
        self._times_ms = _doubled(self._times_ms)


def _doubled(array: NDArray[S]) -> NDArray[S]:
    return np.concatenate([array, np.zeros_like(array)])
