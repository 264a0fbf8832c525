from __future__ import annotations

import pytest
from store_commands import DAY_MS, EMBEDDER, DrivenStore

from recalld.actors.store.packed_vectors import unpack_vectors
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import AdmissionReason, RememberOutcome
from recalld.models.domain.records import MemoryKind, MemoryStatus
from recalld.models.domain.store import DecisionRow

pytestmark = pytest.mark.anyio


async def test_a_new_memory_is_stored_as_it_was_given(store: DrivenStore) -> None:
    remembered = await store.remember(
        "Prefers tea", kind=MemoryKind.PREFERENCE, scope="home", cues=("drinks",), asks=("What to drink?",)
    )
    assert remembered.outcome is RememberOutcome.CREATED
    memory = remembered.memory
    assert memory is not None
    assert await store.reader.memory("ines", memory.id) == memory
    assert (memory.text, memory.kind, memory.scope) == ("Prefers tea", MemoryKind.PREFERENCE, "home")
    assert (memory.cues, memory.asks, memory.revision) == (("drinks",), ("What to drink?",), 1)
    assert (memory.status, memory.created_at_ms, memory.updated_at_ms) == (
        MemoryStatus.ACTIVE,
        store.now_ms,
        store.now_ms,
    )


async def test_the_same_words_again_change_nothing(store: DrivenStore) -> None:
    first = await store.remember("Prefers tea")
    seq = store.reader.seq("ines")
    again = await store.remember("  prefers   tea. ")
    assert again.outcome is RememberOutcome.DUPLICATE
    assert again.memory == first.memory
    assert store.reader.seq("ines") == seq
    assert await store.listed() == ["mem-0001"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C is fast", "C++ is fast"),
        ("Due on the 15th", "Due on the 16th"),
        ("The safe password is aBc", "The safe password is AbC"),
        ("x == y", "x != y"),
    ],
)
async def test_nearly_the_same_words_are_two_memories(store: DrivenStore, one: str, other: str) -> None:
    await store.remember(one)
    remembered = await store.remember(other)
    assert remembered.outcome is RememberOutcome.CREATED
    assert len(await store.listed()) == 2


async def test_the_same_words_in_another_scope_are_another_memory(store: DrivenStore) -> None:
    await store.remember("Prefers tea", scope="home")
    remembered = await store.remember("Prefers tea", scope="work")
    assert remembered.outcome is RememberOutcome.CREATED


async def test_new_cues_and_asks_update_the_memory_and_its_revision(store: DrivenStore) -> None:
    await store.remember("Prefers tea", cues=("drinks",))
    updated = await store.remember("Prefers tea", asks=("Which beverage?",))
    assert updated.outcome is RememberOutcome.UPDATED
    assert updated.memory is not None
    assert (updated.memory.cues, updated.memory.asks) == (("drinks",), ("Which beverage?",))
    assert updated.memory.revision == 2
    assert updated.memory.created_at_ms < updated.memory.updated_at_ms
    assert await store.found("beverage") == ["mem-0001"]
    assert await store.reader.memory("ines", "mem-0001") == updated.memory


async def test_a_new_kind_or_expiry_updates_the_memory_but_not_its_revision(store: DrivenStore) -> None:
    await store.remember("Prefers tea", is_embedded=True)
    expires_at_ms = store.now_ms + DAY_MS
    updated = await store.remember("Prefers tea", kind=MemoryKind.PREFERENCE, expires_at_ms=expires_at_ms)
    assert updated.outcome is RememberOutcome.UPDATED
    assert updated.memory is not None
    assert (updated.memory.kind, updated.memory.expires_at_ms) == (MemoryKind.PREFERENCE, expires_at_ms)
    assert updated.memory.revision == 1
    assert (await store.reader.counts("ines", EMBEDDER, now_ms=store.now_ms)).pending_embedding == 0


async def test_saving_again_without_expiry_or_kind_keeps_both(store: DrivenStore) -> None:
    first = await store.remember("Prefers tea", kind=MemoryKind.PREFERENCE, expires_at_ms=store.now_ms + DAY_MS)
    again = await store.remember("Prefers tea")
    assert again.outcome is RememberOutcome.DUPLICATE
    assert again.memory == first.memory


async def test_an_expired_memory_does_not_swallow_the_same_words_saved_again(store: DrivenStore) -> None:
    await store.remember("Out of office", expires_at_ms=store.now_ms + 2_000)
    store.now_ms += 5_000
    again = await store.remember("Out of office")
    assert again.outcome is RememberOutcome.CREATED
    assert await store.listed() == ["mem-0002"]
    assert await store.found("office") == ["mem-0002"]


async def test_vectors_that_match_the_texts_are_stored_with_them(store: DrivenStore) -> None:
    await store.remember("Prefers tea", cues=("drinks",), is_embedded=True)
    delta = await store.reader.index_delta("ines", EMBEDDER, since_seq=0, now_ms=store.now_ms)
    assert [(vector.role, vector.ordinal) for vector in unpack_vectors(delta.upserts[0].vectors)] == [
        ("record", 0),
        ("cue", 0),
    ]


async def test_an_update_whose_vectors_lack_kept_texts_waits_to_be_embedded(store: DrivenStore) -> None:
    await store.remember("Prefers tea", cues=("drinks",), is_embedded=True)
    await store.remember("Prefers tea", asks=("Which beverage?",), is_embedded=True)
    pending = await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10)
    assert [(each.memory.id, each.memory.revision) for each in pending] == [("mem-0001", 2)]


async def test_an_update_that_brings_all_texts_is_embedded_at_once(store: DrivenStore) -> None:
    await store.remember("Prefers tea", is_embedded=True)
    await store.remember("Prefers tea", cues=("drinks",), is_embedded=True)
    assert await store.reader.pending(EMBEDDER, now_ms=store.now_ms, limit=10) == []


async def test_a_taken_id_is_a_conflict_and_stores_nothing(store: DrivenStore) -> None:
    await store.remember("Prefers tea", memory_id="mem-x")
    with pytest.raises(RecalldError) as caught:
        await store.remember("Prefers coffee", memory_id="mem-x", user="other")
    assert caught.value.code is ErrorCode.CONFLICT
    assert await store.listed("other") == []
    assert await store.reader.decision("dec-2") is None


@pytest.mark.parametrize("text", ["broken \ud800 text", "\udfff"])
async def test_text_that_is_no_unicode_is_a_bad_request(store: DrivenStore, text: str) -> None:
    with pytest.raises(RecalldError) as caught:
        await store.remember(text)
    assert caught.value.code is ErrorCode.BAD_REQUEST
    assert await store.listed() == []


async def test_a_turn_seen_before_answers_as_it_did_and_stores_nothing(store: DrivenStore) -> None:
    first = await store.remember("Prefers tea", turn_key="s\x1f1")
    again = await store.remember("Something else entirely", turn_key="s\x1f1")
    assert again == first
    assert await store.listed() == ["mem-0001"]
    assert await store.reader.decision("dec-2") is None


async def test_the_same_turn_id_of_another_user_is_another_turn(store: DrivenStore) -> None:
    await store.remember("Prefers tea", turn_key="s\x1f1")
    other = await store.remember("Prefers coffee", turn_key="s\x1f1", user="omar")
    assert other.outcome is RememberOutcome.CREATED


async def test_a_repeated_turn_does_not_bring_a_forgotten_memory_back(store: DrivenStore) -> None:
    await store.remember("Prefers tea", turn_key="s\x1f1")
    await store.forget("mem-0001", is_hard=True)
    again = await store.remember("Prefers tea", turn_key="s\x1f1")
    assert (again.outcome, again.memory, again.decision_id) == (RememberOutcome.CREATED, None, "dec-1")
    assert await store.listed() == []


async def test_a_turn_that_led_to_nothing_is_decided_once(store: DrivenStore) -> None:
    first = await store.record_turn("s\x1f2", AdmissionReason.QUESTION)
    again = await store.record_turn("s\x1f2", AdmissionReason.NOT_EXPLICIT)
    assert (again.decision_id, again.reason, again.memory) == (first.decision_id, AdmissionReason.QUESTION, None)


async def test_a_turn_that_stored_something_answers_with_it_when_it_is_noted_again(store: DrivenStore) -> None:
    stored = await store.remember("Prefers tea", turn_key="s\x1f3")
    again = await store.record_turn("s\x1f3", AdmissionReason.NOT_EXPLICIT)
    assert (again.decision_id, again.reason) == (stored.decision_id, AdmissionReason.EXPLICIT_SAVE)
    assert again.memory == stored.memory


async def test_a_turn_noted_first_and_then_stored_keeps_its_first_decision(store: DrivenStore) -> None:
    first = await store.record_turn("s\x1f4", AdmissionReason.QUESTION)
    again = await store.remember("Prefers tea", turn_key="s\x1f4")
    assert (again.outcome, again.memory, again.decision_id) == (None, None, first.decision_id)


async def test_the_ledger_row_is_written_with_the_memory(store: DrivenStore) -> None:
    remembered = await store.remember("Prefers tea", body=b'{"n":1}')
    row = await store.reader.decision(remembered.decision_id)
    assert isinstance(row, DecisionRow)
    assert (row.user, row.decision, row.reason, row.body) == ("ines", "kept", "explicit_save", b'{"n":1}')
    assert await store.reader.decision("dec-99") is None


async def test_a_decision_left_open_is_filled_in_with_the_outcome(store: DrivenStore) -> None:
    await store.remember("Prefers tea", decision="")
    await store.remember("Prefers tea", decision="")
    rows = [await store.reader.decision(f"dec-{number}") for number in (1, 2)]
    assert [(row.decision, row.reason) for row in rows if row is not None] == [
        ("created", "explicit_save"),
        ("duplicate", "duplicate"),
    ]
