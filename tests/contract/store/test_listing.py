from __future__ import annotations

import pytest
from admission_commands import admit_one
from store_commands import DrivenStore

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import MemoryKind
from recalld.models.domain.store import ListFilter

pytestmark = pytest.mark.anyio


async def test_pages_follow_each_other_exactly_although_memories_come_and_go(store: DrivenStore) -> None:
    for number in range(7):
        await store.remember(f"Memory number {number}")
    first = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=3, cursor=None)
    assert [memory.id for memory in first.memories] == ["mem-0007", "mem-0006", "mem-0005"]
    assert first.total == 7
    await store.remember("A newer one")
    await store.forget("mem-0005")
    second = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=3, cursor=first.cursor)
    assert [memory.id for memory in second.memories] == ["mem-0004", "mem-0003", "mem-0002"]
    third = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=3, cursor=second.cursor)
    assert [memory.id for memory in third.memories] == ["mem-0001"]
    assert third.cursor is None


async def test_a_page_that_ends_exactly_has_no_cursor(store: DrivenStore) -> None:
    for number in range(3):
        await store.remember(f"Memory number {number}")
    page = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=3, cursor=None)
    assert page.cursor is None


async def test_memories_of_one_moment_are_paged_by_id(store: DrivenStore) -> None:
    for number in range(4):
        await store.remember(f"Memory number {number}")
        store.now_ms -= 1_000
    store.now_ms += 1_000
    first = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=2, cursor=None)
    second = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=2, cursor=first.cursor)
    assert [memory.id for memory in (*first.memories, *second.memories)] == [
        "mem-0004",
        "mem-0003",
        "mem-0002",
        "mem-0001",
    ]


@pytest.mark.parametrize("cursor", ["", "x", "not a cursor", "AAAA", "c1.é", "A" * 10_000, "%00", "ab=c", "\ud800"])
async def test_a_cursor_of_somebody_else_is_a_bad_request(store: DrivenStore, cursor: str) -> None:
    await store.remember("Prefers tea")
    with pytest.raises(RecalldError) as caught:
        await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=3, cursor=cursor)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert "cursor" in caught.value.message


async def test_a_cursor_with_one_letter_changed_is_a_bad_request(store: DrivenStore) -> None:
    for number in range(3):
        await store.remember(f"Memory number {number}")
    page = await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=1, cursor=None)
    assert page.cursor is not None
    changed = ("B" if page.cursor[12] == "A" else "A").join((page.cursor[:12], page.cursor[13:]))
    with pytest.raises(RecalldError):
        await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=1, cursor=changed)


@pytest.mark.parametrize("limit", [0, -1, 1_001, 2**70])
async def test_a_limit_out_of_range_is_a_bad_request(store: DrivenStore, limit: int) -> None:
    with pytest.raises(RecalldError) as caught:
        await store.reader.list_memories("ines", ListFilter(), now_ms=store.now_ms, limit=limit, cursor=None)
    assert caught.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize(
    ("contains", "expected"),
    [
        ("", ["mem-0004", "mem-0003", "mem-0002", "mem-0001"]),
        ("100%", ["mem-0001"]),
        ("%", ["mem-0001"]),
        ("_", ["mem-0002"]),
        ("USER_ID", ["mem-0002"]),
        ("STRASSE", ["mem-0003"]),
        ("caf\u00e9", ["mem-0004"]),
        ("cafe\u0301", ["mem-0004"]),
        ("\\", []),
        ("*", []),
    ],
)
async def test_contains_is_literal_and_blind_to_case(store: DrivenStore, contains: str, expected: list[str]) -> None:
    await store.remember("Sure to 100%")
    await store.remember("The column is user_id")
    await store.remember("Wohnt in der Hauptstraße")
    await store.remember("Meets at the CAF\u00c9")
    assert await store.listed(what=ListFilter(contains=contains)) == expected


async def test_scope_and_kind_narrow_the_listing_and_its_total(store: DrivenStore) -> None:
    await store.remember("One", scope="work")
    await store.remember("Two", kind=MemoryKind.PREFERENCE)
    await store.remember("Three", scope="work", kind=MemoryKind.PREFERENCE)
    assert await store.listed(what=ListFilter(scope="work")) == ["mem-0003", "mem-0001"]
    assert await store.listed(what=ListFilter(scope="")) == ["mem-0002"]
    assert await store.listed(what=ListFilter(kind=MemoryKind.PREFERENCE)) == ["mem-0003", "mem-0002"]
    page = await store.reader.list_memories(
        "ines", ListFilter(scope="work", kind=MemoryKind.FACT), now_ms=store.now_ms, limit=1, cursor=None
    )
    assert (page.total, [memory.id for memory in page.memories]) == (1, ["mem-0001"])


async def test_expired_memories_are_not_listed_although_not_swept(store: DrivenStore) -> None:
    await store.remember("Out of office", expires_at_ms=store.now_ms + 2_000)
    assert await store.listed() == ["mem-0001"]
    store.now_ms += 1_000  # expiry is exclusive: at the very moment it is over
    assert await store.listed() == []


async def test_what_was_closed_is_listed_apart_from_what_holds(store: DrivenStore) -> None:
    for employer in ("Globex", "Initech"):
        await admit_one(store, f"The user works at {employer}.", slot="employer", value=employer)

    async def listed(*, is_superseded: bool) -> list[str]:
        what = ListFilter(is_superseded=is_superseded)
        page = await store.reader.list_memories("ines", what, now_ms=store.now_ms, limit=9, cursor=None)
        assert page.total == len(page.memories)
        return [memory.id for memory in page.memories]

    assert await listed(is_superseded=True) == ["mem-0001"]
    assert await listed(is_superseded=False) == ["mem-0002"]
    await store.forget("mem-0001")
    assert await listed(is_superseded=True) == []
