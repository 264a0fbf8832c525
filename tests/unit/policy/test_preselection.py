from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.domain.store import LexicalHit
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.fusion import Legs, VectorHit, evidence_of, fuse
from recalld.models.policy.preselection import preselect
from recalld.models.policy.temporal.query_times import QueryTimes

FLOORS = FloorValues(record=0.4, cue=0.5, ask=0.6)
NOW_MS = 1_790_000_000_000
DAY_MS = 86_400_000
cosines = st.none() | st.floats(-1, 1)


def memory(memory_id: str, at_ms: int) -> Memory:
    return Memory(
        id=memory_id,
        user="ines",
        text="t",
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=at_ms,
        updated_at_ms=at_ms,
        expires_at_ms=None,
        revision=1,
    )


@st.composite
def nominated(draw: st.DrawFn) -> tuple[Legs, dict[str, Memory]]:
    ids = [f"mem_{number}" for number in range(draw(st.integers(0, 12)))]
    hits = tuple(
        VectorHit(memory_id=each, cosine=draw(cosines), cue_cosine=draw(cosines), ask_cosine=draw(cosines))
        for each in ids
    )
    lexical = tuple(
        LexicalHit(memory_id=each, score=draw(st.floats(0, 50))) for each in ids if draw(st.integers(0, 4)) == 0
    )
    timed = tuple(each for each in ids if draw(st.integers(0, 6)) == 0)
    memories = {each: memory(each, NOW_MS - draw(st.integers(0, 400)) * DAY_MS) for each in ids}
    return Legs(vector=hits, lexical=lexical, time=timed), memories


@given(nominated(), st.integers(0, 12))
def test_everything_nominated_is_either_read_or_accounted_for(
    nominated: tuple[Legs, dict[str, Memory]], limit: int
) -> None:
    legs, memories = nominated
    chosen = preselect(legs, lambda each: times_of(memories[each]), floors=FLOORS, now_ms=NOW_MS, limit=limit)
    unread = [each.memory_id for each in chosen.unread]
    assert sorted([*chosen.wanted, *unread]) == sorted(legs.memory_ids())
    assert {*(hit.memory_id for hit in legs.lexical), *legs.time} <= set(chosen.wanted)
    below = {hit.memory_id for hit in legs.vector if passes_floor(evidence_of(hit), FLOORS) is FloorResult.BELOW}
    assert all(each.is_below_floor == (each.memory_id in below) for each in chosen.unread)


@given(nominated(), st.integers(0, 12))
def test_what_is_read_of_the_vectors_hits_is_what_fusion_puts_first(
    nominated: tuple[Legs, dict[str, Memory]], limit: int
) -> None:
    legs, memories = nominated
    chosen = preselect(legs, lambda each: times_of(memories[each]), floors=FLOORS, now_ms=NOW_MS, limit=limit)
    if len(legs.memory_ids()) <= limit:
        assert not chosen.unread
        return
    anyway = {*(hit.memory_id for hit in legs.lexical), *legs.time}
    in_order = [
        each.memory.id
        for each in fuse(legs, memories, floors=FLOORS, now_ms=NOW_MS)
        if each.memory.id not in anyway and passes_floor(each.evidence, FLOORS) is not FloorResult.BELOW
    ]
    assert set(chosen.wanted) - anyway == set(in_order[:limit])


@pytest.mark.parametrize(
    ("limit", "times"),
    [(None, QueryTimes()), (1, QueryTimes(asks_only_for_time=True))],
    ids=["no limit", "only a time"],
)
def test_without_a_limit_or_for_nothing_but_a_time_everything_is_read(limit: int | None, times: QueryTimes) -> None:
    legs = Legs(vector=tuple(VectorHit(memory_id=f"mem_{number}", cosine=-0.5) for number in range(5)))
    chosen = preselect(legs, lambda _: (0, 0), floors=FLOORS, now_ms=NOW_MS, limit=limit, times=times)
    assert chosen.wanted == legs.memory_ids()


def test_the_hits_above_the_floor_are_counted_whether_or_not_they_are_read() -> None:
    legs = Legs(vector=tuple(VectorHit(memory_id=f"mem_{number}", cosine=number / 10) for number in range(10)))
    chosen = preselect(legs, lambda _: (0, 0), floors=FLOORS, now_ms=NOW_MS, limit=2)
    assert chosen.above_floor == 6
    assert chosen.wanted == ("mem_8", "mem_9")


def times_of(memory: Memory) -> tuple[int, int]:
    return memory.created_at_ms, memory.updated_at_ms
