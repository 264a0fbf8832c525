"""What any gate answers."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.decide import DecideOp, ReadStage
from recalld.models.domain.world import ProbeRequest, ProbeVerdict


class GateDecision(enum.StrEnum):
    """What the asker is told to do."""

    RUN = "run"
    SKIP = "skip"
    DEFER = "defer"
    """Not now: leave it pending."""
    REFUSE = "refuse"
    """Not like this: the request must change first."""


class DecideReason(enum.StrEnum):
    """Why a gate decided as it did."""

    HISTORY_CUE = "history_cue"
    TIME_EXPRESSION = "time_expression"
    KNOWN_ENTITY = "known_entity"
    LEANS_ON_HISTORY = "leans_on_history"
    TERMS_STORED = "terms_stored"
    MODEL_SAYS_YES = "model_says_yes"
    PASSED = "passed"
    REWRITTEN = "rewritten"
    FILES_REFERENCED = "files_referenced"
    CLAIMS_CHECKED = "claims_checked"
    BATCH_DUE = "batch_due"
    CLUSTERS_DUE = "clusters_due"
    TICK_ENDED = "tick_ended"
    WITHIN_CAP = "within_cap"
    NEARLY_FULL = "nearly_full"
    WITHIN_BOUNDS = "within_bounds"
    SWEEP_SCOPED = "sweep_scoped"
    CARDS_MATCH = "cards_match"
    SEARCH_INDEX = "search_index"
    READ_SESSIONS = "read_sessions"
    READ_MESSAGES = "read_messages"
    NO_USER_TEXT = "no_user_text"
    NO_SEARCHABLE_TERMS = "no_searchable_terms"
    SLASH_COMMAND = "slash_command"
    ARITHMETIC = "arithmetic"
    ACKNOWLEDGEMENT = "acknowledgement"
    TOO_SHORT = "too_short"
    ANSWERED_IN_HISTORY = "answered_in_history"
    MODEL_SAYS_NO = "model_says_no"
    NO_HISTORY = "no_history"
    STANDS_ALONE = "stands_alone"
    ABSTAINED = "abstained"
    REPLY_UNUSABLE = "reply_unusable"
    NO_TIME_EXPRESSION = "no_time_expression"
    NOTHING_IN_INTERVAL = "nothing_in_interval"
    NO_HISTORY_CUE = "no_history_cue"
    NO_CANDIDATES = "no_candidates"
    NONE_PASSED = "none_passed"
    PROJECT_UNKNOWN = "project_unknown"
    FEW_TERMS = "few_terms"
    NO_CLAIMS = "no_claims"
    INDEX_LAGGING = "index_lagging"
    NOTHING_FOUND = "nothing_found"
    SWEEP_FINISHED = "sweep_finished"
    NO_SUCH_TARGET = "no_such_target"
    NOTHING_WAITING = "nothing_waiting"
    NOTHING_NEW = "nothing_new"
    NO_CLUSTERS = "no_clusters"
    QUIET_AWAITED = "quiet_awaited"
    COOLING_DOWN = "cooling_down"
    NOT_DUE = "not_due"
    BUSY = "busy"
    SHAPE_NOT_CALIBRATED = "shape_not_calibrated"
    UNSCOPED_SWEEP = "unscoped_sweep"
    BAD_CURSOR = "bad_cursor"
    CURSOR_MISMATCH = "cursor_mismatch"
    FILE_NOT_REFERENCED = "file_not_referenced"
    COUNTS_DIFFER = "counts_differ"
    OVER_CAP = "over_cap"
    OVER_CAP_TERMINAL = "over_cap_terminal"
    FEW_MEMORIES = "few_memories"
    FEW_SAMPLES = "few_samples"
    WEAK_EVIDENCE = "weak_evidence"
    MISSING_INPUT = "missing_input"
    GATE_FAILED = "gate_failed"
    TIMED_OUT = "timed_out"
    NO_BUDGET = "no_budget"


class CandidateReason(enum.StrEnum):
    """Why a candidate passed or was dropped."""

    PASSED = "passed"
    NOT_SCORED = "not_scored"
    BELOW_THRESHOLD = "below_threshold"
    FEW_TERMS = "few_terms"
    TOO_OLD = "too_old"
    SAME_CONTENT = "same_content"
    SHOWN_BEFORE = "shown_before"
    DECLINED_BEFORE = "declined_before"
    HOST_TEXT = "host_text"
    OWN_SESSION = "own_session"
    OWN_BLOCK = "own_block"
    OVER_LIMIT = "over_limit"
    OVER_CHARS = "over_chars"
    WAITING = "waiting"
    EXPIRED = "expired"
    SET_ASIDE = "set_aside"
    ECHO = "echo"
    ALREADY_STORED = "already_stored"
    TOUCHED_LATELY = "touched_lately"
    SMALL_CLUSTER = "small_cluster"
    DEMOTED = "demoted"
    UNPROVEN = "unproven"
    UNKNOWN_KNOB = "unknown_knob"
    OUT_OF_BOUNDS = "out_of_bounds"


class DecideInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of time the message speaks of: half-open, Unix epoch milliseconds, None for an open end."""

    start_ms: int | None
    end_ms: int | None
    confidence: float


class DecideLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the asker must keep to; None: no limit of this kind."""

    items_max: int | None = None
    chars_max: int | None = None
    chars_per_session_max: int | None = None
    page_messages: int | None = None
    batch_max: int | None = None
    time_ms: int | None = None


class DecideParams(msgspec.Struct, frozen=True, kw_only=True):
    """How to do it.

    Attributes:
        query: What to look for, or the message to go on with; never blank when an operation with a message runs.
        query_fallback: The model gave no usable query, so the message stands in for it.
        intervals: What the message speaks of.
        items: Candidates that passed, best first.
        targets: What to read, load or sweep now.
        probe_requests: What the runtime is asked to look at.
        stage: What a staged search does next.
        limits: What to keep to.
        not_before_ms: Not before this moment, Unix epoch milliseconds.
        cursor: Where the next part of a sweep starts; None: there is none.
        missing: Fields of the request without which nothing could be decided; one of them is enough.
    """

    query: str = ""
    query_fallback: bool = False
    intervals: tuple[DecideInterval, ...] = ()
    items: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    probe_requests: tuple[ProbeRequest, ...] = ()
    stage: ReadStage | None = None
    limits: DecideLimits = DecideLimits()
    not_before_ms: int | None = None
    cursor: str | None = None
    missing: tuple[str, ...] = ()


class JudgedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate, what was measured of it and what it came to.

    Attributes:
        id: The caller's name for it.
        reason: What it came to.
        score: What it was given.
        threshold: What it was held against.
        terms: Words of the message that it has.
    """

    id: str
    reason: CandidateReason
    score: float | None = None
    threshold: float | None = None
    terms: tuple[str, ...] = ()


class DecideEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate saw.

    Attributes:
        cues: History cues, each `family: phrase`.
        terms: Salient terms of the message.
        posted: Those of them that the store has.
        times: Expressions of time, as written.
        candidates: Every candidate that was judged, in the caller's order.
        probes: What became of each claim.
        thresholds: What was in force, by name.
        counts: What was counted, by name.
    """

    cues: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    posted: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    candidates: tuple[JudgedCandidate, ...] = ()
    probes: tuple[ProbeVerdict, ...] = ()
    thresholds: dict[str, float] = {}
    counts: dict[str, int] = {}


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """A gate's answer.

    Attributes:
        decision: What to do.
        op: What was asked about.
        profile: The gate that decided.
        policy_version: Its name, version and the digest of its settings.
        reason_code: Why, from the closed list.
        reason: Why, as a sentence.
        params: How to do it.
        evidence: What the gate saw.
        decided_by: Id of the rule; `model`, `default` or `error_path`.
        is_degraded: Whether something failed or was missing on the way.
        decision_id: For `explain`; given by whoever carries the request out, as are the fields below.
        cost_ms: Milliseconds the decision took.
        is_repeat: Whether this was decided before in the same turn.
        notice: One sentence for the person, after failures in a row and at most now and then; else empty.
    """

    decision: GateDecision
    op: DecideOp
    profile: str
    policy_version: str
    reason_code: DecideReason
    reason: str
    params: DecideParams = DecideParams()
    evidence: DecideEvidence = DecideEvidence()
    decided_by: str
    is_degraded: bool = False
    decision_id: str = ""
    cost_ms: float = 0.0
    is_repeat: bool = False
    notice: str = ""
