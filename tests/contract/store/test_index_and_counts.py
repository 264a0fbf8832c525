from __future__ import annotations

import pytest
from store_commands import DAY_MS, EMBEDDER, OTHER_EMBEDDER, DrivenStore

from recalld.actors.store.packed_vectors import unpack_vectors
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import AppendDecisions, Checkpoint, StoreCounts

pytestmark = pytest.mark.anyio


async def test_a_first_load_is_complete_and_brings_filters_and_vectors(store: DrivenStore) -> None:
    expires_at_ms = store.now_ms + DAY_MS
    await store.remember(
        "Prefers tea", scope="home", asks=("What to drink?",), is_embedded=True, expires_at_ms=expires_at_ms
    )
    await store.remember("Prefers coffee")
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=0, now_ms=store.now_ms)
    assert (delta.is_complete, delta.seq, delta.removed) == (True, store.reader.seq("ines"), ())
    first, second = delta.upserts
    assert (first.memory_id, first.scope, first.has_asks, first.expires_at_ms) == (
        "mem-0001",
        "home",
        True,
        expires_at_ms,
    )
    assert [vector.role for vector in unpack_vectors(first.vectors)] == ["record", "ask"]
    assert (second.memory_id, second.has_asks, bool(second.vectors)) == ("mem-0002", False, False)


async def test_a_delta_brings_only_what_changed_since(store: DrivenStore) -> None:
    for text in ("Prefers tea", "Prefers coffee", "Prefers water"):
        await store.remember(text)
    since_seq = store.reader.seq("ines")
    await store.forget("mem-0001")
    await store.embed("mem-0002")
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=since_seq, now_ms=store.now_ms)
    assert not delta.is_complete
    assert delta.removed == ("mem-0001",)
    assert [(each.memory_id, len(unpack_vectors(each.vectors))) for each in delta.upserts] == [("mem-0002", 1)]
    again = await store.reader.index_delta("ines", EMBEDDER, since_seq=delta.seq, now_ms=store.now_ms)
    assert (again.is_complete, again.upserts, again.removed, again.seq) == (False, (), (), delta.seq)


async def test_another_users_changes_are_not_in_the_delta(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    since_seq = store.reader.seq("ines")
    await store.remember("Prefers coffee", user="omar")
    assert store.reader.seq("ines") == since_seq
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=since_seq, now_ms=store.now_ms)
    assert (delta.upserts, delta.removed) == ((), ())


async def test_an_index_older_than_the_change_log_loads_everything(store: DrivenStore) -> None:
    for number in range(6):
        await store.remember(f"Memory number {number}")
    seq = store.reader.seq("ines")
    await store.writer.checkpoint(Checkpoint(now_ms=store.now_ms, ledger_keep_ms=DAY_MS, changes_keep=2))
    too_old = await store.reader.index_delta("ines", EMBEDDER, since_seq=seq - 3, now_ms=store.now_ms)
    assert (too_old.is_complete, len(too_old.upserts)) == (True, 6)
    in_reach = await store.reader.index_delta("ines", EMBEDDER, since_seq=seq - 2, now_ms=store.now_ms)
    assert (in_reach.is_complete, len(in_reach.upserts)) == (False, 2)


async def test_trimming_everything_keeps_up_to_date_indices_up_to_date(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    seq = store.reader.seq("ines")
    await store.writer.checkpoint(Checkpoint(now_ms=store.now_ms, ledger_keep_ms=DAY_MS, changes_keep=0))
    assert not (await store.reader.index_delta("ines", EMBEDDER, since_seq=seq, now_ms=store.now_ms)).is_complete
    await store.remember("Prefers coffee")
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=seq, now_ms=store.now_ms)
    assert (delta.is_complete, [each.memory_id for each in delta.upserts]) == (False, ["mem-0002"])


async def test_an_index_from_the_future_loads_everything(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=10_000, now_ms=store.now_ms)
    assert (delta.is_complete, delta.seq) == (True, store.reader.seq("ines"))


async def test_a_write_is_in_the_sequence_number_once_it_is_acknowledged(store: DrivenStore) -> None:
    assert (store.reader.seq("ines"), await store.reader.load_seq("ines")) == (0, 0)
    seen = []
    for text in ("Prefers tea", "Prefers coffee"):
        await store.remember(text)
        seen.append(store.reader.seq("ines"))
    assert 0 < seen[0] < seen[1] == await store.reader.load_seq("ines")


async def test_vectors_are_refused_for_what_changed_or_went_away(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers tea", cues=("drinks",))
    assert not await store.embed("mem-0001", revision=1)
    assert await store.embed("mem-0001", revision=2)
    assert not await store.embed("mem-0001", revision=2, user="omar")
    assert not await store.embed("mem-9999")
    await store.forget("mem-0001")
    assert not await store.embed("mem-0001", revision=2)


async def test_swept_memories_take_no_vectors(store: DrivenStore) -> None:
    await store.remember("Out of office", expires_at_ms=store.now_ms + 1_500)
    store.now_ms += 5_000
    await store.expire()
    assert not await store.embed("mem-0001")


async def test_vectors_of_another_embedder_are_never_handed_out(store: DrivenStore) -> None:
    # R18
    await store.remember("Prefers tea", is_embedded=True)
    delta = await store.reader.index_delta("ines", OTHER_EMBEDDER, since_seq=0, now_ms=store.now_ms)
    assert not delta.upserts[0].vectors
    health = await store.reader.health(OTHER_EMBEDDER, now_ms=store.now_ms)
    assert (health.pending_embedding, health.other_embedder) == (1, 1)
    assert await store.found("tea") == ["mem-0001"]
    await store.embed("mem-0001", embedder_key=OTHER_EMBEDDER, value=2)
    delta = await store.reader.index_delta("ines", OTHER_EMBEDDER, since_seq=0, now_ms=store.now_ms)
    assert [vector.data[0] for vector in unpack_vectors(delta.upserts[0].vectors)] == [2]
    health = await store.reader.health(OTHER_EMBEDDER, now_ms=store.now_ms)
    assert (health.pending_embedding, health.other_embedder) == (0, 0)


async def test_pending_memories_of_all_users_come_oldest_first(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers coffee", user="omar")
    await store.remember("Prefers water", is_embedded=True)
    await store.remember("Out of office", expires_at_ms=store.now_ms + 1_500)
    store.now_ms += 2_000
    pending = await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10)
    assert [(each.memory.id, each.memory.user) for each in pending] == [("mem-0001", "ines"), ("mem-0002", "omar")]
    assert len(await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=1)) == 1


async def test_the_sweep_counts_what_expired_and_whose(store: DrivenStore) -> None:
    await store.remember("One", user="zoe", expires_at_ms=store.now_ms + 1_500)
    await store.remember("Two", expires_at_ms=store.now_ms + 1_500)
    await store.remember("Three", expires_at_ms=store.now_ms + DAY_MS)
    since_seq = store.reader.seq("ines")
    store.now_ms += 5_000
    expired = await store.expire()
    assert (expired.count, expired.users) == (2, ("ines", "zoe"))
    assert (await store.expire()).count == 0
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=since_seq, now_ms=store.now_ms)
    assert delta.removed == ("mem-0002",)
    assert await store.listed() == ["mem-0003"]


async def test_counts_tell_live_pending_expired_and_scope_apart(store: DrivenStore) -> None:
    await store.remember("One", is_embedded=True, asks=("What?",))
    await store.remember("Two", scope="work")
    await store.remember("Three", scope="home")
    await store.remember("Four", expires_at_ms=store.now_ms + 1_500)
    await store.remember("Five")
    await store.forget("mem-0005")
    counts = await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms)
    assert counts == StoreCounts(live=3, pending_embedding=2, expired=1, tombstones=1, records_without_asks=2)
    assert (await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms, scope="work")).live == 2
    assert (await store.reader.counts("nobody", EMBEDDER, now_ms=store.now_ms)) == StoreCounts(
        live=0, pending_embedding=0
    )


async def test_a_healthy_store_says_so(store: DrivenStore) -> None:
    await store.remember("One", is_embedded=True)
    await store.remember("Two", user="omar")
    await store.remember("Three", user="zoe", expires_at_ms=store.now_ms + 1_500)
    store.now_ms += 5_000  # expired and not swept yet is no damage
    health = await store.reader.health(EMBEDDER, now_ms=store.now_ms)
    assert health.is_readable
    assert health.is_writable
    assert health.fts_matches
    assert (health.users, health.live, health.blank, health.pending_embedding) == (2, 2, 0, 1)
    assert health.detail == ""


async def test_ledger_rows_are_appended_once(store: DrivenStore) -> None:
    rows = tuple(store.decision("ines", Op.RECALL, body=b'{"n":%d}' % number) for number in range(3))
    await store.writer.append_decisions(AppendDecisions(rows=rows))
    await store.writer.append_decisions(AppendDecisions(rows=rows[:1]))
    assert [await store.reader.decision(row.id) for row in rows] == list(rows)


@pytest.fixture
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recalld.actors.store.memory_reader.INDEX_PAGE_MAX", 2)
    monkeypatch.setattr("recalld.daemon.storage.index_delta.INDEX_PAGE_MAX", 2)


@pytest.mark.usefixtures("small_pages")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
async def test_the_pages_of_a_complete_delta_bring_every_live_memory_once(store: DrivenStore, count: int) -> None:
    await store.remember("Somebody else's", user="omar")
    for number in range(count):
        await store.remember(f"Memory number {number}", is_embedded=True)
        await store.remember(f"Somebody else's {number}", user="omar")
    await store.remember("Out of office", expires_at_ms=store.now_ms + 1_500)
    store.now_ms += 5_000
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=0, now_ms=store.now_ms)
    found, more = list(delta.upserts), delta.more
    while more:
        page = await store.reader.index_page("ines", EMBEDDER, after=more, now_ms=store.now_ms)
        found += page.upserts
        more = page.more
    assert (delta.is_complete, delta.total) == (True, count + 1)
    assert len({each.memory_id for each in found}) == len(found) == count
    assert all(each.vectors for each in found)


@pytest.mark.usefixtures("small_pages")
async def test_a_page_goes_on_behind_memories_that_were_forgotten_and_nobody_has_none(store: DrivenStore) -> None:
    for number in range(4):
        await store.remember(f"Memory number {number}", user="probe")
    delta = await store.reader.index_delta("probe", EMBEDDER, since_seq=0, now_ms=store.now_ms)
    assert delta.more
    await store.forget(*(each.memory_id for each in delta.upserts), user="probe")
    left = await store.reader.index_page("probe", EMBEDDER, after=delta.more, now_ms=store.now_ms)
    assert len(left.upserts) == 2
    assert (
        left.more == ""
        or not (await store.reader.index_page("probe", EMBEDDER, after=left.more, now_ms=store.now_ms)).upserts
    )
    nobody = await store.reader.index_page("nobody", EMBEDDER, after=delta.more, now_ms=store.now_ms)
    assert (nobody.upserts, nobody.more) == ((), "")
