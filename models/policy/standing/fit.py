"""Fitting ranked memories into a block: whole ones only, within characters, lines and tokens, separators included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.domain.records import Memory
from recalld.models.domain.standing import StandingPointer, StandingRow, StandingVerdict
from recalld.models.policy.standing.measure import TextSize, size_of

SEPARATOR_CHARS: Final = 1
"""Between two entries: a line break."""
POINTERS_MAX: Final = 3
POINTER_SHARE: Final = 4
"""At most a quarter of the characters go to pointers: what holds comes before what used to."""
POINTER_CUE_CHARS: Final = 60
_POINTED_AT: Final = frozenset({StandingVerdict.BELOW_BAR, StandingVerdict.DEMOTED})
_OVER: Final = frozenset({StandingVerdict.OVER_CHARS, StandingVerdict.OVER_LINES, StandingVerdict.OVER_TOKENS})


class BlockLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a block may take.

    Attributes:
        chars_max: Characters, separators included.
        lines_max: Lines; a memory of several lines counts each.
        tokens_max: Estimated tokens.
    """

    chars_max: int
    lines_max: int
    tokens_max: int


class FittedBlock(msgspec.Struct, frozen=True, kw_only=True):
    """What fits.

    Attributes:
        rows: All rows in rank order, with their final verdicts.
        pointers: Demoted ones that can be asked for, in rank order.
        left_out: Demoted and not fitting ones without a pointer.
        chars: Of memories and pointers, separators included.
        tokens: Estimated, for the same.
    """

    rows: tuple[StandingRow, ...]
    pointers: tuple[StandingPointer, ...]
    left_out: int
    chars: int
    tokens: int

    @property
    def memories(self) -> tuple[Memory, ...]:
        """What is shown, best first."""
        return tuple(row.candidate.memory for row in self.rows if row.verdict is StandingVerdict.SHOWN)


class _Room:
    """What of the limits is left while a block is filled."""

    def __init__(self, limits: BlockLimits) -> None:
        self._limits = limits
        self._entries = 0
        self.chars = 0
        self.lines = 0
        self.tokens = 0

    def obstacle(self, size: TextSize) -> StandingVerdict | None:
        """Which limit an entry would exceed; None when it fits."""
        if self.chars + self._chars_of(size) > self._limits.chars_max:
            return StandingVerdict.OVER_CHARS
        if self.lines + size.lines > self._limits.lines_max:
            return StandingVerdict.OVER_LINES
        if self.tokens + size.tokens > self._limits.tokens_max:
            return StandingVerdict.OVER_TOKENS
        return None

    def take(self, size: TextSize) -> None:
        """Make an entry."""
        self.chars += self._chars_of(size)
        self.lines += size.lines
        self.tokens += size.tokens
        self._entries += 1

    def _chars_of(self, size: TextSize) -> int:
        return size.chars + (SEPARATOR_CHARS if self._entries else 0)


def fit(rows: Sequence[StandingRow], limits: BlockLimits) -> FittedBlock:
    """Fill a block: first a few pointers to what was demoted, then whole memories in rank order while they fit.

    A memory that does not fit is left out whole and the next one tried, so that a lower cap still gives the best that
    fits it. What is shown is always a subsequence of the ranking.

    Raises:
        ValueError: A limit is negative.
    """
    if min(limits.chars_max, limits.lines_max, limits.tokens_max) < 0:
        message = f"limits must not be negative: {limits}"
        raise ValueError(message)
    room = _Room(limits)
    pointers = _take_pointers(rows, room, limits)
    fitted = tuple(_placed(row, room) for row in rows)
    unshown = sum(row.verdict in _POINTED_AT or row.verdict in _OVER for row in fitted)
    return FittedBlock(
        rows=fitted, pointers=pointers, left_out=unshown - len(pointers), chars=room.chars, tokens=room.tokens
    )


def pointer_to(memory: Memory) -> StandingPointer:
    """A pointer: the id, the kind, and the first cue or the start of the text on one line."""
    words = " ".join((memory.cues[0] if memory.cues else memory.text).split())
    return StandingPointer(memory_id=memory.id, kind=memory.kind, cue=words[:POINTER_CUE_CHARS])


def pointer_size(pointer: StandingPointer) -> TextSize:
    """What a pointer takes when a runtime writes it on a line of its own."""
    return size_of(f"{pointer.kind} {pointer.memory_id} {pointer.cue}")


def _take_pointers(rows: Sequence[StandingRow], room: _Room, limits: BlockLimits) -> tuple[StandingPointer, ...]:
    pointers: list[StandingPointer] = []
    for row in rows:
        if row.verdict not in _POINTED_AT or len(pointers) == POINTERS_MAX:
            continue
        pointer = pointer_to(row.candidate.memory)
        size = pointer_size(pointer)
        has_share = room.chars + SEPARATOR_CHARS + size.chars <= limits.chars_max // POINTER_SHARE
        if has_share and room.obstacle(size) is None:
            room.take(size)
            pointers.append(pointer)
    return tuple(pointers)


def _placed(row: StandingRow, room: _Room) -> StandingRow:
    if row.verdict is not StandingVerdict.SHOWN:
        return row
    size = size_of(row.candidate.memory.text)
    obstacle = room.obstacle(size)
    if obstacle is not None:
        return msgspec.structs.replace(row, verdict=obstacle)
    room.take(size)
    return row
