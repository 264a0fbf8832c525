"""The parts that `decide` and `decision` are made of."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from recalld.protocol import fields as f

CANDIDATES_MAX = 500
SWEEP_SESSIONS_MAX = 256
PATH_CHARS_MAX = 4_096
CURSOR_CHARS_MAX = 8_192
COUNTS_MAX = 64
FILES_MAX = 64
TARGETS_MAX = 1_000
AGE_MS_MAX = f.EPOCH_MS_MAX

DecideOpName = Literal[
    "recall", "rewrite", "inject", "probe", "sweep", "consolidate", "extract", "admit", "tune", "load_skill"
]
ArgumentName = Literal["project", "sessions", "target", "cursor", "since"]
CallShapeName = Literal["single", "batched"]
ReadStageName = Literal["cards", "index", "messages"]
CandidatePresenceName = Literal["proposed", "stored", "removed"]
ModelFailureName = Literal["error", "timeout", "refused", "no_budget", "cancelled"]
CandidateName = Annotated[str, Meta(min_length=1, max_length=f.NAME_CHARS_MAX)]
Counts = Annotated[
    dict[f.ShortName, Annotated[int, Meta(ge=-(1 << 53), le=1 << 53)]],
    Meta(max_length=COUNTS_MAX, description="Amounts by name."),
]


class DecideScope(msgspec.Struct, frozen=True, kw_only=True):
    """Where the asker stands; empty fields are not known."""

    project: f.Scope = ""
    project_root: Annotated[str, Meta(max_length=PATH_CHARS_MAX)] = ""
    """Absolute path of the project's directory. Looked at only for a peer with the daemon's own uid, or root."""
    family: Annotated[tuple[f.SessionName, ...], Meta(max_length=f.IDS_MAX)] = ()
    """Sessions that belong to the asking one: its parent, its children."""
    agent: f.ShortName = ""
    namespace: f.ShortName = ""


class DecideCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that would be shown, kept, loaded, checked or swept. Nothing of it is stored."""

    id: CandidateName
    """The caller's name for it; each is given once."""
    text: f.TurnText = ""
    title: f.TurnText = ""
    """A skill's or a card's name."""
    description: f.TurnText = ""
    """What it says of itself."""
    digest: f.ShortName = ""
    """Of its content, so that an edited one is known to be another."""
    session: f.SessionName = ""
    """The session it comes from."""
    score: float | None = None
    """What a model or a search gave it."""
    at_ms: f.EpochMs | None = None
    """When it was made; orders a sweep, so it must not change."""
    age_ms: Annotated[int, Meta(ge=0, le=AGE_MS_MAX)] | None = None
    """How old it is; read where `at_ms` is not given."""
    hits: Annotated[int, Meta(ge=0, le=f.IDS_MAX)] | None = None
    """How many words of the message it has, where the caller counted."""
    files: Annotated[tuple[Annotated[str, Meta(max_length=PATH_CHARS_MAX)], ...], Meta(max_length=FILES_MAX)] = ()
    """Files that its body refers to."""
    is_injected: bool = False
    """Whether it is something that was put into a conversation from memory."""
    presence: CandidatePresenceName = "proposed"
    """For operations that write: it would be written, is there already, or is there and taken out in the same step."""
    cluster: f.ShortName = ""
    """The cluster it was put into, or the failed batch it belongs to; empty: none."""
    failures: Annotated[int, Meta(ge=0, le=COUNTS_MAX * 1_000)] = 0
    """How often that batch failed."""


class SweepArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep is limited to."""

    sessions: Annotated[tuple[f.SessionName, ...], Meta(max_length=SWEEP_SESSIONS_MAX)] = ()
    """An explicit list."""
    target: f.SessionName = ""
    """A single one."""
    cursor: Annotated[str, Meta(max_length=CURSOR_CHARS_MAX)] = ""
    """Where an earlier part of the same sweep ended, as it was given."""
    since_ms: f.EpochMs | None = None
    """Nothing older than this."""
    targets_max: Annotated[int, Meta(ge=1, le=TARGETS_MAX)] | None = None
    """Targets at a time; null: as the profile says, which is also the most."""


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller's own model answered, unread; or why it did not."""

    text: f.TurnText = ""
    was_truncated: bool = False
    """Whether it stopped at a token ceiling: then what is missing is not known."""
    failure: ModelFailureName | None = None


class ProbeAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What the runtime found about a claim it was asked to look at, unread."""

    claim_id: CandidateName
    answer: f.QueryText
    """For a pull request `open`, `merged` or `closed`; anything else leaves the claim unchecked."""


class DecideInterval(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of time that the message speaks of: half-open, epoch milliseconds, null for an open end."""

    start_ms: int | None = None
    end_ms: int | None = None
    confidence: float = 0.0


class DecideLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller must keep to; null: no limit of this kind."""

    items_max: int | None = None
    chars_max: int | None = None
    chars_per_session_max: int | None = None
    page_messages: int | None = None
    batch_max: int | None = None
    """Candidates that a model may score in one call."""
    time_ms: int | None = None


class ProbeRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A claim that the runtime is asked to look at. `subject` comes from stored text."""

    claim_id: str
    candidate_id: str
    kind: str
    subject: str
    untrusted: bool = True


class DecideParams(msgspec.Struct, frozen=True, kw_only=True):
    """How to do it."""

    query: str = ""
    """What to look for, or the message to go on with."""
    query_fallback: bool = False
    """The model gave nothing that can be used, so the message stands in for it."""
    intervals: tuple[DecideInterval, ...] = ()
    items: tuple[str, ...] = ()
    """Candidates that passed, best first."""
    targets: tuple[str, ...] = ()
    """What to read, load or sweep now."""
    probe_requests: tuple[ProbeRequest, ...] = ()
    stage: str | None = None
    """What a staged search does next."""
    limits: DecideLimits = DecideLimits()
    not_before_ms: int | None = None
    """Not before this moment, epoch milliseconds."""
    cursor: str | None = None
    """Where the next part starts; null: there is none."""
    missing: tuple[str, ...] = ()
    """Fields of the request without which nothing could be decided; one of them is enough."""


class JudgedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate, and what it came to."""

    id: str
    reason: str
    score: float | None = None
    threshold: float | None = None
    terms: tuple[str, ...] = ()
    """Words of the message that it has."""


class ClaimVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one claim of a stored record. Only `subject` comes from stored text, and nothing from a look."""

    claim_id: str
    candidate_id: str
    kind: str
    outcome: str
    reason: str
    subject: str = ""
    """The path, branch, package or number, as the record writes it."""
    place: int = 0
    """Which claim of its record this is, from 1, in text order; 0: not said."""
    start: int = 0
    """Where the subject starts in the candidate's text, in characters."""
    end: int = 0
    """Behind its last character."""
    untrusted: bool = True


class DecideEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate saw."""

    cues: tuple[str, ...] = ()
    """History cues, each `family: phrase`."""
    terms: tuple[str, ...] = ()
    """Words of the message that say something."""
    posted: tuple[str, ...] = ()
    """Those of them that the store has."""
    times: tuple[str, ...] = ()
    """Expressions of time, as written."""
    candidates: tuple[JudgedCandidate, ...] = ()
    """Every candidate that was judged, in the caller's order."""
    probes: tuple[ClaimVerdict, ...] = ()
    thresholds: dict[str, float] = {}
    """What was in force, by name."""
    counts: dict[str, int] = {}
    """What was counted, by name."""
