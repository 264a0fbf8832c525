"""Which of the nominated memories are read: as many as a recall can use, before anything is read.

Guards: the time of a recall in a large store, where the legs nominate several times what a gate looks at. Reading a
memory, its language and its subjects takes far longer than ordering it, and the order needs none of that: it is made of
cosines, words and times, which the legs know.
Cost: a few microseconds for each nominated memory. Fails: towards reading more. Whatever shares a word with the query
or was nominated for its time is read, whatever its place: its text may still lift it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from recalld.models.domain.recall import Evidence
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.fusion import Legs, VectorHit, evidence_of, fused_score
from recalld.models.policy.temporal.query_times import NO_TIMES, QueryTimes

CONSIDERED_MAX = 40
"""Candidates that a gate looks at, best first: what evidence decides without a score costs nothing but this look."""
MARGIN = 16
"""Memories read beyond those that can be used, because some of them will be excluded once they have been read."""

Moments = Callable[[str], tuple[int, int]]
"""When a memory that the vectors nominated was made and last changed, Unix epoch milliseconds, by its id."""


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """A nominated memory that is not worth reading.

    Attributes:
        memory_id: Its id.
        evidence: What the legs say of it.
        is_below_floor: Whether it is below the cosine floor; otherwise others are merely nearer.
    """

    memory_id: str
    evidence: Evidence
    is_below_floor: bool


class Preselection(msgspec.Struct, frozen=True, kw_only=True):
    """What to read, and what is left unread.

    Attributes:
        wanted: Ids of the memories to read, each once.
        unread: The others.
        above_floor: How many of the vectors' hits are at or above the cosine floor.
    """

    wanted: tuple[str, ...]
    unread: tuple[Unread, ...] = ()
    above_floor: int = 0


def preselect(
    legs: Legs, moments: Moments, *, floors: FloorValues, now_ms: int, limit: int | None, times: QueryTimes = NO_TIMES
) -> Preselection:
    """Choose what to read of everything that was nominated.

    All of it, while that is no more than `limit`, and in a query for nothing but a time, which any record may answer.

    Args:
        legs: What was found.
        moments: The times of what only the vectors found.
        floors: The calibrated cosines.
        now_ms: Unix epoch milliseconds.
        limit: Memories to read, beside those that share words or a time with the query; None: everything.
        times: The expressions of time in the query.
    """
    measured = {hit.memory_id: evidence_of(hit) for hit in legs.vector}
    results = {memory_id: passes_floor(evidence, floors) for memory_id, evidence in measured.items()}
    above_floor = sum(result is FloorResult.PASSED for result in results.values())
    nominated = legs.memory_ids()
    if limit is None or len(nominated) <= limit or times.asks_only_for_time:
        return Preselection(wanted=nominated, above_floor=above_floor)
    anyway = {*(hit.memory_id for hit in legs.lexical), *legs.time}
    ordered = sorted(
        (
            (_score(measured[each.memory_id], moments, each, floors=floors, now_ms=now_ms, times=times), each.memory_id)
            for each in legs.vector
            if each.memory_id not in anyway and results[each.memory_id] is not FloorResult.BELOW
        ),
        reverse=True,
    )
    wanted = {*anyway, *(memory_id for _, memory_id in ordered[:limit])}
    return Preselection(
        wanted=tuple(memory_id for memory_id in nominated if memory_id in wanted),
        unread=_unread(measured, results, wanted),
        above_floor=above_floor,
    )


def _score(
    evidence: Evidence, moments: Moments, hit: VectorHit, *, floors: FloorValues, now_ms: int, times: QueryTimes
) -> float:
    """What `fusion.fuse` will order it by."""
    made_ms, changed_ms = moments(hit.memory_id)
    score = fused_score(evidence, floors=floors, age_ms=now_ms - changed_ms)
    return score * times.boost(made_ms, changed_ms) if times.spans else score


def _unread(
    measured: dict[str, Evidence], results: dict[str, FloorResult], wanted: Collection[str]
) -> tuple[Unread, ...]:
    return tuple(
        Unread(memory_id=memory_id, evidence=evidence, is_below_floor=results[memory_id] is FloorResult.BELOW)
        for memory_id, evidence in measured.items()
        if memory_id not in wanted
    )
