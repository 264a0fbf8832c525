"""What the store counts of its ledger rows as they are written, so that no report has to read them all again."""

from __future__ import annotations

import enum
import math
from typing import Final

import msgspec

HOUR_MS: Final = 3_600_000
"""Counts are kept by the hour."""
BUCKET_MS_MIN: Final = 0.01
"""Upper edge of the lowest bucket of times, in milliseconds."""
BUCKETS_PER_OCTAVE: Final = 4
"""Each bucket's upper edge is the fourth root of 2 times the one below: a percentile is read at most a fifth high."""
BUCKET_MAX: Final = 96
"""The last bucket; its upper edge is 168 seconds, and what took longer counts there."""


class TallyFamily(enum.StrEnum):
    """What a tally counts; each has keys of its own."""

    DECISION = "decision"
    """Ledger rows. Key: operation, decision, reason."""
    MODE = "mode"
    """Recalls. Key: mode, reason of degradation."""
    CANDIDATE = "candidate"
    """Candidates of recalls. Key: reason they were dropped for; empty: injected."""
    FACT = "fact"
    """Facts of turns. Key: generator, outcome, reason."""
    TIME = "time"
    """Decisions in which a step ran; `total` is in milliseconds. Key: step, number of the histogram's bucket."""
    AMOUNT = "amount"
    """Whatever else is added up in `total`, over `count` decisions. Key: its name."""


class Step(enum.StrEnum):
    """Steps whose time is counted."""

    TURN = "turn"
    EMBED = "embed"
    SEARCH = "search"
    RELEVANCE = "relevance"
    RECALL = "recall"
    """A whole recall."""
    READ = "read"
    """Finding facts in an observed turn by rules."""
    JUDGE = "judge"
    POLICY = "policy"
    WRITE = "write"
    """All of the write gate: reading, judge and policy."""
    DECIDE = "decide"


class Amount(enum.StrEnum):
    """Quantities that are added up."""

    CANDIDATES = "candidates"
    """Candidates of recalls, counted apart from why each of them ended as it did."""
    PAIRS_SCORED = "pairs_scored"
    KEPT_BACK = "kept_back"
    """Memories that would have been injected without the relevance gate, and were not."""
    KEPT_BACK_CHARS = "kept_back_chars"
    TURN_MODEL_CHARS = "turn_model_chars"
    """What a language model read and wrote for the turn gate."""
    SEARCHED_MS = "searched_ms"
    """Time of recalls that searched, without their turn gate."""
    FACTS = "facts"
    """Facts of turns, counted apart from how each of them ended."""
    UNREADABLE = "unreadable"
    """Rows whose body cannot be read."""


class LedgerTally(msgspec.Struct, frozen=True, kw_only=True):
    """One count over some hours.

    Attributes:
        key: As the family says.
        count: How many.
        total: Sum of a quantity over them; 0 where the family has none.
    """

    family: TallyFamily
    key: tuple[str, ...]
    count: int
    total: float = 0.0


class LedgerTallies(msgspec.Struct, frozen=True, kw_only=True):
    """All counts over a window, and the rows that are still there, counted for themselves.

    Attributes:
        since_ms: Where the first hour that counts begins, Unix epoch milliseconds.
        until_ms: When it was counted.
        tallies: In no order; each family and key once.
        rows: Ledger rows of the window that are there, by operation; None where what is no longer there counts, too.
    """

    since_ms: int
    until_ms: int
    tallies: tuple[LedgerTally, ...] = ()
    rows: dict[str, int] | None = None


def bucket_of(elapsed_ms: float) -> int:
    """The bucket of a time: the first whose upper edge is not below it."""
    if elapsed_ms <= BUCKET_MS_MIN:
        return 0
    # Rounded first: an edge itself must not land in the bucket above for want of a bit.
    place = round(math.log2(elapsed_ms / BUCKET_MS_MIN) * BUCKETS_PER_OCTAVE, 9)
    return min(math.ceil(place), BUCKET_MAX)


def bucket_edge_ms(bucket: int) -> float:
    """The upper edge of a bucket, in milliseconds."""
    return BUCKET_MS_MIN * 2 ** (bucket / BUCKETS_PER_OCTAVE)


def hour_of(at_ms: int) -> int:
    """The hour of a time, counted from the Unix epoch."""
    return at_ms // HOUR_MS
