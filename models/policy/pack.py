"""Packing: at most so many items and characters, whole items only."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import DroppedItem, RecalledItem


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """What fits, order kept, and what does not."""

    items: tuple[RecalledItem, ...]
    dropped: tuple[DroppedItem, ...]


def pack(items: Sequence[RecalledItem], *, max_items: int, max_chars: int) -> Packed:
    """Take items in order while they fit; one that is too long is left out whole and the next is tried.

    Args:
        items: Best first.
        max_items: Items at most, from 0.
        max_chars: Characters of memory text at most, from 0; what the caller puts around an item is the caller's.

    Raises:
        ValueError: A limit is negative.
    """
    if min(max_items, max_chars) < 0:
        message = f"max_items and max_chars must not be negative, got {max_items} and {max_chars}"
        raise ValueError(message)
    kept: list[RecalledItem] = []
    dropped: list[DroppedItem] = []
    chars_left = max_chars
    for item in items:
        if len(kept) == max_items:
            dropped.append(_dropped(item, DropReason.OVER_MAX_ITEMS))
        elif len(item.memory.text) > chars_left:
            dropped.append(_dropped(item, DropReason.OVER_MAX_CHARS))
        else:
            kept.append(item)
            chars_left -= len(item.memory.text)
    return Packed(items=tuple(kept), dropped=tuple(dropped))


def _dropped(item: RecalledItem, reason: DropReason) -> DroppedItem:
    return DroppedItem(memory_id=item.memory.id, reason=reason, evidence=item.evidence, relevance=item.relevance)
