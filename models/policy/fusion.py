"""Fusion of the candidate legs: one score that orders, and raw quantities that decide.

The fused score is

    (0.7 · similarity + 0.3 · s / (s + 8)) · (0.85 + 0.15 · 2^(-age / 30 days)) · time

where s is bm25 turned round once, and time is 1 unless the query speaks of a time in which the record was made or
changed: then it is up to `temporal.time_span.BOOST_MAX`, by how sure the interval is. The rest follows a published
recall coordinator (0.7 and 0.3, 8, 0.85, 0.15 and 30 days are its figures) with one extension: similarity is the best
of record, cue and ask cosine, each first rescaled so that its own floor becomes 0.5 and identity becomes 1, because the
three have different ranges.

Every score depends on its own candidate alone, never on its company: no minimum or maximum over the set, no ranks. So a
memory scores the same alone and among others. The fused score only orders; what is injected is decided on the raw
values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec

from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory
from recalld.models.domain.store import LexicalHit
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.temporal.query_times import NO_TIMES, QueryTimes

SIMILARITY_WEIGHT = 0.7
LEXICAL_WEIGHT = 0.3
LEXICAL_HALF = 8.0
"""The bm25 at which the lexical part reaches half of its weight."""
RECENCY_BASE = 0.85
"""What age can never take away."""
RECENCY_HALF_LIFE_MS = 30 * 24 * 3600 * 1000
UNMEASURED_SIMILARITY = 0.5
"""A record without a vector is ordered as if it stood at the floor: neither favoured nor buried."""


class VectorHit(msgspec.Struct, frozen=True, kw_only=True):
    """What the vector leg found of one memory; None where the record has no such vector."""

    memory_id: str
    cosine: float | None = None
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    ask_mean: float | None = None
    cue_ordinal: int | None = None
    """Which cue is nearest to the query."""
    passage: int | None = None
    """Which passage of its text is nearest to the query."""


class Legs(msgspec.Struct, frozen=True, kw_only=True):
    """The hits of all legs of one recall."""

    vector: tuple[VectorHit, ...] = ()
    lexical: tuple[LexicalHit, ...] = ()
    time: tuple[str, ...] = ()
    """Ids of records of a time that the query speaks of, newest first."""

    def memory_ids(self) -> tuple[str, ...]:
        """Every nominated memory once, in leg order: what must be read before `fuse`."""
        nominated = [hit.memory_id for hit in self.vector] + [hit.memory_id for hit in self.lexical]
        return tuple(dict.fromkeys((*nominated, *self.time)))


def fuse(
    legs: Legs, memories: Mapping[str, Memory], *, floors: FloorValues, now_ms: int, times: QueryTimes = NO_TIMES
) -> tuple[Candidate, ...]:
    """Join the legs into candidates, best first; ties go to the newer id.

    Args:
        legs: What was found. A memory found by both legs carries the evidence of both.
        memories: The nominated memories by id; hits whose memory is missing (forgotten meanwhile) are left out.
        floors: Where each cosine starts to mean something.
        now_ms: Unix epoch milliseconds; a memory from the future counts as brand new.
        times: The expressions of time in the query.
    """
    vectors = {hit.memory_id: hit for hit in legs.vector}
    lexical = {hit.memory_id: hit.score for hit in legs.lexical}
    found = (memories[memory_id] for memory_id in legs.memory_ids() if memory_id in memories)
    candidates = [
        _in_time(
            _candidate(memory, vectors.get(memory.id), lexical.get(memory.id), floors=floors, now_ms=now_ms), times
        )
        for memory in found
    ]
    by_id = sorted(candidates, key=lambda candidate: candidate.memory.id, reverse=True)
    return tuple(sorted(by_id, key=lambda candidate: -candidate.fused))


def fused_score(evidence: Evidence, *, floors: FloorValues, age_ms: int) -> float:
    """The ordering score of one candidate, in [0, 1]; see the module for the formula."""
    # A call for each of the hundreds of hits of a recall, so nothing is built on the way.
    similarity = -1.0
    if evidence.cosine is not None:
        similarity = _rescale(evidence.cosine, floors.record)
    if evidence.cue_cosine is not None and (scaled := _rescale(evidence.cue_cosine, floors.cue)) > similarity:
        similarity = scaled
    if evidence.ask_cosine is not None and (scaled := _rescale(evidence.ask_cosine, floors.ask)) > similarity:
        similarity = scaled
    if similarity < 0.0:  # nothing was measured: a rescaled cosine is never negative
        similarity = UNMEASURED_SIMILARITY
    lexical = evidence.lexical
    strength = SIMILARITY_WEIGHT * similarity
    if lexical is not None and lexical > 0.0:
        strength += LEXICAL_WEIGHT * lexical / (lexical + LEXICAL_HALF)
    return strength * recency(age_ms)


def evidence_of(vector: VectorHit, *, lexical: float | None = None) -> Evidence:
    """What the legs say of one memory; a damaged cosine counts as none."""
    return Evidence(
        cosine=_finite(vector.cosine),
        cue_cosine=_finite(vector.cue_cosine),
        ask_cosine=_finite(vector.ask_cosine),
        ask_mean=_finite(vector.ask_mean),
        lexical=lexical,
    )


def recency(age_ms: int) -> float:
    """The recency factor, from 1 (new) down to `RECENCY_BASE` (old)."""
    return RECENCY_BASE + (1.0 - RECENCY_BASE) * math.exp2(-max(age_ms, 0) / RECENCY_HALF_LIFE_MS)


def _rescale(cosine: float, floor: float) -> float:
    """Map -1 to 0, the floor to 0.5 and 1 to 1, linearly on both sides."""
    if cosine >= floor:
        return 0.5 + 0.5 * (cosine - floor) / (1.0 - floor) if cosine < 1.0 else 1.0
    return 0.5 * (cosine + 1.0) / (floor + 1.0) if cosine > -1.0 else 0.0


def _candidate(
    memory: Memory, vector: VectorHit | None, lexical: float | None, *, floors: FloorValues, now_ms: int
) -> Candidate:
    evidence = Evidence(lexical=lexical)
    best_cue, passage = "", None
    if vector is not None:
        passage = vector.passage
        evidence = evidence_of(vector, lexical=lexical)
        if vector.cue_ordinal is not None and vector.cue_ordinal < len(memory.cues):
            best_cue = memory.cues[vector.cue_ordinal]
    fused = fused_score(evidence, floors=floors, age_ms=now_ms - memory.updated_at_ms)
    return Candidate(memory=memory, evidence=evidence, fused=fused, best_cue=best_cue, passage=passage)


def _in_time(candidate: Candidate, times: QueryTimes) -> Candidate:
    """The candidate, with what its time is worth to the query."""
    if not times.spans:
        return candidate
    moments_ms = (candidate.memory.created_at_ms, candidate.memory.updated_at_ms)
    return msgspec.structs.replace(
        candidate,
        evidence=msgspec.structs.replace(candidate.evidence, is_in_interval=times.holds(*moments_ms)),
        fused=candidate.fused * times.boost(*moments_ms),
    )


def _finite(cosine: float | None) -> float | None:
    """Treat a damaged vector (not a number) as no vector, so that one bad row cannot spoil the order."""
    return cosine if cosine is not None and math.isfinite(cosine) else None
