"""What a store decides when a memory is updated, the same in every implementation of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from recalld.models.domain.cues import MemoryChanges
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import Memory, VectorRole
from recalld.models.domain.store import DecisionRow, TextVector, Update
from recalld.models.policy.memory_changes import summary
from recalld.models.policy.passages import split_passages

TextPlace = tuple[VectorRole, int]
"""Which text of a memory: its role, and its ordinal among the texts of that role."""


class VectorsAfter(NamedTuple):
    """The vectors of a memory after an update.

    Attributes:
        kept: Vectors of texts that stay, at their new places, and of new texts.
        waiting: Places of texts without a vector.
    """

    kept: tuple[TextVector, ...]
    waiting: tuple[TextPlace, ...]


def vectors_after(
    before: Memory, after: Memory, stored: Iterable[TextVector], brought: Sequence[TextVector]
) -> VectorsAfter:
    """Which vectors a memory has after an update.

    A text that stays keeps its vector, wherever it stands now; a new one has what the update brought for its place.

    Args:
        before: The memory as it was.
        after: As it is now.
        stored: Its sound vectors so far, comparable with those brought.
        brought: Vectors of cues and asks, by their places in `after`.
    """
    by_place = {(vector.role, vector.ordinal): vector.data for vector in stored}
    places = _texts(before)
    by_text = {(place[0], text): by_place[place] for place, text in places.items() if place in by_place}
    new = {(vector.role, vector.ordinal): vector.data for vector in brought}
    kept: list[TextVector] = []
    waiting: list[TextPlace] = []
    for place, text in _texts(after).items():
        role, ordinal = place
        data = by_text.get((role, text), new.get(place))
        if data is None:
            waiting.append(place)
        else:
            kept.append(TextVector(role=role, ordinal=ordinal, data=data))
    return VectorsAfter(tuple(kept), tuple(waiting))


def new_texts(memory: Memory, changes: MemoryChanges) -> dict[TextPlace, str]:
    """Cues and asks that changes bring and a memory has not yet, by their places after the change."""
    cues, asks = set(memory.cues), set(memory.asks)
    texts = {(VectorRole.CUE, place): cue for place, cue in enumerate(changes.cues or ()) if cue not in cues}
    return texts | {(VectorRole.ASK, place): ask for place, ask in enumerate(changes.asks or ()) if ask not in asks}


def update_decision(command: Update, before: Memory, after: Memory) -> DecisionRow:
    """The ledger row with what was changed, which only the store knows for certain: names of fields, and counts."""
    body = msgspec.json.encode(summary(before, after, command.note))
    return msgspec.structs.replace(command.decision, body=body)


def check_revision(memory: Memory, if_revision: int | None) -> None:
    """Check that a memory is still what the caller read.

    Raises:
        RecalldError: `CONFLICT`.
    """
    if if_revision is not None and memory.revision != if_revision:
        message = f"if_revision: the memory has revision {memory.revision}, not {if_revision}; read it again"
        raise RecalldError(ErrorCode.CONFLICT, message)


def no_live_memory(memory_id: str) -> RecalldError:
    """The error for an update of what is not there, or no longer live."""
    return RecalldError(ErrorCode.NOT_FOUND, f"memory_id: there is no live memory {memory_id!r} of this user")


def same_words_in_scope(scope: str) -> RecalldError:
    """The error for a new scope in which the same words are stored already."""
    where = f"the scope {scope!r}" if scope else "the global scope"
    message = f"scope: the same words are stored in {where} already; forget one of the two first"
    return RecalldError(ErrorCode.CONFLICT, message)


def _texts(memory: Memory) -> dict[TextPlace, str]:
    return {
        **{(VectorRole.RECORD, place): passage for place, passage in enumerate(split_passages(memory.text))},
        **{(VectorRole.CUE, place): cue for place, cue in enumerate(memory.cues)},
        **{(VectorRole.ASK, place): ask for place, ask in enumerate(memory.asks)},
    }
