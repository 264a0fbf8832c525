"""What the scorer is told and what it answers."""

from __future__ import annotations

import msgspec

from recalld.actors.kernel import Reply
from recalld.models.domain.health import GateProbe, ModelHealth
from recalld.models.domain.reasons import DegradedReason


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A query and a rendered memory to be read together.

    Attributes:
        query: As it is to be scored; never logged.
        memory_text: As it is to be scored; never logged.
        key: Which text of which memory this is (memory id, revision and view); together with model and query it names
            the pair in the score cache, so it must change whenever `memory_text` does.
    """

    query: str
    memory_text: str
    key: str


class ScoreFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why pairs could not be scored.

    Attributes:
        reason: `SCORER_UNAVAILABLE`, `QUEUE_FULL` or `SCORE_FAILED`.
        error_type: For `SCORE_FAILED` the type name of the failure, never its text; otherwise empty.
    """

    reason: DegradedReason
    error_type: str = ""


class PairsScored(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `ScorePairs`. Times in milliseconds.

    Attributes:
        logits: Raw logits in the order of the pairs; None where a pair was not scored, and only there.
        pairs_scored: Pairs that were run for this job.
        pairs_cached: Pairs whose logit was known already.
        queue_ms: From the job's arrival to the start of its first run; 0 when nothing ran.
        elapsed_ms: From the job's arrival to this answer.
        failure: What broke. None when nothing did, also when time ran out before the last pair.
        is_overdue: Whether a pair was running at the deadline for far longer than it should have taken; see `overdue`.
    """

    logits: tuple[float | None, ...]
    pairs_scored: int = 0
    pairs_cached: int = 0
    queue_ms: float = 0.0
    elapsed_ms: float = 0.0
    failure: ScoreFailure | None = None
    is_overdue: bool = False


class ScorePairs(msgspec.Struct, frozen=True, kw_only=True):
    """Score pairs, best first, and answer at the latest at `deadline_s` with what is there by then.

    The ask's own deadline must leave room for that answer: a few milliseconds more than `deadline_s`.

    Attributes:
        owner: Whose pairs these are. Jobs of one owner share one turn, so a burst of one user delays no other; empty:
            each job has a turn of its own.
    """

    pairs: tuple[Pair, ...]
    deadline_s: float
    owner: str = ""
    reply: Reply[PairsScored]


class ProbeScorer(msgspec.Struct, frozen=True, kw_only=True):
    """Score one pair that must be relevant and one that must not, past the cache."""

    reply: Reply[GateProbe]


class GetScorerHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Say how the scorer is."""

    reply: Reply[ModelHealth]


class ScorerModelsChanged(msgspec.Struct, frozen=True, kw_only=True):
    """Model files have arrived: try to load at once if nothing is loaded."""


ScorerMessage = ScorePairs | ProbeScorer | GetScorerHealth | ScorerModelsChanged
