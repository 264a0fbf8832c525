"""The parts that requests and replies are made of.

Text that was stored is returned verbatim, as data: every struct that carries it says `untrusted: true`, and a runtime
that puts it into a prompt must frame it itself.
"""

from __future__ import annotations

import msgspec

from recalld.protocol import fields as f
from recalld.protocol.fields import PartRole, ShortName, TurnText


class ClientInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Who connects; shown in the daemon's logs."""

    name: ShortName = ""
    version: ShortName = ""


class ServerInfo(msgspec.Struct, frozen=True, kw_only=True):
    """Who answers."""

    name: str
    version: str


class TextPart(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a turn and where it came from.

    `user`: typed by the user. `synthetic`: put into the user's message by the runtime (reminders, file contents).
    `host`: the runtime's own framing. Only `user` parts are taken for the user's words.
    """

    role: PartRole
    text: TurnText


class PastTurn(msgspec.Struct, frozen=True, kw_only=True):
    """An earlier turn of the same session."""

    speaker: ShortName
    text: TurnText


class OfferedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that the runtime's own model found in a turn. The policy decides about it like about any other.

    Lengths, kinds and times are bounded as those of a memory. A candidate that breaks a bound is dropped for itself, as
    `unreadable_candidate`, and leaves the turn and its other candidates alone.
    """

    statement: f.OfferedText
    """What would be stored, self-contained: "The user works at Initech."."""
    kind: f.OfferedText = "fact"
    """As of a memory."""
    scope: f.OfferedText | None = None
    """Null: that of the turn."""
    quote: f.OfferedText = ""
    """The user's words for it, as the turn has them. What no word of the user says is `not_user_stated`."""
    cues: tuple[f.OfferedText, ...] = ()
    asks: tuple[f.OfferedText, ...] = ()
    expires_at: f.OfferedText | int | None = None
    """RFC 3339 date or time (in the turn's `time_zone` when it has no offset), or epoch milliseconds. Null: never."""
    slot: f.OfferedText = ""
    """What it states a value of, such as `employer`; a newer value of the same slot closes the older one."""


class ServerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the server refuses to exceed; lengths in Unicode code points unless the name says bytes."""

    frame_bytes_max: int
    in_flight_max: int
    """Requests without a reply yet, per connection; more are refused as `busy`."""
    turn_chars_max: int
    memory_chars_max: int
    recall_items_max: int
    list_limit_max: int
    idle_timeout_ms: int
    """A connection without traffic, requests in flight or subscriptions is closed after this long; 0: never."""


class SessionDefaults(msgspec.Struct, frozen=True, kw_only=True):
    """What holds when a request does not say otherwise."""

    budget_ms: int
    """Milliseconds a recall may take; also the most that `budget_ms` may ask for."""
    user_prefix: str
    """Users this peer may act for start with this; empty: all users."""


class RecalledItem(msgspec.Struct, frozen=True, kw_only=True):
    """A memory worth showing now, best first. Cosines are in [-1, 1]; `logit` is the raw cross-encoder output."""

    id: str
    text: str
    kind: str
    scope: str
    cosine: float | None = None
    """Query against the memory's text; null without a vector."""
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    lexical: float | None = None
    """Full-text score, larger is better, never negative; null when no word matched."""
    logit: float | None = None
    """Null when the relevance model did not score the item: no gate ran, it had no time left (`by_evidence`), or the
    item came in for something else (`in_interval`, `brought_along`)."""
    relevance: float | None = None
    """In [0, 1]; null when no gate judged the item. Of `by_evidence`: the lowest that it could be."""
    age_s: float = 0.0
    """Seconds since the memory was created."""
    why: str = ""
    """`passed_gate`, `by_evidence` (time ran out before it was scored, and no score could have let it fall below the
    threshold), `below_threshold` (explicit search only), `passed_floor`, `matched_words`, `in_interval` (the turn
    asks for nothing but a time, and this is from then), `mentioned` (the turn asks for work on what this is about) or
    `brought_along` (another item names what this is about)."""
    is_in_interval: bool | None = None
    """Whether it was made or changed at a time that the turn speaks of; null when the turn speaks of none."""
    mention: float | None = None
    """How far the turn names what this is about: 1 for a whole word or name, 0.8 with a letter wrong, 0 for not at all;
    null when nobody looked."""
    brought_by: str = ""
    """The id of the item that brought this one along; empty: it was found for the turn itself."""
    untrusted: bool = True


class ShadowItem(msgspec.Struct, frozen=True, kw_only=True):
    """What the gates decided about a recall in shadow mode, where something else was handed over."""

    mode: str
    """`shadow_inject`: what passed the similarity floor is handed over, also where no search was warranted.
    `shadow_silent`: nothing is."""
    decision: str
    """As of a `recalled` without shadow mode."""
    reason: str
    item_ids: tuple[str, ...] = ()
    """Ids that would have been handed over, best first."""


class DroppedItem(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate that was not shown, and why. Sent only when the request said `explain`."""

    id: str
    reason: str
    cosine: float | None = None
    cue_cosine: float | None = None
    ask_cosine: float | None = None
    lexical: float | None = None
    logit: float | None = None
    relevance: float | None = None
    is_in_interval: bool | None = None
    """As in `RecalledItem`."""
    mention: float | None = None
    """As in `RecalledItem`."""


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the search could see. `discovered` is `searched` and everything that was skipped together, always."""

    discovered: int = 0
    searched: int = 0
    skipped_wrong_scope: int = 0
    pending_embedding: int = 0
    """Of those searched: not embedded yet, so only their words could find them."""
    records_without_asks: int = 0
    skipped_out_of_interval: int = 0
    """Not of the time that the turn speaks of; only with `time: "filter"`."""
    skipped_unreadable: int = 0
    """Found, but not to be read: damaged, or forgotten in the meantime."""
    limited_by: tuple[str, ...] = ()
    """Limits beyond which there may be more: see the vocabulary."""
    index_seq: int = 0
    """The user's change up to which the vector index stood; 0: none was loaded."""
    store_seq: int = 0
    """The user's newest change; the index lags behind when `index_seq` is smaller."""
    is_time_filtered: bool | None = None
    """Whether only memories of a time were searched: not so with `time: "filter"` when the turn names no time that is
    understood. Null: not said, as when there was no time to count."""


class GateReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the relevance gate did."""

    threshold: float | None = None
    pairs_scored: int = 0
    pairs_cached: int = 0
    filtered_by_floor: int = 0
    dropped_by_gate: int = 0
    dropped_by_budget: int = 0
    calibration_id: str = ""


class Timings(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time of a recall went, in milliseconds."""

    total_ms: float = 0.0
    turn_ms: float = 0.0
    """Deciding whether to search."""
    embed_ms: float = 0.0
    search_ms: float = 0.0
    gate_ms: float = 0.0
    queue_ms: float = 0.0
    deadline_left_ms: float = 0.0


class MemoryItem(msgspec.Struct, frozen=True, kw_only=True):
    """A stored memory in full. Times are Unix epoch milliseconds, UTC."""

    id: str
    user: str
    text: str
    kind: str
    scope: str
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    source: str
    status: str
    created_at_ms: int
    updated_at_ms: int
    expires_at_ms: int | None = None
    revision: int
    cue_origins: tuple[str, ...] = ()
    """Who wrote each cue; none at all: whoever stored or changed the memory."""
    ask_origins: tuple[str, ...] = ()
    """As `cue_origins`, of the asks."""
    untrusted: bool = True


class ObservationItem(msgspec.Struct, frozen=True, kw_only=True):
    """A fact with weak evidence: it becomes a memory when enough turns say the same. Times are epoch milliseconds."""

    id: str
    text: str
    kind: str
    scope: str
    slot: str = ""
    turns: int = 1
    """Distinct turns that speak for it."""
    sessions: int = 1
    first_at_ms: int
    last_at_ms: int
    promoted_to: str = ""
    """The id of the memory it became; empty: none yet."""
    untrusted: bool = True


class ProposalItem(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that waits for the user's yes. Times are epoch milliseconds."""

    id: str
    session: str
    text: str
    kind: str
    scope: str
    slot: str = ""
    reason: str
    """Why the user is asked: see the vocabulary."""
    state: str
    created_at_ms: int
    expires_at_ms: int
    proposer: str = ""
    """The client that brought it; it may not approve it. Empty: the daemon's own rules."""
    memory_id: str = ""
    """The id of the memory it became, once accepted."""
    accepted_text: str = ""
    """What was accepted, where it was edited."""
    untrusted: bool = True


class EvidenceItem(msgspec.Struct, frozen=True, kw_only=True):
    """One turn behind a memory."""

    session: str = ""
    turn_id: str = ""
    at_ms: int
    """When it was said."""
    generator: str
    rule: str
    """Which rule, model or calibration record found it there."""
    reason: str
    quote: str = ""
    """The user's words."""
    decision_id: str = ""
    """For `explain`."""
    untrusted: bool = True


class UsageItem(msgspec.Struct, frozen=True, kw_only=True):
    """How much of its caps a scope uses; a cap of 0 is none."""

    records: int
    chars: int
    records_max: int = 0
    chars_max: int = 0
    evictions: tuple[str, ...] = ()
    """Ids suggested for forgetting, best first; empty unless something was refused."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one fact of an observed turn, or (without a generator) of the turn as a whole."""

    reason: str
    memory: MemoryItem | None = None
    """As it is now; null where there is none."""
    outcome: str = ""
    """What became of it: see the vocabulary; empty where it was dropped before anything was written."""
    superseded: tuple[str, ...] = ()
    """Ids of memories that it closed: they are kept as history and no longer recalled."""
    generator: str = ""
    """What found it."""
    rule: str = ""
    """Which rule, model or calibration record of it."""
    decided_by: str = ""
    """Which rule of the policy dropped or lowered it."""
    evidence: tuple[str, ...] = ()
    """What else found the same, as in `judge:judge.v1`; it counts once."""
    observation: ObservationItem | None = None
    proposal: ProposalItem | None = None
    usage: UsageItem | None = None
    """Where a cap refused it, or is nearly reached."""


class ForgottenItem(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that was, or in a dry run would be, forgotten. `preview` is the start of its text."""

    id: str
    preview: str
    kind: str
    scope: str
    untrusted: bool = True


class StoreState(msgspec.Struct, frozen=True, kw_only=True):
    """The database, as the daemon sees it."""

    is_readable: bool
    is_writable: bool
    schema_version: int
    users: int
    live: int
    blank: int
    fts_rows: int
    fts_matches: bool
    pending_embedding: int
    other_embedder: int
    db_bytes: int
    wal_bytes: int
    damaged: int = 0
    """Memories that cannot be read and are left out of every answer; `detail` names some."""
    detail: str = ""
    audited_at_ms: int | None = None
    """When somebody last went through the newest memories, Unix epoch milliseconds; null: never."""


class ModelState(msgspec.Struct, frozen=True, kw_only=True):
    """A model-backed part of the daemon. `state` is `ready`, `loading`, `unavailable` or `disabled`."""

    state: str
    model_id: str = ""
    detail: str = ""
    queue_depth: int = 0
    restarts: int = 0
    jobs: int = 0
    failures: int = 0


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A relevant and an irrelevant pair, scored by the running gate."""

    is_ok: bool
    relevant: float | None = None
    irrelevant: float | None = None
    elapsed_ms: float = 0.0
    detail: str = ""


class OutcomeCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How often each result was reported."""

    used: int = 0
    ignored: int = 0
    harmful: int = 0
    missed: int = 0


class ReportedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One report. `item_id` is empty for a decision as a whole."""

    decision_id: str
    item_id: str = ""
    result: str
    at_ms: int


class StandingItem(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that holds without being asked for."""

    id: str
    text: str
    kind: str
    scope: str
    age_s: float = 0.0
    """Seconds since the memory was created."""
    is_pinned: bool = False
    untrusted: bool = True


class StandingPointer(msgspec.Struct, frozen=True, kw_only=True):
    """A demoted memory that can be asked for. `cue` is its first heading, or the start of its text."""

    id: str
    kind: str
    cue: str
    untrusted: bool = True


class StandingRank(msgspec.Struct, frozen=True, kw_only=True):
    """How one candidate for the standing block was judged."""

    id: str
    verdict: str
    """What became of it: see the vocabulary."""
    usefulness: float
    """Expected share of turns in which showing it averts an error, less those in which it causes one; in [0, 1]."""
    value: float
    """Words of error averted for each word it costs; below the configured bar it is demoted."""
    words: int
    source: str
    """Which gate let it in."""
    outcomes: OutcomeCounts = OutcomeCounts()
    """Reported for it, since it was restored if it was."""
    turns: int = 0
    """Observed turns in which the user said it."""
    choice: str | None = None
    """`pinned`, `demoted` or `restored`; null: outcomes decide."""
    cue: str = ""
    """Its first heading, or the start of its text."""
    word: str = ""
    """Whose word it is: see the vocabulary; all but `nobody` are the user's own. Empty: not said."""
    untrusted: bool = True
