"""Which words a store has, and which memories are of a time: the same of every store."""

from __future__ import annotations

import pytest
from store_commands import DAY_MS, EMBEDDER, DrivenStore

from recalld.models.domain.records import NewMemory
from recalld.models.domain.store import Remember
from recalld.models.domain.time_window import TimeWindow

pytestmark = pytest.mark.anyio

FIRST_DAY_MS = 1_790_000_000_000


def day(number: int) -> TimeWindow:
    """The day of this number, counted from the first."""
    return TimeWindow(start_ms=FIRST_DAY_MS + number * DAY_MS, end_ms=FIRST_DAY_MS + (number + 1) * DAY_MS)


async def remember_daily(store: DrivenStore, days: int, **scope: str) -> list[str]:
    """One memory a day, at the first second of each."""
    ids = []
    for number in range(days):
        store.now_ms = FIRST_DAY_MS + number * DAY_MS - 1_000
        remembered = await store.remember(f"note number{number} about tea", **scope)  # type: ignore[arg-type]
        ids.append(remembered.memory.id)
    return ids


async def within(store: DrivenStore, *windows: TimeWindow, limit: int = 20, scope: str | None = None) -> list[str]:
    found = await store.reader.within("ines", windows, now_ms=store.now_ms, limit=limit, scope=scope)
    return [memory.id for memory in found]


async def test_the_terms_that_some_memory_has_are_posted_inflected_or_not(store: DrivenStore) -> None:
    await store.remember("Deploys run at noon with auth_token")
    posted = await store.reader.posted("ines", ("deployed", "auth_token", "token", "port", "noon"))
    assert posted == {"deployed", "auth_token", "token", "noon"}


async def test_nothing_is_posted_for_a_user_without_memories_or_for_no_terms(store: DrivenStore) -> None:
    await store.remember("Deploys run at noon")
    assert await store.reader.posted("omar", ("noon",)) == frozenset()
    assert await store.reader.posted("ines", ()) == frozenset()


async def test_cues_and_asks_are_posted_too_and_forgotten_words_are_not(store: DrivenStore) -> None:
    saved = await store.remember("Deploys run at noon", cues=("Release calendar",), asks=("When do we ship?",))
    assert await store.reader.posted("ines", ("calendar", "ship", "noon")) == {"calendar", "ship", "noon"}
    await store.forget(saved.memory.id)
    assert await store.reader.posted("ines", ("calendar", "ship", "noon")) == frozenset()


@pytest.mark.parametrize("term", ['"', "a b", "\x00", "*", ":noon", "main:noon", "NEAR"])
async def test_no_term_is_ever_syntax(store: DrivenStore, term: str) -> None:
    await store.remember("Deploys run at noon")
    assert await store.reader.posted("ines", (term, "noon")) == {"noon"}


async def test_a_window_holds_its_start_and_not_its_end(store: DrivenStore) -> None:
    ids = await remember_daily(store, 3)
    assert await within(store, day(1)) == [ids[1]]
    assert await within(store, TimeWindow(start_ms=FIRST_DAY_MS, end_ms=FIRST_DAY_MS)) == []


async def test_several_windows_are_one_list_newest_first_without_doubles(store: DrivenStore) -> None:
    ids = await remember_daily(store, 5)
    assert await within(store, day(0), day(3), TimeWindow(start_ms=day(3).start_ms)) == [ids[4], ids[3], ids[0]]
    assert await within(store, TimeWindow(end_ms=day(2).start_ms)) == [ids[1], ids[0]]


async def test_the_limit_keeps_the_newest(store: DrivenStore) -> None:
    ids = await remember_daily(store, 6)
    assert await within(store, TimeWindow(start_ms=FIRST_DAY_MS), limit=2) == [ids[5], ids[4]]
    assert await within(store, TimeWindow(start_ms=FIRST_DAY_MS), limit=0) == []


async def test_without_windows_nothing_is_of_any_time(store: DrivenStore) -> None:
    await remember_daily(store, 2)
    assert await within(store) == []


async def test_a_memory_is_of_the_time_of_its_change_as_well(store: DrivenStore) -> None:
    ids = await remember_daily(store, 3)
    store.now_ms = FIRST_DAY_MS + 4 * DAY_MS
    changed = await store.remember("note number0 about tea", cues=("Tea",))
    assert changed.memory.id == ids[0]
    assert await within(store, day(4)) == [ids[0]]
    assert await within(store, day(0)) == [ids[0]]
    # The later of its times that lie in a window is what orders it.
    assert await within(store, day(0), day(1), day(4)) == [ids[0], ids[1]]
    assert await within(store, day(0), day(1)) == [ids[1], ids[0]]


async def test_other_scopes_other_users_expired_and_forgotten_ones_are_of_no_time(store: DrivenStore) -> None:
    at_home = await remember_daily(store, 1, scope="home")
    gone = await store.remember("tea is gone")
    await store.forget(gone.memory.id)
    expired = await store.remember("tea expires", expires_at_ms=store.now_ms + 1_500)
    everywhere = await store.remember("tea for all")
    store.now_ms += 10_000
    assert expired.memory.id not in await within(store, day(0))
    assert await within(store, day(0)) == [everywhere.memory.id, *at_home]
    assert await within(store, day(0), scope="work") == [everywhere.memory.id]
    assert await store.reader.within("omar", (day(0),), now_ms=store.now_ms, limit=5, scope=None) == []


async def test_words_can_be_looked_for_in_a_time_alone(store: DrivenStore) -> None:
    ids = await remember_daily(store, 4)
    hits = await store.reader.lexical(
        "ines", ("tea",), now_ms=store.now_ms, limit=20, scope=None, windows=(day(1), day(3))
    )
    assert [hit.memory_id for hit in hits] == [ids[3], ids[1]]
    none = await store.reader.lexical("ines", ("tea",), now_ms=store.now_ms, limit=20, scope=None, windows=(day(9),))
    assert none == []


async def test_a_neighbour_of_another_time_never_takes_a_place(store: DrivenStore) -> None:
    old = (await remember_daily(store, 1))[0]
    store.now_ms = FIRST_DAY_MS + 5 * DAY_MS
    for number in range(30):
        await store.remember(f"tea tea tea {number}")
    hits = await store.reader.lexical("ines", ("tea",), now_ms=store.now_ms, limit=3, scope=None, windows=(day(0),))
    assert [hit.memory_id for hit in hits] == [old]


async def test_counts_are_of_a_time_where_windows_are_given(store: DrivenStore) -> None:
    await remember_daily(store, 4)
    await store.remember("tea at home", scope="home")
    counts = store.reader.counts
    assert (await counts("ines", EMBEDDER, now_ms=store.now_ms)).live == 5
    assert (await counts("ines", EMBEDDER, now_ms=store.now_ms, windows=(day(0), day(3)))).live == 3
    assert (await counts("ines", EMBEDDER, now_ms=store.now_ms, scope="work", windows=(day(3),))).live == 1
    assert (await counts("ines", EMBEDDER, now_ms=store.now_ms, windows=(day(8),))).live == 0


async def test_an_index_is_told_the_times_of_its_memories(store: DrivenStore) -> None:
    await remember_daily(store, 1)
    store.now_ms = FIRST_DAY_MS + DAY_MS
    await store.remember("note number0 about tea", cues=("Tea",))
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=0, now_ms=store.now_ms)
    assert [(each.created_at_ms, each.updated_at_ms) for each in delta.upserts] == [
        (FIRST_DAY_MS, FIRST_DAY_MS + DAY_MS + 1_000)
    ]


async def test_times_before_1970_and_after_9999_are_times(store: DrivenStore) -> None:
    command = store.remember_command("carved in stone")
    early = Remember(
        memory=NewMemory(user="ines", text="carved in stone"),
        memory_id="mem-early",
        now_ms=-5_000,
        is_explicit=True,
        embedder_key="",
        vectors=(),
        decision=command.decision,
        turn_key="",
    )
    await store.writer.remember(early)
    assert await within(store, TimeWindow(end_ms=0)) == ["mem-early"]
    assert await within(store, TimeWindow(start_ms=2**62)) == []
