"""What is known of one user between recalls; it outlives a restart of the user's actor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

import anyio
import anyio.lowlevel

from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.ports import MemoryReader
from recalld.actors.recall.index import UserIndex
from recalld.actors.recall.sessions import VisibleMemories
from recalld.actors.store.search_text import search_text
from recalld.actors.text_work import TextWork
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.records import Memory
from recalld.models.domain.store import IndexDelta

PART = 250
"""Memories put into an index between two chances for others to run: about 6 ms."""

STEMS_MAX = 512
"""Memories whose stems are remembered per user: cutting them out of a text takes longer than all else in a recall by
words, and it is the same memories that come up again."""

Spawn = Callable[[Callable[[], Awaitable[None]]], None]
"""Starts a task that lives on when whoever started it stops waiting."""


class _Refresh:
    """One pull of changes that is under way, and how it ended."""

    def __init__(self) -> None:
        self.ended = anyio.Event()
        self.index: UserIndex | None = None
        self.error: RecalldError | None = None


class RecallState:
    """A user's vector index (loaded lazily, dropped when the user rests) and what its sessions can see."""

    def __init__(self) -> None:
        self.visible = VisibleMemories()
        self._stems: LruCache[tuple[str, int], frozenset[str]] = LruCache(STEMS_MAX)
        self._index: UserIndex | None = None
        self._refresh: _Refresh | None = None

    @property
    def index_bytes(self) -> int:
        """Bytes of the loaded index; 0 without one."""
        return 0 if self._index is None else self._index.nbytes

    def current_index(self, seq: int) -> UserIndex | None:
        """The loaded index if it stands at the user's newest change `seq`, else None. Loads nothing."""
        return self._index if self._index is not None and self._index.seq >= seq else None

    def stems_of(self, memory: Memory) -> frozenset[str]:
        """The stems of a memory of this user, remembered for each revision of it."""
        key = (memory.id, memory.revision)
        stems = self._stems.get(key)
        if stems is None:
            stems = search_text(memory).stems
            self._stems.put(key, stems)
        return stems

    async def learn_stems(self, memories: Sequence[Memory], text_work: TextWork) -> None:
        """Have the stems of these memories ready, so that `stems_of` need not cut many long texts at once."""
        unknown = [memory for memory in memories if self._stems.get((memory.id, memory.revision)) is None]
        chars = sum(memory_chars(memory) for memory in unknown)
        found = await text_work.run(lambda: [search_text(memory).stems for memory in unknown], chars=chars)
        for memory, stems in zip(unknown, found, strict=True):
            self._stems.put((memory.id, memory.revision), stems)

    def drop_index(self) -> None:
        """Let go of the index and of stems; the next recalls make them anew."""
        self._index = None
        self._stems = LruCache(STEMS_MAX)

    async def index(
        self, reader: MemoryReader, user: str, *, embedder_key: str, dims: int, now_ms: int, spawn: Spawn
    ) -> UserIndex:
        """The index, brought up to the newest change that this process knows of.

        Pulling by sequence number, instead of being told, means that no message can be lost between a write and the
        recalls that arrive after its acknowledgement. Cost: one dictionary look-up when nothing changed.

        The pull itself runs in a task of its own: a recall whose time runs out leaves it to the next one, so that a
        large index is there after a while, however short each recall's time is.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        while True:
            index = self._usable(embedder_key, dims)
            if index is not None and index.seq >= reader.seq(user):
                return index
            refresh = self._refresh
            is_own = refresh is None
            if refresh is None:
                refresh = self._start(index or UserIndex(embedder_key, dims), reader, user, now_ms, spawn)
            await refresh.ended.wait()
            if refresh.error is not None:
                raise refresh.error
            # A pull that was begun for this very recall has seen everything; one begun before may have missed a write.
            if is_own and refresh.index is not None:
                return refresh.index

    def _usable(self, embedder_key: str, dims: int) -> UserIndex | None:
        index = self._index
        return index if index is not None and (index.embedder_key, index.dims) == (embedder_key, dims) else None

    def _start(self, index: UserIndex, reader: MemoryReader, user: str, now_ms: int, spawn: Spawn) -> _Refresh:
        refresh = self._refresh = _Refresh()

        async def pull() -> None:
            try:
                delta = await reader.index_delta(user, index.embedder_key, since_seq=index.seq, now_ms=now_ms)
                # A whole load goes into an index of its own: cut short, it must not leave half of one behind.
                target = UserIndex(index.embedder_key, index.dims) if delta.is_complete else index
                for part in _parts(delta, seq_before=target.seq):
                    target.apply(part)
                    await anyio.lowlevel.checkpoint()
                self._index = refresh.index = target
            except RecalldError as error:
                refresh.error = error
            finally:
                # Also when the task is cancelled with its actor: the state outlives it, and must not wait for it.
                self._refresh = None
                refresh.ended.set()

        spawn(pull)
        return refresh


def memory_chars(memory: Memory) -> int:
    """Characters of a memory's text, cues and asks."""
    return sum(map(len, (memory.text, *memory.cues, *memory.asks)))


def _parts(delta: IndexDelta, *, seq_before: int) -> Iterator[IndexDelta]:
    """Cut a delta into small ones; only the last brings the sequence number up, so a cut-off pull is repeated."""
    for start in range(0, max(len(delta.upserts), 1), PART):
        is_last = start + PART >= len(delta.upserts)
        yield IndexDelta(
            is_complete=delta.is_complete and start == 0,
            seq=delta.seq if is_last else seq_before,
            upserts=delta.upserts[start : start + PART],
            removed=delta.removed if start == 0 else (),
        )
