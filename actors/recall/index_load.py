"""Loads the whole index of a user page by page: the next page is read while one is put in.

So a large index is never there twice, and the event loop is free again after each small part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import anyio
import anyio.lowlevel

from recalld.actors.ports import MemoryReader
from recalld.actors.recall.index import UserIndex
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, IndexPage

PART = 250
"""Memories put into an index between two chances for others to run."""


class IndexLoad:
    """One load of one user's index.

    Args:
        reader: The store.
        user: Whose index.
        now_ms: What has expired by then is left out.
    """

    def __init__(self, reader: MemoryReader, user: str, *, now_ms: int) -> None:
        self._reader = reader
        self._user = user
        self._now_ms = now_ms

    async def load(self, embedder_key: str, dims: int, first: IndexDelta) -> UserIndex:
        """An index of its own that stands where the first page does.

        What changed while further pages were read is in them or not; the next delta, which begins where the first page
        stands, brings all of it again.

        Args:
            embedder_key: Whose vectors.
            dims: Length of each.
            first: The first page.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        index = UserIndex(embedder_key, dims)
        index.reserve(first.upserts, first.total)
        page = IndexPage(upserts=first.upserts, more=first.more)
        while page.more:
            page = await self._put_and_read_on(index, page)
        await _put(index, page)
        index.finish(first)
        return index

    async def _put_and_read_on(self, index: UserIndex, page: IndexPage) -> IndexPage:
        following: list[IndexPage] = []
        failures: list[RecalldError] = []

        async def read_on() -> None:
            try:
                following.append(
                    await self._reader.index_page(self._user, index.embedder_key, after=page.more, now_ms=self._now_ms)
                )
            except RecalldError as error:  # raised below as itself, not as a group
                failures.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_on)
            # So that it has begun before the event loop is held for the first part.
            await anyio.lowlevel.checkpoint()
            await _put(index, page)
        for failure in failures:
            raise failure
        return following[0]


def small_parts(memories: Sequence[EmbeddedMemory]) -> Iterator[Sequence[EmbeddedMemory]]:
    """Cut memories into parts that are put into an index in one go."""
    return (memories[start : start + PART] for start in range(0, len(memories), PART))


async def _put(index: UserIndex, page: IndexPage) -> None:
    for part in small_parts(page.upserts):
        index.upsert(part)
        await anyio.lowlevel.checkpoint()
