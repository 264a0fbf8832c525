"""What filters a memory in the index, as arrays: a look at all of a user's memories costs microseconds, not a loop."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from recalld.models.domain.store import EmbeddedMemory

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

    def id_of(self, slot: int) -> str:
        """The id of the memory in a used slot."""
        return self._ids[slot]

    def slot_of(self, memory_id: str) -> int | None:
        """Where a memory is; None when it is not there."""
        return self._slot_of.get(memory_id)

    def add(self, memory: EmbeddedMemory) -> int:
        """Give a memory a slot, as one without vectors. It must not have one."""
        if self._free:
            slot = self._free.pop()
            self._ids[slot] = memory.memory_id
        else:
            slot = self.size
            self._ids.append(memory.memory_id)
            self.size += 1
            if slot == len(self._is_used):
                self._grow()
        self._slot_of[memory.memory_id] = slot
        self._is_used[slot] = True
        self._is_pending[slot] = True
        self._has_asks[slot] = memory.has_asks
        self._expires_ms[slot] = _NEVER_MS if memory.expires_at_ms is None else memory.expires_at_ms
        self._scope_of[slot] = self._scopes.setdefault(memory.scope, len(self._scopes))
        return slot

    def mark_embedded(self, slots: Sequence[int]) -> None:
        """Note that the memories in these slots have vectors."""
        self._is_pending[list(slots)] = False

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
            for array in (self._is_used, self._is_pending, self._has_asks, self._expires_ms, self._scope_of)
        )

    def _grow(self) -> None:
        self._is_used = _doubled(self._is_used)
        self._is_pending = _doubled(self._is_pending)
        self._has_asks = _doubled(self._has_asks)
        self._expires_ms = _doubled(self._expires_ms)
        self._scope_of = _doubled(self._scope_of)


def _doubled(array: NDArray[S]) -> NDArray[S]:
    return np.concatenate([array, np.zeros_like(array)])
