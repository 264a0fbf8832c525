"""A bounded cache that forgets what was used longest ago."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """At most `entries_max` entries; 0 keeps nothing."""

    def __init__(self, entries_max: int) -> None:
        if entries_max < 0:
            msg = f"entries_max is {entries_max}: give 0 (no cache) or more"
            raise ValueError(msg)
        self._entries_max = entries_max
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """The value, which then counts as used; None when it is not there."""
        value = self._entries.get(key)
        if value is not None:
            self._entries.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        """Keep a value, and forget the ones used longest ago that no longer fit."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        while len(self._entries) > self._entries_max:
            self._entries.popitem(last=False)
