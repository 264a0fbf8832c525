from __future__ import annotations

import pytest
from store_commands import EMBEDDER, DrivenStore

from recalld.models.domain.reasons import RememberOutcome
from recalld.models.domain.records import MemoryStatus
from recalld.models.domain.store import Checkpoint

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("is_hard", [False, True])
async def test_a_forgotten_memory_is_gone_from_every_way_of_reading(store: DrivenStore, *, is_hard: bool) -> None:
    await store.remember("Prefers tea", is_embedded=True, cues=("drinks",))
    since_seq = store.reader.seq("ines")
    forgotten = await store.forget("mem-0001", is_hard=is_hard)
    assert (forgotten.ids, forgotten.tombstones) == (("mem-0001",), 1)
    assert await store.reader.memory("ines", "mem-0001") is None
    assert await store.listed() == []
    assert await store.found("tea drinks") == []
    assert await store.reader.pending("another", now_ms=store.now_ms, limit=10) == []
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=since_seq, now_ms=store.now_ms)
    assert (delta.removed, delta.upserts) == (("mem-0001",), ())
    counts = await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms)
    assert (counts.live, counts.tombstones) == (0, 1)


async def test_ghosts_never_take_the_place_of_a_live_memory(store: DrivenStore) -> None:
    # S05: one stays, one is forgotten, one has expired but not been swept.
    await store.remember("The canary is in the mine, says Ada")
    await store.remember("The canary is in the mine, says Bob")
    await store.remember("The canary is in the mine, says Cyd", expires_at_ms=store.now_ms + 1_500)
    await store.forget("mem-0002")
    assert await store.found("canary mine", limit=1) == ["mem-0001"]
    assert (await store.expire()).count == 1
    assert await store.found("canary mine", limit=1) == ["mem-0001"]


async def test_only_an_explicit_save_brings_forgotten_words_back(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.forget("mem-0001")
    refused = await store.remember("prefers TEA", is_explicit=False)
    assert (refused.outcome, refused.memory) == (None, None)
    assert await store.listed() == []
    row = await store.reader.decision(refused.decision_id)
    assert row is not None
    assert (await store.remember("Prefers tea")).outcome is RememberOutcome.CREATED
    assert (await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms)).tombstones == 0
    assert (await store.remember("Prefers tea", is_explicit=False)).outcome is RememberOutcome.DUPLICATE


async def test_a_refusal_left_open_in_the_ledger_says_so(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.forget("mem-0001")
    refused = await store.remember("Prefers tea", is_explicit=False, decision="")
    row = await store.reader.decision(refused.decision_id)
    assert row is not None
    assert (row.decision, row.reason) == ("refused", "tombstoned")


async def test_a_tombstone_holds_in_every_scope_but_for_one_user_only(store: DrivenStore) -> None:
    await store.remember("Prefers tea", scope="home")
    await store.forget("mem-0001")
    assert (await store.remember("Prefers tea", scope="work", is_explicit=False)).outcome is None
    assert (await store.remember("Prefers tea", user="omar", is_explicit=False)).outcome is RememberOutcome.CREATED


async def test_a_tombstone_catches_a_forgotten_text_in_other_case_until_it_is_saved_on_purpose(
    store: DrivenStore,
) -> None:
    await store.remember("The safe password is aBc")
    await store.forget("mem-0001")
    assert (await store.remember("the safe password is ABC!", is_explicit=False)).outcome is None
    assert (await store.remember("The safe password is AbC")).outcome is RememberOutcome.CREATED
    assert (await store.remember("The safe password is aBC", is_explicit=False)).outcome is RememberOutcome.CREATED


async def test_unknown_and_foreign_and_forgotten_ids_are_not_forgotten_again(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers coffee", user="omar")
    await store.forget("mem-0001")
    forgotten = await store.forget("mem-0001", "mem-0002", "mem-9999", "")
    assert (forgotten.ids, forgotten.tombstones) == ((), 0)
    assert await store.listed("omar") == ["mem-0002"]


async def test_forgetting_for_a_user_without_memories_is_recorded_and_does_nothing(store: DrivenStore) -> None:
    forgotten = await store.forget("mem-0001", user="nobody")
    assert forgotten.ids == ()
    assert await store.reader.decision("dec-1") is not None


async def test_the_same_text_in_two_scopes_leaves_one_tombstone(store: DrivenStore) -> None:
    await store.remember("Prefers tea", scope="home")
    await store.remember("Prefers tea", scope="work")
    forgotten = await store.forget("mem-0001", "mem-0002", "mem-0001")
    assert (forgotten.ids, forgotten.tombstones) == (("mem-0001", "mem-0002"), 1)


async def test_an_expired_memory_can_still_be_forgotten(store: DrivenStore) -> None:
    await store.remember("Out of office", expires_at_ms=store.now_ms + 1_500)
    store.now_ms += 5_000
    await store.expire()
    assert await store.reader.memory("ines", "mem-0001") is not None
    assert (await store.forget("mem-0001")).ids == ("mem-0001",)
    assert await store.reader.memory("ines", "mem-0001") is None


@pytest.mark.parametrize(
    "body",
    [
        b'{"items":["mem-0001"]}',
        b'{"query":"is it so that the canary sings at noon today?"}',
        b'{"text":"the canary sings at noon"}',
    ],
)
async def test_ledger_bodies_that_repeat_a_forgotten_memory_are_emptied(store: DrivenStore, body: bytes) -> None:
    await store.remember("the canary sings at noon")
    await store.remember("Unrelated", body=body)
    await store.remember("Also unrelated", body=b'{"n":1}')
    await store.forget("mem-0001")
    cleaned, kept = [await store.reader.decision(id_) for id_ in ("dec-2", "dec-3")]
    assert cleaned is not None
    assert kept is not None
    assert (cleaned.body, kept.body) == (b"{}", b'{"n":1}')


async def test_a_short_forgotten_text_empties_only_bodies_that_hold_it_whole(store: DrivenStore) -> None:
    await store.remember("ok", body=b'{"a":"ok"}')
    await store.remember("Unrelated", body=b'{"a":"the token is ok"}')
    await store.forget("mem-0001")
    bodies = [row.body for id_ in ("dec-1", "dec-2") if (row := await store.reader.decision(id_)) is not None]
    assert bodies == [b"{}", b'{"a":"the token is ok"}']


async def test_text_outside_ascii_is_found_in_bodies_however_it_was_escaped(store: DrivenStore) -> None:
    await store.remember("größte Überraschung", body='{"q":"größte Überraschung"}'.encode())
    await store.remember("Unrelated", body=b'{"q":"gr\\u00f6\\u00dfte \\u00dcberraschung"}')
    await store.forget("mem-0001")
    bodies = [row.body for id_ in ("dec-1", "dec-2") if (row := await store.reader.decision(id_)) is not None]
    assert bodies == [b"{}", b"{}"]


async def test_a_purge_of_all_memories_leaves_nothing_of_the_user_and_everything_of_others(store: DrivenStore) -> None:
    await store.remember("Prefers tea", user="probe", turn_key="s\x1f1", is_embedded=True)
    await store.remember("Prefers coffee", user="probe")
    await store.remember("Prefers water")
    before = store.reader.seq("probe")
    purged = await store.forget("mem-0001", "mem-0002", user="probe", is_purge=True)
    assert (purged.ids, purged.tombstones) == (("mem-0001", "mem-0002"), 0)
    assert await store.reader.erasable("probe", ("mem-0001", "mem-0002")) == {}
    assert await store.found("prefers", user="probe") == []
    assert (await store.reader.counts("probe", EMBEDDER, now_ms=store.now_ms)).tombstones == 0
    assert [await store.reader.decision(f"dec-{number}") for number in (1, 2, 4)] == [None] * 3
    assert await store.reader.decision("dec-3") is not None
    assert await store.listed() == ["mem-0003"]
    # An index of the purged user that lives in memory must learn of it.
    after = store.reader.seq("probe")
    assert after > before
    delta = await store.reader.index_delta("probe", EMBEDDER, since_seq=before, now_ms=store.now_ms)
    assert (delta.is_complete, delta.upserts, delta.seq) == (True, (), after)


async def test_a_purge_takes_the_named_memory_and_what_comes_of_it_and_nothing_else(store: DrivenStore) -> None:
    await store.remember("Prefers tea", turn_key="s\x1f1", is_embedded=True)
    await store.remember("Prefers coffee", turn_key="s\x1f2", is_embedded=True)
    await store.remember("Prefers water", body=b'{"items":["mem-0001"]}')
    before = store.reader.seq("ines")
    purged = await store.forget("mem-0001", "mem-9999", is_purge=True)
    assert (purged.ids, purged.tombstones) == (("mem-0001",), 0)
    assert await store.listed() == ["mem-0003", "mem-0002"]
    assert await store.found("prefers") == ["mem-0003", "mem-0002"]
    kept = [number for number in (1, 2, 3, 4) if await store.reader.decision(f"dec-{number}") is not None]
    assert kept == [2]  # those that led to it, name it or speak of the purge are gone
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=before, now_ms=store.now_ms)
    assert (delta.is_complete, delta.upserts, delta.removed) == (False, (), ("mem-0001",))
    again = await store.remember("Prefers tea", turn_key="s\x1f1", is_explicit=False)
    assert again.outcome is RememberOutcome.CREATED
    assert (await store.remember("Prefers coffee", turn_key="s\x1f2")).decision_id == "dec-2"


@pytest.mark.parametrize("ids", [(), ("mem-9999",), ("mem-0002",)])
async def test_a_purge_of_what_is_not_there_removes_nothing(store: DrivenStore, ids: tuple[str, ...]) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers coffee", user="omar")
    assert (await store.forget(*ids, is_purge=True)).ids == ()
    assert await store.listed() == ["mem-0001"]
    assert await store.listed("omar") == ["mem-0002"]
    assert await store.reader.decision("dec-1") is not None


async def test_a_purge_keeps_the_tombstones_of_other_memories(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers coffee")
    await store.forget("mem-0001", is_hard=True)
    assert (await store.forget("mem-0002", is_purge=True)).ids == ("mem-0002",)
    assert (await store.remember("Prefers tea", is_explicit=False)).outcome is None


async def test_a_purged_user_can_start_anew(store: DrivenStore) -> None:
    await store.remember("Prefers tea", user="probe", turn_key="s\x1f1")
    await store.forget("mem-0001", user="probe", is_purge=True)
    seq = store.reader.seq("probe")
    again = await store.remember("Prefers tea", user="probe", turn_key="s\x1f1", is_explicit=False)
    assert again.outcome is RememberOutcome.CREATED
    assert store.reader.seq("probe") > seq
    assert await store.found("tea", user="probe") == ["mem-0002"]


async def test_purging_an_unknown_user_does_nothing(store: DrivenStore) -> None:
    assert (await store.forget("mem-0001", user="nobody", is_purge=True)).ids == ()
    assert await store.reader.decision("dec-1") is None


@pytest.mark.parametrize("is_purge", [False, True])
async def test_what_a_plain_forgetting_left_goes_with_a_hard_one_and_is_counted(
    store: DrivenStore, *, is_purge: bool
) -> None:
    await store.remember("Prefers tea")
    await store.forget("mem-0001")
    assert await store.reader.memories("ines", ("mem-0001",)) == {}
    left = await store.reader.erasable("ines", ("mem-0001", "mem-9999"))
    assert [(memory.id, memory.text, memory.status) for memory in left.values()] == [
        ("mem-0001", "", MemoryStatus.FORGOTTEN)
    ]
    gone = await store.forget("mem-0001", is_hard=not is_purge, is_purge=is_purge)
    assert (gone.ids, gone.tombstones, gone.is_erasure_pending) == (("mem-0001",), 0, False)
    assert await store.reader.erasable("ines", ("mem-0001",)) == {}
    assert (await store.forget("mem-0001", is_hard=True)).ids == ()


async def test_a_checkpoint_trims_old_decisions_and_turns(store: DrivenStore) -> None:
    await store.remember("Prefers tea", turn_key="s\x1f1")
    store.now_ms += 10_000
    await store.remember("Prefers coffee", turn_key="s\x1f2")
    await store.writer.checkpoint(Checkpoint(now_ms=store.now_ms, ledger_keep_ms=5_000))
    assert await store.reader.decision("dec-1") is None
    assert await store.reader.decision("dec-2") is not None
    assert (await store.remember("x", turn_key="s\x1f1")).decision_id == "dec-3"
    assert (await store.remember("y", turn_key="s\x1f2")).decision_id == "dec-2"
