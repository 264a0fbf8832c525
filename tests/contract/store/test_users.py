from __future__ import annotations

import pytest
from store_commands import EMBEDDER, DrivenStore

from recalld.models.domain.reasons import RememberOutcome

pytestmark = pytest.mark.anyio

NEIGHBOURS = [
    ("test_user", "test_user1"),
    ("test_user", "testXuser"),
    ("caf\u00e9", "cafe\u0301"),
    ("%", "a"),
    ("_", "a"),
    ("Ines", "ines"),
    ("ines", "ines "),
    ("ines", "ines\x00"),
    ("1", "11"),
    ("", " "),
    ("ß", "ss"),
]


@pytest.mark.parametrize(("one", "other"), NEIGHBOURS)
async def test_users_are_told_apart_by_exact_bytes(store: DrivenStore, one: str, other: str) -> None:
    await store.remember("Prefers tea", user=one)
    assert (await store.remember("Prefers tea", user=other)).outcome is RememberOutcome.CREATED
    assert (await store.listed(one), await store.listed(other)) == (["mem-0001"], ["mem-0002"])
    assert await store.found("tea", user=one) == ["mem-0001"]
    assert await store.reader.memory(other, "mem-0001") is None
    assert (await store.forget("mem-0001", user=other)).ids == ()
    await store.forget("mem-0002", user=other)
    assert await store.listed(one) == ["mem-0001"]
    assert (await store.reader.counts(one, EMBEDDER, now_ms=store.now_ms)).tombstones == 0
    await store.forget(user=other, is_purge=True)
    assert await store.found("tea", user=one) == ["mem-0001"]
    assert (await store.reader.decision("dec-1")) is not None


async def test_several_memories_are_fetched_in_the_order_asked_for(store: DrivenStore) -> None:
    for text in ("One", "Two", "Three"):
        await store.remember(text)
    await store.forget("mem-0002")
    found = await store.reader.memories("ines", ["mem-0003", "mem-0002", "nope", "mem-0001"])
    assert list(found) == ["mem-0003", "mem-0001"]
    assert await store.reader.memories("ines", []) == {}
