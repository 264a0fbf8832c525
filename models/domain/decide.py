"""What any gate can be asked: one request, for every operation.

Only what the caller knows is in it. What the daemon knows itself (its store, the session, the files of the project) is
added by whoever carries the request out.
"""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.turn_parts import MessagePart
from recalld.models.domain.world import ProbeAnswer

CANDIDATES_MAX = 500
"""Candidates of one request."""
SWEEP_SESSIONS_MAX = 256
"""Sessions an explicit list may name; a cursor must be able to carry it."""


class DecideOp(enum.StrEnum):
    """What is to be done, if the gate lets it."""

    RECALL = "recall"
    REWRITE = "rewrite"
    INJECT = "inject"
    PROBE = "probe"
    SWEEP = "sweep"
    CONSOLIDATE = "consolidate"
    EXTRACT = "extract"
    ADMIT = "admit"
    TUNE = "tune"
    LOAD_SKILL = "load_skill"


class Argument(enum.StrEnum):
    """Arguments that count only when the caller gave them, and not when some default filled them in."""

    PROJECT = "project"
    SESSIONS = "sessions"
    TARGET = "target"
    CURSOR = "cursor"
    SINCE = "since"


class CallShape(enum.StrEnum):
    """How many candidates a model scored in one call: a threshold holds for the shape it was found with."""

    SINGLE = "single"
    BATCHED = "batched"


class ReadStage(enum.StrEnum):
    """How far a staged search has come."""

    CARDS = "cards"
    """One card for each session, in memory."""
    INDEX = "index"
    """A slim full-text index over all messages."""
    MESSAGES = "messages"
    """Pages of the chosen sessions."""


class CandidatePresence(enum.StrEnum):
    """What a candidate is to the store, for operations that write."""

    PROPOSED = "proposed"
    """It would be written."""
    STORED = "stored"
    """It is there already, and stays."""
    REMOVED = "removed"
    """It is there already, and is taken out in the same step."""


class ModelFailure(enum.StrEnum):
    """Why the caller's model has no answer."""

    ERROR = "error"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    NO_BUDGET = "no_budget"
    CANCELLED = "cancelled"
    """The caller gave up asking, which says nothing about the model: such a call is not remembered."""


class ModelReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the caller's model answered, unread; or why it did not."""

    text: str = ""
    was_truncated: bool = False
    failure: ModelFailure | None = None


class DecideScope(msgspec.Struct, frozen=True, kw_only=True):
    """Where the asker stands.

    Attributes:
        project: Name of the project; empty: not known.
        project_root: Absolute path of its directory; empty: not known.
        family: Sessions that belong to the asking one: its parent, its children.
        agent: The agent that asks.
        namespace: Whatever else keeps apart what must not mix.
    """

    project: str = ""
    project_root: str = ""
    family: tuple[str, ...] = ()
    agent: str = ""
    namespace: str = ""


class DecideCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that would be shown, kept, loaded, checked or swept.

    Attributes:
        id: The caller's name for it.
        text: Its words.
        title: A skill's or a card's name.
        description: What it says of itself.
        digest: Of its content, so that an edited one is known to be another.
        session: The session it comes from.
        score: What a model or a search gave it; the profile says on which scale.
        at_ms: When it was made, Unix epoch milliseconds; orders a sweep.
        age_ms: How old it is now; read where `at_ms` is not given.
        hits: How many terms of the message it has, where the caller counted.
        files: Files its body refers to.
        is_injected: Whether it is something that this daemon put into a conversation.
        presence: What it is to the store, for operations that write.
        cluster: The cluster it was put into, or the failed batch it belongs to; empty: none.
        failures: How often its batch failed.
    """

    id: str
    text: str = ""
    title: str = ""
    description: str = ""
    digest: str = ""
    session: str = ""
    score: float | None = None
    at_ms: int | None = None
    age_ms: int | None = None
    hits: int | None = None
    files: tuple[str, ...] = ()
    is_injected: bool = False
    presence: CandidatePresence = CandidatePresence.PROPOSED
    cluster: str = ""
    failures: int = 0


class SweepArguments(msgspec.Struct, frozen=True, kw_only=True):
    """What a sweep is limited to.

    Attributes:
        sessions: An explicit list, at most `SWEEP_SESSIONS_MAX`.
        target: A single one.
        cursor: Where an earlier part of the same sweep ended.
        since_ms: Nothing older than this, Unix epoch milliseconds.
        targets_max: Targets handed out at a time; None: as the profile says.
    """

    sessions: tuple[str, ...] = ()
    target: str = ""
    cursor: str = ""
    since_ms: int | None = None
    targets_max: int | None = None


class DecideRequest(msgspec.Struct, frozen=True, kw_only=True):
    """May this be done, and how?

    Attributes:
        op: What is to be done.
        profile: Which gate decides; empty: the operation's own.
        user: Whose.
        session: The runtime's session; empty: none, and nothing is remembered of it.
        turn_id: Within a turn, the same question is decided once; empty: not within any turn.
        scope: Where the asker stands.
        parts: The message, in parts of the user, of programs in the user's place, and of the host.
        recent: Texts of the turns before, oldest first; None: not supplied, which is not the same as none.
        now_ms: The user's present; None: not supplied.
        is_now_named: Whether the caller gave it, and not the daemon's clock.
        time_zone: The user's IANA zone; empty: not supplied.
        candidates: What it is about, in the caller's order.
        sweep: What a sweep is limited to.
        stage: How far a staged search has come.
        call_shape: How the candidates were scored.
        model: What the caller's own model said; None: it was not asked.
        probe_answers: What the runtime found about remote claims.
        declined: Ids of candidates that the user waved away.
        wanted_files: Files that the body of a loaded skill refers to and that are needed now.
        usage: Amounts used so far, by name.
        counters: Counts the caller keeps, by name.
        explicit: Arguments that the caller gave and no default filled in.
        may_probe_files: Whether this daemon may look at the asker's files: the asker could do it itself.
        deadline_s: Absolute, on the monotonic clock.
    """

    op: DecideOp
    profile: str = ""
    user: str
    session: str = ""
    turn_id: str = ""
    scope: DecideScope = DecideScope()
    parts: tuple[MessagePart, ...] = ()
    recent: tuple[str, ...] | None = None
    now_ms: int | None = None
    is_now_named: bool = False
    time_zone: str = ""
    candidates: tuple[DecideCandidate, ...] = ()
    sweep: SweepArguments = SweepArguments()
    stage: ReadStage | None = None
    call_shape: CallShape | None = None
    model: ModelReport | None = None
    probe_answers: tuple[ProbeAnswer, ...] = ()
    declined: tuple[str, ...] = ()
    wanted_files: tuple[str, ...] = ()
    usage: dict[str, int] = {}
    counters: dict[str, int] = {}
    explicit: frozenset[Argument] = frozenset()
    may_probe_files: bool = False
    deadline_s: float
