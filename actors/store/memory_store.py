"""A store without files, which forgets everything when it goes: for simulation, embedding in tests, and trying out.

It answers as the durable store does; one suite checks both.
"""

from __future__ import annotations

from recalld.actors.store.memory_reader import InMemoryReader
from recalld.actors.store.memory_state import StoreState
from recalld.actors.store.memory_writer import InMemoryWriter


class InMemoryStore:
    """A store in this process's memory, for one thread.

    Attributes:
        reader: The reading side.
        writer: The writing side.
    """

    def __init__(self, *, fold_key: bytes) -> None:
        """Make an empty store; `fold_key` (16 to 64 bytes) keys the digests that recognise the same words."""
        state = StoreState()
        self.reader = InMemoryReader(state)
        self.writer = InMemoryWriter(state, fold_key)
