"""What is known of one user between recalls; it outlives a restart of the user's actor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio
import anyio.lowlevel

from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.ports import MemoryReader
from recalld.actors.recall.index import Cosines, UserIndex, VectorSearch
from recalld.actors.recall.index_load import IndexLoad, small_parts
from recalld.actors.recall.language_memo import LanguageMemo
from recalld.actors.recall.passage_memo import PassageMemo
from recalld.actors.recall.sessions import VisibleMemories
from recalld.actors.recall.standing_given import GivenBlocks
from recalld.actors.recall.subject_memo import SubjectMemo
from recalld.actors.recall.turn_memo import TurnMemo
from recalld.actors.recall.turn_step import TurnRead
from recalld.actors.store.search_text import search_text
from recalld.actors.text_work import TextWork
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.records import Memory, VectorRole

ROWS_AT_ONCE = 150_000
"""Vectors that are searched on the event loop; more of them would hold it up, and are searched in a thread."""

STEMS_MAX = 512
"""Memories whose stems are remembered per user: cutting them out of a text takes longer than all else in a recall by
words, and it is the same memories that come up again."""

_HALVES = ((VectorRole.RECORD, VectorRole.CUE), (VectorRole.ASK,))
"""Roles that are searched beside each other in a large index: a memory has about as many asks as other texts."""

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
        """What the gates would have shown: in shadow mode they must go on as if they were obeyed."""
        self.served = VisibleMemories()
        """What was handed over."""
        self.turns: TurnMemo[TurnRead] = TurnMemo()
        self.given = GivenBlocks()
        self.subjects = SubjectMemo()
        self.languages = LanguageMemo()
        self.passages = PassageMemo()
        self._stems: LruCache[tuple[str, int], frozenset[str]] = LruCache(STEMS_MAX)
        self._index: UserIndex | None = None
        self._refresh: _Refresh | None = None
        # Held by whoever changes the index or searches it: a large search runs in a thread, beside the event loop.
        self._index_use = anyio.Lock(fast_acquire=True)

    @property
    def index_bytes(self) -> int:
        """Bytes of the loaded index; 0 without one."""
        return 0 if self._index is None else self._index.nbytes

    @property
    def index_seq(self) -> int:
        """The change up to which the loaded index stands, whether or not it is the newest; 0 without one."""
        return 0 if self._index is None else self._index.seq

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
        self.subjects.clear()
        self.languages.clear()
        self.passages.clear()
        self.turns.clear()

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

    def begin_loading(
        self, reader: MemoryReader, user: str, *, embedder_key: str, dims: int, now_ms: int, spawn: Spawn
    ) -> None:
        """Begin to load the index of a user who has none, so that it comes while the query is embedded.

        `index` then waits for this load. Of a load that fails before anybody waits nobody hears: `index` begins anew.
        """
        if self._index is None and self._refresh is None:
            self._start(UserIndex(embedder_key, dims), reader, user, now_ms, spawn)

    async def search(self, index: UserIndex, search: VectorSearch, text_work: TextWork) -> list[Cosines]:
        """Search an index that `index` gave: a small one at once, a large one in two threads, so that the loop goes on.

        Runs to its end when the caller is cancelled: until then nobody may change the index.
        """
        async with self._index_use:
            if index.rows < ROWS_AT_ONCE:
                return index.compared(search, index.nominated(search, tuple(VectorRole)))
            nominated: set[int] = set()

            async def nominate(roles: Sequence[VectorRole]) -> None:
                nominated.update(await text_work.run_apart(lambda: index.nominated(search, roles)))

            async with anyio.create_task_group() as tasks:
                for roles in _HALVES:
                    tasks.start_soon(nominate, roles)
            return index.compared(search, nominated)

    def _usable(self, embedder_key: str, dims: int) -> UserIndex | None:
        index = self._index
        return index if index is not None and (index.embedder_key, index.dims) == (embedder_key, dims) else None

    def _start(self, index: UserIndex, reader: MemoryReader, user: str, now_ms: int, spawn: Spawn) -> _Refresh:
        refresh = self._refresh = _Refresh()

        async def pull() -> None:
            try:
                since_seq = 0 if index.is_wasteful else index.seq
                delta = await reader.index_delta(user, index.embedder_key, since_seq=since_seq, now_ms=now_ms)
                if delta.is_complete:
                    # Into an index of its own: cut short, a whole load must not leave half of one behind.
                    target = await IndexLoad(reader, user, now_ms=now_ms).load(index.embedder_key, index.dims, delta)
                else:
                    target = index
                    for part in small_parts(delta.upserts):
                        async with self._index_use:
                            target.upsert(part)
                        await anyio.lowlevel.checkpoint()
                    async with self._index_use:
                        target.finish(delta)
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
