"""What the gate knows besides the logit, from the index to the verdict."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from actor_system import FLOOR, System, running_system

from recalld.actors.recall import GateCalibration
from recalld.actors.recall.clauses import united
from recalld.actors.recall.index import Cosines, UserIndex
from recalld.actors.store.packed_vectors import pack_vectors
from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.recall import ViewLogits
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import EmbeddedMemory, IndexDelta, TextVector
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.fusion import VectorHit, evidence_of
from recalld.models.policy.head_inputs import HeadInput
from recalld.models.policy.logistic_head import LogisticHead
from recalld.models.policy.relevance import LOGIT_HEAD, RelevanceHead, RelevanceModel
from recalld.models.policy.tree_head import LEAF, RegressionTree, TreeHead

TEXT = "The deploy key lives in the vault"
PERSONAL = "where does my deploy key live?"
NEAR = "deploy key"
ASKED, ALSO_ASKED = "notes of today", "minutes of then"
IMPERSONAL = "where does the deploy key live?"


def calibrated(head: RelevanceHead) -> GateCalibration:
    model = RelevanceModel(heads=(head, LOGIT_HEAD), threshold=0.5, calibration_id="cal")
    return GateCalibration(floors=FloorValues(record=FLOOR, cue=FLOOR, ask=FLOOR), model=model)


def memory_with_asks(memory_id: str, *asks: tuple[float, float]) -> EmbeddedMemory:
    vectors = tuple(
        TextVector(role=VectorRole.ASK, ordinal=place, data=np.array(ask, dtype="<f2").tobytes())
        for place, ask in enumerate(asks)
    )
    return EmbeddedMemory(
        memory_id=memory_id,
        revision=1,
        scope="",
        expires_at_ms=None,
        has_asks=bool(asks),
        vectors=pack_vectors(vectors),
    )


def test_the_index_tells_the_mean_over_a_memorys_asks_beside_the_best_of_them() -> None:
    index = UserIndex("key", 2)
    memories = (
        memory_with_asks("one", (1.0, 0.0)),
        memory_with_asks("bare"),
        memory_with_asks("two", (0.0, 1.0), (1.0, 0.0)),
    )
    index.apply(IndexDelta(is_complete=True, seq=1, upserts=memories, removed=()))
    query = np.array([1.0, 0.0], dtype=np.float32)
    found = index.search(query, query, scope=None, now_ms=0, limit=3, also=("bare",))
    assert {each.memory_id: (each.ask, each.ask_mean) for each in found} == {
        "one": (1.0, 1.0),
        "two": (1.0, 0.5),
        "bare": (None, None),
    }


def test_a_clause_brings_its_own_mean_along() -> None:
    whole = Cosines(memory_id="m", record=0.4, cue=None, ask=0.5, best_passage=0, best_cue=None, ask_mean=0.4)
    clause = msgspec.structs.replace(whole, ask=0.9, ask_mean=0.7)
    (best,) = united([("", [whole]), ("where to deploy", [clause])]).cosines
    assert (best.ask, best.ask_mean) == (0.9, 0.7)
    assert united([("", [clause]), ("where to deploy", [whole])]).cosines == (clause,)


def test_a_damaged_mean_is_none() -> None:
    assert evidence_of(VectorHit(memory_id="m", ask_cosine=0.5, ask_mean=float("nan"))).ask_mean is None
    assert evidence_of(VectorHit(memory_id="m", ask_cosine=0.5, ask_mean=0.4)).ask_mean == 0.4


@pytest.mark.anyio
async def test_the_gate_knows_the_shape_of_the_query() -> None:
    head = LogisticHead(
        inputs=(HeadInput.LOGIT, HeadInput.IS_PERSONAL),
        weights=(0.1, 4.0),
        means=(0.0, 0.5),
        scales=(1.0, 1.0),
        intercept=0.0,
    )
    async with running_system(System(), calibration=calibrated(head)) as system:
        stored = await system.store_text("ines", TEXT)
        system.scorer.logit = lambda _query, _memory: 0.0
        personal = await system.recall("ines", PERSONAL, session="a")
        impersonal = await system.recall("ines", IMPERSONAL, session="b")
    assert [item.memory.id for item in personal.items] == [stored]
    assert personal.items[0].evidence.shape is not None
    assert impersonal.items == ()


@pytest.mark.anyio
@pytest.mark.parametrize(("weight", "second"), [(2.0, NEAR), (0.0, ALSO_ASKED)])
async def test_fusions_first_is_scored_and_the_other_places_go_to_what_can_become_most_relevant(
    weight: float, second: str
) -> None:
    """Fusion goes by the best of record and ask; this head by the record alone, or, without a weight, by neither."""
    head = LogisticHead(
        inputs=(HeadInput.LOGIT, HeadInput.COSINE),
        weights=(0.1, weight),
        means=(0.0, 0.6),
        scales=(1.0, 1.0),
        intercept=1.0,
    )
    two_places = RecallSettings(candidates_max=2)
    async with running_system(System(), calibration=calibrated(head), recall=two_places) as system:
        await system.store_text("ines", NEAR)
        await system.store_text("ines", ALSO_ASKED, asks=(f"{IMPERSONAL} please",))
        await system.store_text("ines", ASKED, asks=(IMPERSONAL,))
        await system.recall("ines", IMPERSONAL)
    assert {memory for _, memory in system.scorer.scored} == {ASKED, second}


@pytest.mark.anyio
async def test_a_head_of_trees_judges_by_the_views_that_the_gate_scored() -> None:
    """The record's first person says yes to any query; this head asks for the pair as given, which says no."""
    tree = RegressionTree(
        feature=(1, LEAF, LEAF),
        threshold=(0.0, 0.0, 0.0),
        left=(1, LEAF, LEAF),
        right=(2, LEAF, LEAF),
        value=(0, -9, 9),
    )
    start = msgspec.structs.replace(LOGIT_HEAD, weights=(0.0,))
    head = TreeHead(inputs=(HeadInput.LOGIT, HeadInput.LOGIT_AS_GIVEN), start=start, trees=(tree,))
    async with running_system(System(), calibration=calibrated(head)) as system:
        await system.store_text("ines", "The user keeps the deploy key in the vault")
        system.scorer.logit = lambda _query, memory: 5.0 if memory.startswith("I ") else -5.0
        refused = await system.recall("ines", IMPERSONAL, session="a")
        system.scorer.logit = lambda _query, memory: -5.0 if memory.startswith("I ") else 4.0
        (kept,) = (await system.recall("ines", f"{IMPERSONAL} please", session="b")).items
    assert refused.items == ()
    assert kept.evidence.logit == 4.0
    assert kept.evidence.views == ViewLogits(as_given=4.0, rewritten=-5.0)
