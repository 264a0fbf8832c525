"""A compound request in a recall: each of its clauses has vectors of its own, and a memory is held against its best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from recalld.actors.recall.index import Cosines
from recalld.models.domain.recall import Candidate
from recalld.models.policy.clauses import split_clauses


class ClauseHits(msgspec.Struct, frozen=True, kw_only=True):
    """What the message and its clauses found together.

    Attributes:
        cosines: Each memory once, with its best cosine of each role over all of them.
        best: The clause that is nearest to a memory, by its id; missing where the whole message is.
    """

    cosines: tuple[Cosines, ...]
    best: Mapping[str, str]


def clauses_of(text: str) -> tuple[str, ...]:
    """The clauses to look up besides the message itself: none when it makes one request."""
    clauses = split_clauses(text)
    return clauses if len(clauses) > 1 else ()


def united(found: Sequence[tuple[str, Sequence[Cosines]]]) -> ClauseHits:
    """Unite what several texts found.

    Args:
        found: Each text with its hits, each memory once; the whole message is the empty text, and comes first, so that
            ties are its own.
    """
    if len(found) == 1:
        return ClauseHits(cosines=tuple(found[0][1]), best={})
    merged: dict[str, Cosines] = {}
    nearest: dict[str, tuple[float, str]] = {}
    for text, hits in found:
        for hit in hits:
            known = merged.get(hit.memory_id)
            merged[hit.memory_id] = hit if known is None else _best_of(known, hit)
            cosine = max(-1.0, *(each for each in (hit.record, hit.cue, hit.ask) if each is not None), -1.0)
            if hit.memory_id not in nearest or cosine > nearest[hit.memory_id][0]:
                nearest[hit.memory_id] = (cosine, text)
    return ClauseHits(
        cosines=tuple(merged.values()), best={memory_id: text for memory_id, (_, text) in nearest.items() if text}
    )


def with_clauses(candidates: Sequence[Candidate], best: Mapping[str, str]) -> tuple[Candidate, ...]:
    """The candidates, each with the clause that it was found for."""
    return tuple(
        msgspec.structs.replace(candidate, query=best[candidate.memory.id])
        if candidate.memory.id in best
        else candidate
        for candidate in candidates
    )


def _best_of(left: Cosines, right: Cosines) -> Cosines:
    cue_is_right = left.cue is None or (right.cue is not None and right.cue > left.cue)
    record_is_right = left.record is None or (right.record is not None and right.record > left.record)
    return msgspec.structs.replace(
        left,
        record=_larger(left.record, right.record),
        cue=_larger(left.cue, right.cue),
        ask=_larger(left.ask, right.ask),
        ask_mean=_larger(left.ask_mean, right.ask_mean),
        best_passage=right.best_passage if record_is_right else left.best_passage,
        best_cue=right.best_cue if cue_is_right else left.best_cue,
    )


def _larger(left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return left if right is None else right
    return max(left, right)
