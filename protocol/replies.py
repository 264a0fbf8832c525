"""What the server may answer. Every reply sends all its fields; clients ignore those they do not know."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from recalld.protocol import fields as f
from recalld.protocol import items as i

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


class Admitted(_Reply, frozen=True, kw_only=True, tag="admitted"):
    """What an observed turn led to; the same again for the same turn."""

    decision_id: str
    kept: tuple[i.Verdict, ...] = ()
    dropped: tuple[i.Verdict, ...] = ()


class Remembered(_Reply, frozen=True, kw_only=True, tag="remembered"):
    """What became of an explicit save. It is durable, and visible to every later recall of its user."""

    memory: i.MemoryItem
    outcome: str
    """`created`, `duplicate` or `updated`."""
    decision_id: str
    is_embedded: bool
    """False while only its words can find it."""


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


class Memory(_Reply, frozen=True, kw_only=True, tag="memory"):
    """One memory."""

    memory: i.MemoryItem


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
    """Counters since start, and latency percentiles in milliseconds."""

    uptime_s: float
    counters: dict[str, int]
    latencies_ms: dict[str, float]


class Pong(_Reply, frozen=True, kw_only=True, tag="pong"):
    """Here."""


class Error(msgspec.Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """A request that was not done, or a connection that is about to be closed (then without an id)."""

    id: Annotated[int, Meta(ge=0, le=f.REQUEST_ID_MAX)] | None = None
    code: str
    message: str
    retryable: bool = False
