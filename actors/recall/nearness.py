"""What lies near to texts that are about to be stored: nominations for being the same fact in other words."""

from __future__ import annotations

from typing import Protocol

from recalld.actors.ports import MemoryReader
from recalld.actors.recall.index import Cosines, VectorSearch
from recalld.actors.recall.messages import FindNear
from recalld.actors.recall.state import RecallState, Spawn
from recalld.actors.text_work import TextWork
from recalld.models.domain.errors import RecalldError


class NearDependencies(Protocol):
    """What it takes to look into an index: `RecallDependencies` have it, and so has a replay without a recall."""

    @property
    def reader(self) -> MemoryReader:
        """The store."""
        ...

    @property
    def text_work(self) -> TextWork:
        """Where long searches run."""
        ...


class NearFinder:
    """Looks into the index of one user."""

    def __init__(self, user: str, state: RecallState, deps: NearDependencies) -> None:
        self._user = user
        self._state = state
        self._deps = deps

    async def answer(self, message: FindNear, *, spawn: Spawn) -> None:
        """Answer with the nearest memories of each text; an index that cannot be read is an operating error."""
        try:
            message.reply.send(await self._find(message, spawn))
        except RecalldError as error:
            message.reply.fail(error)

    async def _find(self, message: FindNear, spawn: Spawn) -> tuple[tuple[str, ...], ...]:
        if not message.vectors:
            return ()
        index = await self._state.index(
            self._deps.reader,
            self._user,
            embedder_key=message.embedder_key,
            dims=len(message.vectors[0]),
            now_ms=message.now_ms,
            spawn=spawn,
        )
        found: list[tuple[str, ...]] = []
        for vector, scope in zip(message.vectors, message.scopes, strict=True):
            search = VectorSearch(
                query=vector, question=vector, scope=scope, now_ms=message.now_ms, limit=message.limit
            )
            cosines = await self._state.search(index, search, self._deps.text_work)
            found.append(_nearest(cosines, message))
        return tuple(found)


def _nearest(cosines: list[Cosines], message: FindNear) -> tuple[str, ...]:
    """Ids of those whose own text lies near enough, the nearest first; by id where two are equally near."""
    near = [
        (each.record, each.memory_id)
        for each in cosines
        if each.record is not None and each.record >= message.cosine_min
    ]
    near.sort(key=lambda each: (-each[0], each[1]))
    return tuple(memory_id for _, memory_id in near[: message.limit])
