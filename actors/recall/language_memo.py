"""Which of a user's memories the relevance models can read, remembered for each revision.

Three steps of a recall ask for it, and it is the same memories that come up again.
"""

from __future__ import annotations

from recalld.actors.inference_thread.lru import LruCache
from recalld.models.domain.records import Memory
from recalld.models.policy.language import is_english

LANGUAGES_OF_MAX = 4_096
"""Memories remembered per user: an id and a bit for each."""


def reads_english(memory: Memory) -> bool:
    """As `language.is_english`, of the text of a memory."""
    return is_english(memory.text)


class LanguageMemo:
    """Remembers languages, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._known: LruCache[tuple[str, int], bool] = LruCache(LANGUAGES_OF_MAX)

    def is_english(self, memory: Memory) -> bool:
        """As `reads_english`."""
        key = (memory.id, memory.revision)
        known = self._known.get(key)
        if known is None:
            known = reads_english(memory)
            self._known.put(key, known)
        return known

    def clear(self) -> None:
        """Forget all."""
        self._known = LruCache(LANGUAGES_OF_MAX)
