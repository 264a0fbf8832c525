"""The store of one labelled row: its memories with their vectors, readable as the daemon's own store is."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.actors.admission.saving import texts_of
from recalld.actors.store.memory_reader import InMemoryReader
from recalld.actors.store.memory_state import Entry, StoreState
from recalld.actors.store.search_text import search_text
from recalld.daemon.evaluation.meter import Meter
from recalld.models.domain.records import Memory
from recalld.models.domain.store import TextVector


def shelve(memories: Sequence[Memory], meter: Meter, *, user: str, embedder_key: str) -> InMemoryReader:
    """A store that holds these memories as they are, and nothing else.

    Nothing is merged or replaced, as it might be if they were saved one by one: the labels name each of them.

    Args:
        memories: Each id once.
        meter: Embeds their texts.
        user: Whose they are.
        embedder_key: Whose vectors these are.
    """
    state = StoreState()
    entries = state.user(user).entries
    for memory in memories:
        entries[memory.id] = Entry(
            memory=memory,
            digest=memory.id.encode(),
            found_by=search_text(memory),
            embedder_key=embedder_key,
            vectors=tuple(
                TextVector(role=role, ordinal=ordinal, data=meter.embed(text, is_query=False).astype("<f2").tobytes())
                for role, ordinal, text in texts_of(memory)
            ),
        )
        state.note(user, memory.id)
    return InMemoryReader(state)
