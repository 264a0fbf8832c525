from __future__ import annotations

import json

import pytest
from store_commands import DAY_MS, EMBEDDER, OTHER_EMBEDDER, DrivenStore

from recalld.actors.store.packed_vectors import unpack_vectors
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import MemoryKind, TextOrigin, VectorRole
from recalld.models.domain.store import ListFilter, PutVectors, TextVector

pytestmark = pytest.mark.anyio


def vector(role: VectorRole, ordinal: int, value: int) -> TextVector:
    return TextVector(role=role, ordinal=ordinal, data=bytes([value] * 8))


async def indexed(store: DrivenStore, memory_id: str, embedder_key: str = EMBEDDER) -> dict[tuple[str, int], bytes]:
    """The vectors of a memory as an index gets them."""
    delta = await store.reader.index_delta("ines", embedder_key, since_seq=0, now_ms=store.now_ms)
    (found,) = (each for each in delta.upserts if each.memory_id == memory_id)
    return {(vector.role.value, vector.ordinal): vector.data for vector in unpack_vectors(found.vectors)}


async def pending(store: DrivenStore, embedder_key: str = EMBEDDER) -> list[str]:
    waiting = await store.reader.pending(embedder_key, now_ms=store.now_ms, limit=10)
    return [each.memory.id for each in waiting]


async def test_an_update_replaces_what_it_names_and_keeps_the_rest(store: DrivenStore) -> None:
    expires_at_ms = store.now_ms + DAY_MS
    memory_id = await store.store(
        "Prefers tea", cues=("drinks",), asks=("What to drink?",), expires_at_ms=expires_at_ms
    )
    updated = await store.update(memory_id, asks=("Which beverage?",), kind=MemoryKind.PREFERENCE)
    assert updated.is_changed
    memory = updated.memory
    assert (memory.text, memory.cues, memory.asks) == ("Prefers tea", ("drinks",), ("Which beverage?",))
    assert (memory.kind, memory.expires_at_ms, memory.revision) == (MemoryKind.PREFERENCE, expires_at_ms, 2)
    assert memory.updated_at_ms == store.now_ms > memory.created_at_ms
    assert await store.reader.memory("ines", memory_id) == memory


async def test_the_words_of_new_asks_find_the_memory_and_those_of_old_ones_do_not(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", asks=("What to drink?",))
    await store.update(memory_id, asks=("Which beverage?",))
    assert await store.found("beverage") == [memory_id]
    assert await store.found("drink") == []


async def test_an_expiry_can_be_taken_away(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", expires_at_ms=store.now_ms + DAY_MS)
    assert (await store.update(memory_id, expires_at_ms=None)).memory.expires_at_ms is None


async def test_an_update_that_changes_nothing_writes_nothing(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", cues=("drinks",), scope="home")
    seq = store.reader.seq("ines")
    updated = await store.update(memory_id, cues=("drinks",), scope="home")
    assert not updated.is_changed
    assert updated.memory.revision == 1
    assert store.reader.seq("ines") == seq
    assert await store.reader.decision(f"dec-{store.decisions}") is None


async def test_what_was_changed_stands_in_the_ledger_as_counts_without_text(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", asks=("What to drink?",))
    await store.update(memory_id, asks=("What to drink?", "Which beverage?"), scope="home")
    row = await store.reader.decision(f"dec-{store.decisions}")
    assert row is not None
    assert (row.op, row.decision) == ("update", "updated")
    assert json.loads(row.body) == {
        "memory_id": memory_id,
        "changed": ["asks", "scope"],
        "cues": {"before": 0, "after": 0, "new": 0},
        "asks": {"before": 1, "after": 2, "new": 1},
    }


async def test_another_revision_is_a_conflict_and_nothing_is_written(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    await store.update(memory_id, asks=("What to drink?",), if_revision=1)
    with pytest.raises(RecalldError, match="revision 2, not 1") as error:
        await store.update(memory_id, asks=(), if_revision=1)
    assert error.value.code is ErrorCode.CONFLICT
    memory = await store.reader.memory("ines", memory_id)
    assert memory is not None
    assert memory.asks == ("What to drink?",)


async def test_what_is_not_there_or_no_longer_live_is_not_found(store: DrivenStore) -> None:
    forgotten = await store.store("Prefers tea")
    await store.forget(forgotten)
    expired = await store.store("Prefers coffee", expires_at_ms=store.now_ms + 2_000)
    store.now_ms += 5_000
    others = await store.store("Prefers milk", user="olga")
    for memory_id in ("mem-unknown", forgotten, expired, others):
        with pytest.raises(RecalldError, match="no live memory") as error:
            await store.update(memory_id, asks=("What to drink?",))
        assert error.value.code is ErrorCode.NOT_FOUND


async def test_the_same_words_in_the_new_scope_are_a_conflict(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", scope="home")
    await store.store("prefers tea.", scope="work")
    with pytest.raises(RecalldError, match="'work' already") as error:
        await store.update(memory_id, scope="work")
    assert error.value.code is ErrorCode.CONFLICT
    assert await store.found("tea", scope="home") == [memory_id]


async def test_expired_words_do_not_stand_in_the_way_of_a_new_scope(store: DrivenStore) -> None:
    await store.store("Prefers tea", scope="work", expires_at_ms=store.now_ms + 2_000)
    store.now_ms += 5_000
    memory_id = await store.store("Prefers tea", scope="home")
    assert (await store.update(memory_id, scope="work")).memory.scope == "work"
    assert await store.listed(what=ListFilter(scope="work")) == [memory_id]


async def test_texts_that_stay_keep_their_vectors_wherever_they_stand(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", asks=("A?", "B?"))
    await store.writer.put_vectors(
        _vectors(memory_id, (VectorRole.RECORD, 0, 1), (VectorRole.ASK, 0, 2), (VectorRole.ASK, 1, 3))
    )
    updated = await store.update(
        memory_id, asks=("C?", "B?"), vectors=(vector(VectorRole.ASK, 0, 4),), embedder_key=EMBEDDER
    )
    assert updated.is_embedded
    assert await indexed(store, memory_id) == {("record", 0): b"\1" * 8, ("ask", 0): b"\4" * 8, ("ask", 1): b"\3" * 8}
    assert await pending(store) == []


async def test_a_memory_whose_new_asks_have_no_vectors_yet_is_pending_and_still_found(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", asks=("A?",))
    await store.writer.put_vectors(_vectors(memory_id, (VectorRole.RECORD, 0, 1), (VectorRole.ASK, 0, 2)))
    updated = await store.update(memory_id, asks=("A?", "B?"))
    assert not updated.is_embedded
    assert await indexed(store, memory_id) == {("record", 0): b"\1" * 8, ("ask", 0): b"\2" * 8}
    assert await pending(store) == [memory_id]
    counts = await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms)
    assert counts.pending_embedding == 1
    health = await store.reader.health(EMBEDDER, now_ms=store.now_ms)
    assert (health.pending_embedding, health.other_embedder) == (1, 0)


async def test_vectors_made_later_complete_the_memory(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    await store.embed(memory_id)
    await store.update(memory_id, asks=("A?",))
    made = _vectors(memory_id, (VectorRole.RECORD, 0, 5), (VectorRole.ASK, 0, 6), revision=2)
    assert await store.writer.put_vectors(made)
    assert await pending(store) == []
    assert await indexed(store, memory_id) == {("record", 0): b"\5" * 8, ("ask", 0): b"\6" * 8}


async def test_vectors_made_for_the_state_before_are_not_taken(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    await store.update(memory_id, kind=MemoryKind.PREFERENCE)
    assert not await store.embed(memory_id, revision=1)


async def test_a_change_without_new_texts_needs_no_new_vectors(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", asks=("A?", "B?"))
    await store.writer.put_vectors(
        _vectors(memory_id, (VectorRole.RECORD, 0, 1), (VectorRole.ASK, 0, 2), (VectorRole.ASK, 1, 3))
    )
    updated = await store.update(memory_id, asks=("B?",), scope="home")
    assert updated.is_embedded
    assert await indexed(store, memory_id) == {("record", 0): b"\1" * 8, ("ask", 0): b"\3" * 8}
    assert await pending(store) == []


async def test_vectors_of_another_embedder_do_not_mix_with_new_ones(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    await store.embed(memory_id, embedder_key=OTHER_EMBEDDER)
    updated = await store.update(
        memory_id, asks=("A?",), vectors=(vector(VectorRole.ASK, 0, 2),), embedder_key=EMBEDDER
    )
    assert not updated.is_embedded
    assert await indexed(store, memory_id) == {("ask", 0): b"\2" * 8}
    assert await indexed(store, memory_id, OTHER_EMBEDDER) == {}
    assert await pending(store) == [memory_id]


async def test_a_memory_without_any_vector_stays_pending(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    updated = await store.update(memory_id, kind=MemoryKind.PREFERENCE)
    assert not updated.is_embedded
    assert await pending(store) == [memory_id]


async def test_an_index_learns_of_an_update(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    seq = store.reader.seq("ines")
    await store.update(memory_id, asks=("A?",), scope="home")
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=seq, now_ms=store.now_ms)
    (changed,) = delta.upserts
    assert (changed.memory_id, changed.revision, changed.scope, changed.has_asks) == (memory_id, 2, "home", True)


async def test_text_that_is_not_unicode_is_refused(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea")
    with pytest.raises(RecalldError) as error:
        await store.update(memory_id, asks=("\ud800",))
    assert error.value.code is ErrorCode.BAD_REQUEST
    memory = await store.reader.memory("ines", memory_id)
    assert memory is not None
    assert memory.revision == 1


async def test_a_listing_can_be_limited_to_memories_without_asks(store: DrivenStore) -> None:
    await store.store("Prefers tea", asks=("What to drink?",))
    bare = await store.store("Lives in Bonn", cues=("home",))
    what = ListFilter(without_asks=True)
    page = await store.reader.list_memories("ines", what, now_ms=store.now_ms, limit=10, cursor=None)
    assert ([memory.id for memory in page.memories], page.total) == ([bare], 1)
    await store.update(bare, asks=("Where is home?",))
    assert await store.listed(what=what) == []


def _vectors(memory_id: str, *vectors: tuple[VectorRole, int, int], revision: int = 1) -> PutVectors:
    return PutVectors(
        user="ines",
        memory_id=memory_id,
        revision=revision,
        embedder_key=EMBEDDER,
        vectors=tuple(vector(*each) for each in vectors),
    )


async def test_who_wrote_each_text_is_kept_through_saving_and_changing(store: DrivenStore) -> None:
    memory_id = await store.store(
        "Prefers tea", cues=("drinks", "tea"), added_cues=1, asks=("What to drink?",), added_asks=1
    )
    memory = await store.reader.memory("ines", memory_id)
    assert memory is not None
    assert (memory.cue_origins, memory.ask_origins) == ((TextOrigin.GIVEN, TextOrigin.RULE), (TextOrigin.RULE,))
    asks = ("Which beverage?", "What to drink?")
    written = (await store.update(memory_id, asks=asks, origin=TextOrigin.MODEL)).memory
    assert written.ask_origins == (TextOrigin.MODEL, TextOrigin.RULE)
    assert written.cue_origins == memory.cue_origins
    assert await store.reader.memory("ines", memory_id) == written
    given = (await store.update(memory_id, asks=("Tea or coffee?",), cues=())).memory
    assert (given.cue_origins, given.ask_origins) == ((), ())
    assert await store.reader.memory("ines", memory_id) == given


async def test_what_is_given_with_the_same_words_takes_the_place_of_what_was_added(store: DrivenStore) -> None:
    memory_id = await store.store("Prefers tea", asks=("What to drink?",), added_asks=1)
    again = await store.remember("Prefers tea", asks=("Which beverage?",))
    assert again.memory is not None
    assert (again.memory.id, again.memory.asks, again.memory.ask_origins) == (memory_id, ("Which beverage?",), ())
    kept = await store.remember("Prefers tea", asks=("What to drink?",), added_asks=1)
    assert kept.memory == again.memory
