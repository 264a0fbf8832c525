"""The subjects of a user's memories, remembered for each revision, so that one recall after another need not find them.

Finding names in the texts of all candidates takes longer than most of a recall; it is the same memories that come up
again.
"""

from __future__ import annotations

from collections.abc import Sequence

from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.text_work import TextWork
from recalld.models.domain.records import Memory
from recalld.models.policy.subjects import TEXT_CHARS_MAX, Subject, subjects_of

SUBJECTS_OF_MAX = 2_048
"""Memories whose subjects are remembered per user."""


class SubjectMemo:
    """Remembers subjects, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._known: LruCache[tuple[str, int], tuple[Subject, ...]] = LruCache(SUBJECTS_OF_MAX)

    async def learn(self, memories: Sequence[Memory], text_work: TextWork) -> dict[str, tuple[Subject, ...]]:
        """The subjects of these memories by id; unknown ones are found where it holds up nobody."""
        found: dict[str, tuple[Subject, ...]] = {}
        unknown: list[Memory] = []
        for memory in memories:
            known = self._known.get((memory.id, memory.revision))
            if known is None:
                unknown.append(memory)
            else:
                found[memory.id] = known
        if unknown:
            chars = sum(min(len(memory.text), TEXT_CHARS_MAX) for memory in unknown)
            learned = await text_work.run(lambda: [subjects_of(memory) for memory in unknown], chars=chars)
            for memory, subjects in zip(unknown, learned, strict=True):
                self._known.put((memory.id, memory.revision), subjects)
                found[memory.id] = subjects
        return found

    def clear(self) -> None:
        """Forget all."""
        self._known = LruCache(SUBJECTS_OF_MAX)
