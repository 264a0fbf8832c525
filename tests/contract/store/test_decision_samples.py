from __future__ import annotations

import msgspec
import pytest
from store_commands import DrivenStore

from recalld.models.domain.reasons import Op
from recalld.models.domain.store import AppendDecisions

pytestmark = pytest.mark.anyio

RECALL = {
    "is_search": False,
    "items": [{"memory_id": "a", "relevance": 0.25}],
    "dropped": [{"memory_id": "b", "relevance": 0.5}, {"memory_id": "c"}],
    "calibration_id": "own-1",
    "turn": {"decided_by": "history_cue"},
    "shadow_mode": "shadow_silent",
    "served": [],
}


async def append(store: DrivenStore, user: str, op: Op, body: bytes = b"{}", *, mode: str = "gated") -> None:
    store.now_ms += 1
    row = msgspec.structs.replace(store.decision(user, op, body), mode=mode)
    await store.writer.append_decisions(AppendDecisions(rows=(row,)))


async def test_recalls_and_observed_turns_are_read_newest_first_and_of_each_kind_no_more_than_asked(
    store: DrivenStore,
) -> None:
    for op in (Op.RECALL, Op.OBSERVE, Op.REMEMBER, Op.RECALL, Op.RECALL):
        await append(store, "ines", op)
    await append(store, "omar", Op.RECALL)
    samples = await store.reader.decision_samples("ines", limit=2)
    assert [(each.op, store.now_ms - each.at_ms) for each in samples] == [
        (Op.RECALL, 1),
        (Op.RECALL, 2),
        (Op.OBSERVE, 4),
    ]
    assert await store.reader.decision_samples("nobody", limit=2) == ()


async def test_a_recall_is_read_with_what_its_gates_saw_and_its_shadow(store: DrivenStore) -> None:
    await append(store, "ines", Op.RECALL, msgspec.json.encode(RECALL))
    await append(store, "ines", Op.RECALL, msgspec.json.encode(RECALL), mode="floor_only")
    degraded, gated = await store.reader.decision_samples("ines", limit=9)
    assert (gated.relevance, gated.rule, gated.calibration_id) == (0.5, "history_cue", "own-1")
    assert (gated.shadow_mode, gated.decided, gated.served, gated.is_differing) == ("shadow_silent", 1, 0, True)
    assert degraded.relevance is None


async def test_a_turn_is_read_with_what_shadow_mode_kept_from_being_stored(store: DrivenStore) -> None:
    facts = [
        {"disposition": "observe", "decided_by": "shadow:record/stated"},
        {"disposition": "record", "decided_by": "stated"},
    ]
    await append(store, "ines", Op.OBSERVE, msgspec.json.encode({"facts": facts}))
    (sample,) = await store.reader.decision_samples("ines", limit=9)
    assert (sample.shadow_mode, sample.decided, sample.served, sample.is_differing) == ("shadow", 2, 1, True)


async def test_a_body_that_cannot_be_read_leaves_what_its_columns_say(store: DrivenStore) -> None:
    await append(store, "ines", Op.RECALL, b"\xff")
    await append(store, "ines", Op.OBSERVE, b"[]")
    recall, turn = await store.reader.decision_samples("ines", limit=9)
    assert (recall.decision, recall.relevance, turn.decision) == ("kept", None, "kept")


async def test_users_are_named_with_the_newest_decisions_first(store: DrivenStore) -> None:
    for user in ("ines", "omar", "ünal", "ines"):
        await append(store, user, Op.RECALL)
    since_ms = store.now_ms - 2
    assert await store.reader.deciding_users(since_ms=since_ms, limit=9) == ("ines", "ünal", "omar")
    assert await store.reader.deciding_users(since_ms=since_ms, limit=1) == ("ines",)
    assert await store.reader.deciding_users(since_ms=store.now_ms + 1, limit=9) == ()
