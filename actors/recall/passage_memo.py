"""The passages of a user's long memories, remembered for each revision, so that no recall cuts them on the event loop.

Cutting a memory of the greatest length takes a few milliseconds, and it is the same memories that come up again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.text_work import TextWork
from recalld.models.domain.records import Memory
from recalld.models.policy.passages import is_surely_whole, split_passages

PASSAGES_OF_MAX = 128
"""Long memories remembered per user: about 10 kB each where letters are Latin."""


class PassageMemo:
    """Remembers passages, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._known: LruCache[tuple[str, int], tuple[str, ...]] = LruCache(PASSAGES_OF_MAX)

    async def learn(self, memories: Sequence[Memory], text_work: TextWork) -> Mapping[str, tuple[str, ...]]:
        """The passages of these memories by id; unknown ones are cut where it holds up nobody."""
        found: dict[str, tuple[str, ...]] = {}
        unknown: list[Memory] = []
        for memory in memories:
            known = (memory.text,) if is_surely_whole(memory.text) else self._known.get((memory.id, memory.revision))
            if known is None:
                unknown.append(memory)
            else:
                found[memory.id] = known
        if unknown:
            chars = sum(len(memory.text) for memory in unknown)
            learned = await text_work.run(lambda: [split_passages(memory.text) for memory in unknown], chars=chars)
            for memory, passages in zip(unknown, learned, strict=True):
                self._known.put((memory.id, memory.revision), passages)
                found[memory.id] = passages
        return found

    def clear(self) -> None:
        """Forget all."""
        self._known = LruCache(PASSAGES_OF_MAX)
