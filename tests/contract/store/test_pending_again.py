from __future__ import annotations

import pytest
from store_commands import EMBEDDER, OTHER_EMBEDDER, DrivenStore

pytestmark = pytest.mark.anyio


async def pending(store: DrivenStore, embedder_key: str = EMBEDDER, limit: int = 10) -> list[str]:
    found = await store.reader.pending(embedder_key, now_ms=store.now_ms, limit=limit)
    return [each.memory.id for each in found]


async def test_once_nothing_was_pending_what_comes_later_still_is(store: DrivenStore) -> None:
    await store.remember("Prefers tea", is_embedded=True)
    assert await pending(store) == []
    await store.remember("Prefers coffee", user="omar")
    await store.remember("Prefers water")
    assert await pending(store) == ["mem-0002", "mem-0003"]
    await store.embed("mem-0002", user="omar")
    assert await pending(store) == ["mem-0003"]
    await store.embed("mem-0003")
    assert await pending(store) == []


async def test_what_waits_is_found_again_and_again_until_it_has_its_vectors(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers water", is_embedded=True)
    assert [await pending(store) for _ in range(3)] == [["mem-0001"]] * 3


async def test_to_ask_for_none_says_nothing_of_what_is_pending(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    assert await pending(store, limit=0) == []
    assert await pending(store) == ["mem-0001"]


async def test_for_another_embedder_everything_is_pending_whatever_was_found_before(store: DrivenStore) -> None:
    await store.remember("Prefers tea", is_embedded=True)
    assert await pending(store) == []
    assert await pending(store, OTHER_EMBEDDER) == ["mem-0001"]
    assert await pending(store) == []


async def test_a_forgotten_memory_is_not_pending(store: DrivenStore) -> None:
    await store.remember("Prefers tea", is_embedded=True)
    assert await pending(store) == []
    await store.remember("Prefers coffee")
    await store.forget("mem-0002")
    assert await pending(store) == []
