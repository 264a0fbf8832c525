"""How full a scope is, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import counted_memories
from recalld.protocol.items import UsageItem

TEXT_CHARS_MAX: Final = 100


def usage_line(usage: UsageItem) -> str:
    """How much of its caps a scope uses, in one line."""
    records = f"{usage.records} of {counted_memories(usage.records_max)}" if usage.records_max else ""
    chars = f"{usage.chars} of {usage.chars_max} characters" if usage.chars_max else ""
    fullness = "full" if is_full(usage) else "nearly full"
    return f"The scope is {fullness}: it holds {' and '.join(filter(None, (records, chars)))}."


def is_full(usage: UsageItem) -> bool:
    """Whether nothing more fits under a cap."""
    is_counted_out = bool(usage.records_max) and usage.records >= usage.records_max
    return is_counted_out or (bool(usage.chars_max) and usage.chars >= usage.chars_max)


def eviction_lines(usage: UsageItem, texts: Mapping[str, str]) -> Iterator[str]:
    """What could be forgotten to make room, best first, each in its words where they are known."""
    if usage.evictions:
        yield "could be forgotten:"
        yield from (f"  {named(memory_id, texts)}" for memory_id in usage.evictions)


def named(memory_id: str, texts: Mapping[str, str]) -> str:
    """A memory by its id, and by its words where they are known."""
    text = printable(texts.get(memory_id, ""), chars_max=TEXT_CHARS_MAX)
    return f"{memory_id} “{text}”" if text else memory_id
