"""The closed vocabulary of decisions and reasons. The values are the wire and log vocabulary."""

from __future__ import annotations

import enum


class Op(enum.StrEnum):
    """What a ledger row decided about."""

    RECALL = "recall"
    REMEMBER = "remember"
    OBSERVE = "observe"
    FORGET = "forget"
    DECIDE = "decide"
    UPDATE = "update"
    STANDING = "standing"
    SET_STANDING = "set_standing"


class RecallMode(enum.StrEnum):
    """The ladder of degradation, best first. A failing step only ever moves down it."""

    GATED = "gated"
    FLOOR_ONLY = "floor_only"
    LEXICAL_ONLY = "lexical_only"
    EMPTY = "empty"


class RecallDecision(enum.StrEnum):
    """What a recall decided."""

    INJECT = "inject"
    SILENT = "silent"
    SKIP = "skip"
    """The turn gate found that no search was warranted."""
    ERROR = "error"
    """Silence because something broke, which is never the same as silence because nothing helped."""


class RecallReason(enum.StrEnum):
    """Why a recall ended as it did. The silent ones are told apart on purpose."""

    RELEVANT = "relevant"
    """Something passed the gate."""
    PASSED_FLOOR = "passed_floor"
    """No gate ran; what is returned passed the similarity floor (or, lexically, matched words)."""
    NOTHING_STORED = "nothing_stored"
    NO_CANDIDATES = "no_candidates"
    """Something is stored, but neither words nor vectors nominated any of it."""
    EMBEDDING_PENDING = "embedding_pending"
    """Something is stored, but not embedded yet, and no word of the query matched."""
    BELOW_FLOOR = "below_floor"
    GATED = "gated"
    """Every candidate that the gate judged was below its threshold. With `budget` or `candidates_max` among the limits,
    not all were judged; the one that came first always was."""
    EXCLUDED = "excluded"
    """What was found, or the best of it while the rest was judged irrelevant, is already visible in this session,
    excluded by the caller or out of scope."""
    IN_INTERVAL = "in_interval"
    """The turn asks for nothing but a time, and this is from then; no gate judged it."""
    NOTHING_IN_INTERVAL = "nothing_in_interval"
    """The turn speaks of a time, and nothing is stored from then."""
    NO_USER_TEXT = "no_user_text"
    NO_SEARCHABLE_TERMS = "no_searchable_terms"
    """Nothing but punctuation: no letter, no number and no symbol to look for."""
    ACKNOWLEDGEMENT = "acknowledgement"
    SLASH_COMMAND = "slash_command"
    ARITHMETIC = "arithmetic"
    TOO_SHORT = "too_short"
    """Nothing to look for, nobody it could be about, and no turn before it."""
    ANSWERED_IN_HISTORY = "answered_in_history"
    """It points at the conversation's last turns and at nothing past them."""
    NOT_NEEDED = "not_needed"
    """A model that the runtime offered for this found that no memory is needed."""
    WEAK_EVIDENCE = "weak_evidence"
    """Nothing spoke for a search, and the turn gate is set to stay closed then; by default it is open."""
    TURN_GATE_FAILED = "turn_gate_failed"
    """The turn gate could not decide, and it is set to stay closed then; by default it is open."""
    OVER_LIMITS = "over_limits"
    """Something passed, but nothing of it fits `max_items` and `max_chars`."""
    DEGRADED = "degraded"
    """Without vectors only the words could be searched, and they led nowhere: that says little about what is stored."""
    STORE_UNREADABLE = "store_unreadable"
    ENVELOPE_EXCEEDED = "envelope_exceeded"
    """The time allowed had passed before candidates were found."""
    RECALL_FAILED = "recall_failed"
    """The user's actor failed twice on this request; `actor_restarted` events carry the type of the failure."""
    BUSY = "busy"
    """More recalls were in flight than are ever answered in time; this one was told so at once."""
    DRAINING = "draining"
    """The daemon is shutting down."""


class DegradedReason(enum.StrEnum):
    """Why a recall ran below `gated`."""

    GATE_DISABLED_BY_CONFIG = "gate_disabled_by_config"
    NO_SCORER_CONFIGURED = "no_scorer_configured"
    SCORER_UNAVAILABLE = "scorer_unavailable"
    SUB_BUDGET_EXCEEDED = "sub_budget_exceeded"
    ENVELOPE_EXCEEDED = "envelope_exceeded"
    QUEUE_FULL = "queue_full"
    BREAKER_OPEN = "breaker_open"
    SCORE_FAILED = "score_failed"
    GATE_UNCALIBRATED = "gate_uncalibrated"
    OUT_OF_DOMAIN = "out_of_domain"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    EMBED_TIMEOUT = "embed_timeout"
    EMBED_FAILED = "embed_failed"
    STORE_UNREADABLE = "store_unreadable"
    RECALL_FAILED = "recall_failed"
    DRAINING = "draining"


class DropReason(enum.StrEnum):
    """Why one candidate was not injected."""

    BELOW_FLOOR = "below_floor"
    BELOW_THRESHOLD = "below_threshold"
    BEHIND_BEST = "behind_best"
    """Relevant enough alone, but far behind the best of this recall."""
    BUDGET = "budget"
    """Time ran out before this candidate was scored."""
    OVER_MAX_ITEMS = "over_max_items"
    OVER_MAX_CHARS = "over_max_chars"
    OUTRANKED = "outranked"
    """Nominated, and so many others lay nearer that it was not even read."""
    OUT_OF_INTERVAL = "out_of_interval"
    """Not of the time that is all the turn asks for, and no gate judged it."""
    ALREADY_VISIBLE = "already_visible"
    EXCLUDED_BY_CALLER = "excluded_by_caller"
    OWN_TEXT = "own_text"
    """The asker's own words, handed back, would tell it nothing."""
    WRONG_SCOPE = "wrong_scope"
    NOT_LIVE = "not_live"


class RememberOutcome(enum.StrEnum):
    """What became of an explicit `remember`."""

    CREATED = "created"
    DUPLICATE = "duplicate"
    """The same words are stored already; nothing changed."""
    UPDATED = "updated"
    """The same words were stored; kind, scope, cues, asks or expiry were brought up to date."""


class AdmissionReason(enum.StrEnum):
    """Why an observed turn led to a record or to none."""

    EXPLICIT_SAVE = "explicit_save"
    DUPLICATE = "duplicate"
    NOT_EXPLICIT = "not_explicit"
    """Nothing in the turn asked for remembering; other gates arrive with the full write path."""
    NOT_USER_SPEAKER = "not_user_speaker"
    REFUSED_IN_COMMAND = "refused_in_command"
    """The save command itself said not to save."""
    QUESTION = "question"
    NO_USER_TEXT = "no_user_text"
    TOO_LONG = "too_long"
    TOMBSTONED = "tombstoned"
    """It was forgotten on purpose; only an explicit new save brings it back."""
