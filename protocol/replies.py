"""What the server may answer. Every reply sends all its fields; clients ignore those they do not know."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recalld.protocol import audit_items as au
from recalld.protocol import decide_items as d
from recalld.protocol import drift_items as di
from recalld.protocol import fields as f
from recalld.protocol import items as i
from recalld.protocol import portable_items as p
from recalld.protocol import stats_items as s

FieldValue = str | int | float | bool | None
"""What a field of an event may hold."""


class _Reply(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """What all replies but `error` share."""

    id: f.RequestId = 0
    """The id of the request."""


class Welcome(_Reply, frozen=True, kw_only=True, tag="welcome"):
    """The connection is open."""

    protocol: int
    """The version that holds from here on."""
    server: i.ServerInfo
    limits: i.ServerLimits
    features: tuple[str, ...] = ()
    session_defaults: i.SessionDefaults


class Recalled(_Reply, frozen=True, kw_only=True, tag="recalled"):
    """What is worth showing, best first; often nothing, and then `reason` says why."""

    recall_id: str
    """For `explain`."""
    decision: str
    """`inject`, `silent`, `skip` or `error`."""
    mode: str
    """`gated`, `floor_only`, `lexical_only` or `empty`. Clients make up `unavailable` when they got no answer."""
    reason: str
    """Why it ended so: see the vocabulary."""
    degraded_reason: str | None = None
    """Why the mode is not `gated`."""
    degraded_detail: str = ""
    """From a daemon: the type of a failure, never its text. In an answer that a client made up: a sentence that says
    what failed, with the socket's path or the field at fault."""
    items: tuple[i.RecalledItem, ...] = ()
    """Best first."""
    floor_items: tuple[str, ...] = ()
    """Ids that would have been shown without the gate."""
    dropped: tuple[i.DroppedItem, ...] = ()
    """Candidates that were not shown; empty unless the request said `explain`."""
    coverage: i.Coverage = i.Coverage()
    gate: i.GateReport = i.GateReport()
    timings: i.Timings = i.Timings()
    shadow: i.ShadowItem | None = None
    """What the gates decided, in shadow mode: then `decision`, `reason` and `items` say what was done instead. Null:
    the gates are obeyed."""


class Admitted(_Reply, frozen=True, kw_only=True, tag="admitted"):
    """What an observed turn led to; the same again for the same turn."""

    decision_id: str
    kept: tuple[i.Verdict, ...] = ()
    """What is a memory now, or ended one."""
    dropped: tuple[i.Verdict, ...] = ()
    """What led to nothing, and why."""
    observed: tuple[i.Verdict, ...] = ()
    """What is noted until more turns say the same."""
    proposals: tuple[i.Verdict, ...] = ()
    """What waits for the user's yes: ask, and send `confirm`. The user's bare "yes" in the next turn does the same."""


class Confirmed(_Reply, frozen=True, kw_only=True, tag="confirmed"):
    """What became of an answer to a proposal."""

    proposal: i.ProposalItem
    """As it stands now."""
    verdict: i.Verdict | None = None
    """Of the memory, where one was accepted."""
    decision_id: str
    is_repeat: bool = False
    """The same answer had been given before; nothing changed."""


class Proposals(_Reply, frozen=True, kw_only=True, tag="proposals"):
    """A page of proposals, newest first."""

    proposals: tuple[i.ProposalItem, ...] = ()
    cursor: str | None = None
    """Where the next page starts; null on the last one."""
    total: int = 0


class Observations(_Reply, frozen=True, kw_only=True, tag="observations"):
    """A page of observations, the one made last first."""

    observations: tuple[i.ObservationItem, ...] = ()
    cursor: str | None = None
    """Where the next page starts; null on the last one."""
    total: int = 0


class Lineage(_Reply, frozen=True, kw_only=True, tag="lineage"):
    """Everything behind a memory."""

    memory: i.MemoryItem
    evidence: tuple[i.EvidenceItem, ...] = ()
    """Every turn behind it, oldest first; the newest 200."""
    observation: i.ObservationItem | None = None
    """What it was promoted from."""
    proposal: i.ProposalItem | None = None
    """What it was confirmed from."""
    supersedes: tuple[i.MemoryItem, ...] = ()
    """Memories it replaced, newest first; the newest 20."""
    superseded_by: i.MemoryItem | None = None
    slot: str = ""
    """What it states a value of; empty: nothing that is known."""
    subject: str = ""
    """Whose slot; empty: the user's own."""


class Settled(_Reply, frozen=True, kw_only=True, tag="settled"):
    """What became of a word on an observation."""

    observation: i.ObservationItem
    """As it was, with the memory it became."""
    verdict: i.Verdict | None = None
    """Of the memory, where it was accepted."""
    decision_id: str = ""
    """For `explain`; empty when nothing changed."""
    is_repeat: bool = False
    """It was a memory already."""


class Exported(_Reply, frozen=True, kw_only=True, tag="exported"):
    """A page of an export."""

    records: tuple[p.Portable, ...] = ()
    cursor: str | None = None
    """Where the next page starts; null on the last one. A page may be empty and not the last."""


class Imported(_Reply, frozen=True, kw_only=True, tag="imported"):
    """What became of each record, in the order in which they were handed over."""

    lines: tuple[p.ImportedItem, ...] = ()
    is_dry_run: bool = False
    decision_id: str = ""
    """For `explain`; empty for a dry run."""


class Purged(_Reply, frozen=True, kw_only=True, tag="purged"):
    """What a purge took away."""

    memories: int
    """How many there were, forgotten ones included."""
    observations: int = 0
    proposals: int = 0
    is_erasure_pending: bool = False
    """Bytes of it still lie in the write-ahead log, which somebody reads; they go seconds after that."""


class Remembered(_Reply, frozen=True, kw_only=True, tag="remembered"):
    """What became of an explicit save. It is durable, and visible to every later recall of its user."""

    memory: i.MemoryItem
    outcome: str
    """`created`, `duplicate`, `updated` or `superseded`."""
    decision_id: str
    is_embedded: bool
    """False while only its words can find it."""
    superseded: tuple[str, ...] = ()
    """Ids of memories that it closed, because they held another value of the same slot."""
    usage: i.UsageItem | None = None
    """Where a cap is nearly reached."""


class Forgotten(_Reply, frozen=True, kw_only=True, tag="forgotten"):
    """What was, or in a dry run would be, forgotten."""

    count: int
    ids: tuple[str, ...] = ()
    """The first 10,000 of them."""
    items: tuple[i.ForgottenItem, ...] = ()
    """The first 100 of them."""
    unknown: tuple[str, ...] = ()
    """Asked ids that were not there."""
    tombstones: int = 0
    is_dry_run: bool = False
    decision_id: str = ""
    is_erasure_pending: bool = False
    """Bytes of a hard forgetting still lie in the write-ahead log, which somebody reads; they go seconds after that."""
    pending_turns: int = 0
    """Turns waiting for a language model that held the words of the query, those set aside included."""
    observations: int = 0
    """Observations that held them."""
    proposals: int = 0
    """Proposals that held them."""


class Memory(_Reply, frozen=True, kw_only=True, tag="memory"):
    """One memory."""

    memory: i.MemoryItem


class Updated(_Reply, frozen=True, kw_only=True, tag="updated"):
    """A memory as it is after an `update`."""

    memory: i.MemoryItem
    decision_id: str = ""
    """For `explain`; empty when nothing was to be changed."""
    is_embedded: bool = True
    """False while new cues or asks have no vectors yet; everything else about the memory can be found meanwhile."""


class Backfilled(_Reply, frozen=True, kw_only=True, tag="backfilled"):
    """What a `backfill` did."""

    asked: int
    """Memories that the model was asked about."""
    updated: int
    """Of those: now with asks."""
    refused: int
    """Of those: answers that could not be used; nothing of them is stored."""
    failed: int
    """Of those: no answer, or a memory that changed or went away meanwhile."""
    remaining: int
    """Memories of the user that have no asks, those passed over included."""
    reason: str
    """Why it ended: see the vocabulary."""
    refusals: dict[str, int] = {}
    """Refused answers by reason: see the vocabulary."""
    failures: dict[str, int] = {}
    """Failed ones by reason: see the vocabulary."""
    cursor: str | None = None
    """Where the next `backfill` goes on; null at the end."""


class ExtractRequest(_Reply, frozen=True, kw_only=True, tag="extract_request"):
    """A question to the model that a runtime lends; `id` is that of the runtime's `hello`.

    Sent only on connections whose `hello` named the feature `extractor`. Answer it with `extract_result`.
    """

    batch_id: str
    """To be repeated in the answer."""
    user: str
    """Whose words they are."""
    purpose: str
    """What the answer is for: see the vocabulary."""
    prompt: str
    """The instruction."""
    prompt_version: str = ""
    """Name and version of its wording."""
    turns: tuple[str, ...] = ()
    """Material, oldest first; never an instruction, whatever it says."""
    deadline_ms: int
    """Milliseconds from now that an answer is of use."""
    reply_chars_max: int
    """Longest answer that is read."""


class Memories(_Reply, frozen=True, kw_only=True, tag="memories"):
    """A page of memories, newest first."""

    memories: tuple[i.MemoryItem, ...] = ()
    cursor: str | None = None
    """Where the next page starts; null on the last one."""
    total: int = 0


class Explanation(_Reply, frozen=True, kw_only=True, tag="explanation"):
    """A row of the decision ledger."""

    decision_id: str
    user: str
    session: str
    op: str
    at_ms: int
    decision: str
    reason: str
    mode: str = ""
    degraded_reason: str = ""
    body: str = "{}"
    """A JSON object: thresholds, scores and alternatives, without memory or query text unless configured otherwise."""


class StandingBlock(_Reply, frozen=True, kw_only=True, tag="standing_block"):
    """What holds before anything is asked, best first. What is given counts as visible in the session from then on."""

    decision_id: str
    """For `outcome` and `explain`."""
    reason: str
    """Why it is as it is: see the vocabulary. Clients make up the code of a failure when they got no answer."""
    items: tuple[i.StandingItem, ...] = ()
    pointers: tuple[i.StandingPointer, ...] = ()
    """A few demoted memories, so that the model can ask for them."""
    left_out: int = 0
    """Standing memories that are neither shown nor pointed at: demoted, or over a limit."""
    chars: int = 0
    """Of items and pointers, with a line break between two entries, and pointers written as `kind id cue`."""
    chars_max: int = 0
    """What they were fitted into."""
    tokens: int = 0
    """An estimate for the same."""
    ranking: tuple[i.StandingRank, ...] = ()
    """How every candidate was judged, in rank order; empty unless the request said `explain`."""
    detail: str = ""
    """Empty from a daemon. In an answer that a client made up: a sentence that says what failed."""


class StandingSet(_Reply, frozen=True, kw_only=True, tag="standing_set"):
    """What holds for a memory and the standing block now."""

    memory_id: str
    choice: str | None = None
    """`pinned`, `demoted` or `restored`; null: nothing is decided, and its kind and its outcomes decide."""
    is_changed: bool
    """Whether this request changed anything."""
    decision_id: str
    is_standing: bool | None = None
    """Whether it may stand now: pinned, or of a kind that stands by itself and not demoted. Null: not said."""


class OutcomeReport(_Reply, frozen=True, kw_only=True, tag="outcome_report"):
    """What was reported on a memory or on a decision."""

    counts: i.OutcomeCounts
    outcomes: tuple[i.ReportedOutcome, ...] = ()
    """The newest 100, newest first."""
    choice: str | None = None
    """Of a memory: `pinned`, `demoted` or `restored` in the standing block; null: outcomes decide."""


class Samples(_Reply, frozen=True, kw_only=True, tag="samples"):
    """Decisions that were kept by chance, the newest first."""

    samples: tuple[au.SampleItem, ...] = ()
    left: int = 0
    """How many more there are."""


class Decision(_Reply, frozen=True, kw_only=True, tag="decision"):
    """What a gate says of a request."""

    decision_id: str
    """For `explain`."""
    op: str
    profile: str
    """The gate that decided."""
    policy_version: str
    """Its name, version and the digest of its settings."""
    decision: str
    """`run`, `skip`, `defer` (not now: leave it pending) or `refuse` (not like this: change the request)."""
    reason_code: str
    """Why: see the vocabulary."""
    reason: str
    """Why, as a sentence."""
    params: d.DecideParams = d.DecideParams()
    evidence: d.DecideEvidence = d.DecideEvidence()
    decided_by: str
    """Id of the rule; `model`, `default` or `error_path`."""
    degraded: bool = False
    """Whether something failed or was missing on the way."""
    cost_ms: float = 0.0
    repeat: bool = False
    """Whether this was decided before in the same turn."""
    notice: str = ""
    """A sentence for the person, after failures in a row and at most now and then; else empty."""


class Ok(_Reply, frozen=True, kw_only=True, tag="ok"):
    """Done."""


class Subscribed(_Reply, frozen=True, kw_only=True, tag="subscribed"):
    """Events follow, until either side closes or the client half-closes."""


class Event(_Reply, frozen=True, kw_only=True, tag="event"):
    """Something happened; `id` is that of the subscription."""

    name: str
    at_ms: int
    user: str = ""
    fields: dict[str, FieldValue] = {}
    dropped: int = 0
    """Events left out just before this one because the reader was slow."""


class HealthReport(_Reply, frozen=True, kw_only=True, tag="health_report"):
    """The daemon's state."""

    version: str
    pid: int
    uptime_s: float
    is_draining: bool
    store: i.StoreState
    scorer: i.ModelState
    embedder: i.ModelState
    breaker: str
    gate_mode: str
    calibration_id: str
    calibration_matches: bool
    calibration_detail: str = ""
    probe: i.ProbeResult | None = None
    window_s: float
    window_recalls: int
    window_degraded: dict[str, int]
    """Degraded recalls in the window, by reason."""
    actors_active: int
    actor_restarts: int
    queue_depth: int
    ledger_rows_dropped: int
    rss_bytes: int
    open_fds: int


class StatsReport(_Reply, frozen=True, kw_only=True, tag="stats_report"):
    """Counters since start, and latency percentiles in milliseconds; with `days`, one section for each thing measured.

    A section is null where it was not asked for.
    """

    uptime_s: float
    counters: dict[str, int]
    latencies_ms: dict[str, float]
    ledger: s.LedgerReport | None = None
    """Decisions, candidates, facts, times and costs over the window."""
    drift: di.DriftSection | None = None
    """With `days`: whether the gates still decide as they did; by numbers of decisions, however long those took."""
    audit: au.AuditSection | None = None
    """With a window: what a person's marks say of the gates."""


class Pong(_Reply, frozen=True, kw_only=True, tag="pong"):
    """Here."""


class Error(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """A request that was not done, or a connection that is about to be closed (then without an id)."""

    id: Annotated[int, Meta(ge=0, le=f.REQUEST_ID_MAX)] | None = None
    code: str
    message: str
    retryable: bool = False
