"""The similarity floor: what is too far from the query to be worth judging.

Guards: the relevance gate's time, and (when no gate runs) the user's attention.
Cost: three comparisons. Fails: open for rows without vectors, which it cannot measure; they are marked.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence

import msgspec

from recalld.models.domain.recall import Candidate, Evidence


class FloorValues(msgspec.Struct, frozen=True, kw_only=True):
    """The lowest cosine worth judging, one for each text of a record, calibrated for one embedder and query prefix.

    Raises:
        ValueError: A value is not inside (-1, 1).
    """

    record: float
    cue: float
    ask: float

    def __post_init__(self) -> None:
        for name, value in (("record", self.record), ("cue", self.cue), ("ask", self.ask)):
            if not -1.0 < value < 1.0:
                message = f"floors.{name} must be inside (-1, 1), got {value}; calibrate again"
                raise ValueError(message)


class FloorResult(enum.StrEnum):
    """What the floor says of one candidate."""

    PASSED = "passed"
    BYPASSED = "bypassed"
    """It has no vector for the running embedder, so there is nothing to compare."""
    BELOW = "below"


_PASSED, _BYPASSED, _BELOW = FloorResult.PASSED, FloorResult.BYPASSED, FloorResult.BELOW
"""By names of the module, which are found several times faster than members of an enumeration."""


class FloorSplit(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates on both sides of the floor, order kept. `bypassed` names those among `passed` without a vector."""

    passed: tuple[Candidate, ...]
    below: tuple[Candidate, ...]
    bypassed: frozenset[str]


def passes_floor(evidence: Evidence, floors: FloorValues) -> FloorResult:
    """Hold the best of record, cue and ask cosine against the floor, each against its own value.

    A value that equals its floor passes. A cosine that is not a number counts as missing.
    """
    # A call for each of the hundreds of hits of a recall, so nothing is built on the way.
    cosine, cue_cosine, ask_cosine = evidence.cosine, evidence.cue_cosine, evidence.ask_cosine
    is_measured = False
    if cosine is not None and math.isfinite(cosine):
        if cosine >= floors.record:
            return _PASSED
        is_measured = True
    if cue_cosine is not None and math.isfinite(cue_cosine):
        if cue_cosine >= floors.cue:
            return _PASSED
        is_measured = True
    if ask_cosine is not None and math.isfinite(ask_cosine):
        if ask_cosine >= floors.ask:
            return _PASSED
        is_measured = True
    return _BELOW if is_measured else _BYPASSED


def split_by_floor(candidates: Sequence[Candidate], floors: FloorValues) -> FloorSplit:
    """Apply `passes_floor` to each candidate."""
    results = [(candidate, passes_floor(candidate.evidence, floors)) for candidate in candidates]
    return FloorSplit(
        passed=tuple(candidate for candidate, result in results if result is not FloorResult.BELOW),
        below=tuple(candidate for candidate, result in results if result is FloorResult.BELOW),
        bypassed=frozenset(candidate.memory.id for candidate, result in results if result is FloorResult.BYPASSED),
    )
