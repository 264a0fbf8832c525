"""One recall, as data: the request, the candidates, what the gate saw and what came out."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.reasons import DegradedReason, DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.records import Memory
from recalld.models.domain.shadow import GateMode
from recalld.models.domain.turn_parts import MessagePart
from recalld.models.domain.turn_report import TurnReport


class TimeUse(enum.StrEnum):
    """What an expression of time in a query does."""

    BOOST = "boost"
    """Records of that time are nominated and come earlier; the others stay in the running."""
    FILTER = "filter"
    """Only records of that time are searched."""


class RecallQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime asks at the start of a turn."""

    user: str
    session: str
    text: str
    turn_id: str = ""
    scope: str | None = None
    """None: every scope of the user. Otherwise this scope and the global one."""
    exclude: tuple[str, ...] = ()
    max_items: int | None = None
    max_chars: int | None = None
    is_search: bool = False
    """An explicit search demotes instead of dropping."""
    explain: bool = False
    parts: tuple[MessagePart, ...] = ()
    """The message in parts; empty: all of `text` is the user's."""
    turns: tuple[str, ...] | None = None
    """Texts of the turns before, oldest first, empty at a session's start; None: the runtime did not say."""
    now_ms: int | None = None
    """The user's present, Unix epoch milliseconds; None: the server's."""
    time_zone: str = ""
    """An IANA zone; empty: not known."""
    time: TimeUse = TimeUse.BOOST
    deadline_s: float
    """Absolute, on the monotonic clock; made from `budget_ms` once, at the gateway."""
    budget_s: float | None = None
    """Seconds that the caller allowed itself; None: it left that to the server."""


class TextShape(msgspec.Struct, frozen=True, kw_only=True):
    """What a query looks like, whatever it says."""

    words: int
    is_question: bool
    """Whether it has a question mark."""
    is_open_question: bool = False
    """Whether it opens with a question word."""
    is_personal: bool = False
    """Whether it speaks of the user or of a group of theirs: I, my, we, our."""


class PairShape(msgspec.Struct, frozen=True, kw_only=True):
    """What a query and a record look like beside each other, whatever they say; see `policy.pair_shape`."""

    other_names: int
    """Names in the record that the query does not have."""
    names_held: int
    """1 when the record has every name of the query, -1 when it lacks one, 0 when the query has none."""
    is_record_asking: bool
    """Whether the record has a question mark: then it may be a question itself and no answer to one."""


class ViewLogits(msgspec.Struct, frozen=True, kw_only=True):
    """The logits behind the largest one, by how the pair was put; None for a way in which it was not scored."""

    as_given: float | None = None
    """Of the query and the text as they are."""
    rewritten: float | None = None
    """The largest with a cue in front or with the grammatical person changed."""


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known about one candidate. Cosines are in [-1, 1]; logits are raw cross-encoder outputs."""

    cosine: float | None = None
    """Query against the record's text; None when the record has no vector for the running embedder."""
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    ask_mean: float | None = None
    """Mean cosine over all asks: one near question of several is weaker evidence than all of them."""
    lexical: float | None = None
    """bm25 turned round once, so that larger is better and never negative."""
    logit: float | None = None
    """The largest logit over the views that were scored."""
    mention: float | None = None
    """How far the query names a subject of the record: 1 for a whole unit, less for a near spelling, 0 for not at all;
    None when nobody looked."""
    is_in_interval: bool | None = None
    """Whether the record's time lies in an interval the query speaks of; None when it speaks of none."""
    shape: TextShape | None = None
    """Of the query, or of the clause that the candidate was found for; None before the gate looks at it."""
    views: ViewLogits | None = None
    """The logits by view; None before it is scored."""
    pair: PairShape | None = None
    """Of query and record; None before the gate looks at it, or when no head in use looks at it."""


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A memory nominated by at least one leg, with the fused score that orders it."""

    memory: Memory
    evidence: Evidence
    fused: float
    best_cue: str = ""
    """The cue nearest to the query; empty when the record has none."""
    passage: int | None = None
    """The passage nearest to the query, by its place in the text (`policy.passages`); None when no vector tells."""
    query: str = ""
    """The clause of the message that it was found for; empty: the whole message."""


class RecalledItem(msgspec.Struct, frozen=True, kw_only=True):
    """A memory handed to the runtime."""

    memory: Memory
    evidence: Evidence
    relevance: float | None
    """In [0, 1]; None when no gate judged the item."""
    answers_by_time: bool = False
    """The query asks for nothing but a time, and this is from then; see `policy.time_only`."""
    is_mentioned: bool = False
    """It passed because the query names its subject, not by its relevance; see `policy.mentions`."""
    is_unscored: bool = False
    """Time ran out before it was scored, and its other evidence alone decides; its relevance is the lowest it could
    have."""
    brought_by: str = ""
    """The id of the item that names what this one is about, and brought it along; see `policy.relations`."""


class DroppedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that was not handed over, and why."""

    memory_id: str
    reason: DropReason
    evidence: Evidence
    relevance: float | None = None


class RecallLimit(enum.StrEnum):
    """A limit that kept a recall from looking further."""

    LEXICAL_LIMIT = "lexical_limit"
    VECTOR_LIMIT = "vector_limit"
    TIME_LIMIT = "time_limit"
    """More records lie in the interval than are nominated for their time."""
    CANDIDATES_MAX = "candidates_max"
    BUDGET = "budget"
    MAX_ITEMS = "max_items"
    MAX_CHARS = "max_chars"


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the search could see of this user's memories: `discovered = searched + Σ skipped`, always."""

    discovered: int
    """Live memories of the user."""
    searched: int
    skipped_wrong_scope: int = 0
    pending_embedding: int = 0
    """Of the searched ones: no vector yet, so only their words could nominate them."""
    records_without_asks: int = 0
    skipped_out_of_interval: int = 0
    """In scope, but not of the time that a query with `TimeUse.FILTER` speaks of."""
    skipped_unreadable: int = 0
    """Nominated, but not to be read: damaged, or gone meanwhile."""
    limited_by: tuple[RecallLimit, ...] = ()
    """Limits beyond which there may have been more, in the order of the search."""
    index_seq: int = 0
    """The change up to which the vector index stood; 0 when none was loaded."""
    store_seq: int = 0
    """The user's newest change. When it is larger than `index_seq`, the index lags behind."""
    is_time_filtered: bool | None = None
    """Whether only memories of a time were searched; None: not counted."""


class RecallTimings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time went, in milliseconds."""

    total_ms: float = 0.0
    turn_ms: float = 0.0
    """The turn gate: reading the turn, the store probe and a model's answer."""
    embed_ms: float = 0.0
    search_ms: float = 0.0
    gate_ms: float = 0.0
    queue_ms: float = 0.0
    deadline_left_ms: float = 0.0


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate did, for the ledger and the canonical log line."""

    threshold: float | None = None
    pairs_scored: int = 0
    pairs_cached: int = 0
    filtered_by_floor: int = 0
    dropped_by_gate: int = 0
    dropped_by_budget: int = 0
    beyond_count: int = 0
    """Of those, candidates beyond the number that the gate may judge, however much time it has."""
    calibration_id: str = ""
    kept_back: int = 0
    """Memories that floor-only recall would have injected, and that were not."""
    kept_back_chars: int = 0


class ShadowServing(msgspec.Struct, frozen=True, kw_only=True):
    """What a recall hands over in shadow mode, in place of what its gates decided.

    Attributes:
        mode: One of the shadow modes.
        items: Best first.
    """

    mode: GateMode
    items: tuple[RecalledItem, ...] = ()


class RecallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to one recall."""

    recall_id: str
    decision: RecallDecision
    mode: RecallMode
    reason: RecallReason
    items: tuple[RecalledItem, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()
    floor_items: tuple[str, ...] = ()
    """Ids that floor-only recall would have injected: what the gate is compared with."""
    degraded_reason: DegradedReason | None = None
    degraded_detail: str = ""
    """For `score_failed` and `embed_failed`: the type of the failure, never its text."""
    coverage: Coverage
    gate: GateReport
    timings: RecallTimings
    turn: TurnReport | None = None
    """What the turn gate saw; None when it was not reached."""
    shadow: ShadowServing | None = None
    """What is handed over instead of `items`; None: the gates are obeyed."""

    @property
    def served(self) -> tuple[RecalledItem, ...]:
        """What is handed over: `items`, or in shadow mode something else."""
        return self.items if self.shadow is None else self.shadow.items
