"""The standing block: what is given to a session before anything is asked, and who decided about it."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.facts import Generator
from recalld.models.domain.outcomes import OutcomeTally, ReportedOutcome
from recalld.models.domain.records import Memory, MemoryKind
from recalld.models.domain.store import DecisionRow

STANDING_KINDS = frozenset({MemoryKind.PREFERENCE, MemoryKind.CONVENTION})
"""Kinds that hold without being asked for. A memory of another kind stands when a person has pinned it."""
CANDIDATES_MAX = 500
"""Memories considered for one block, pinned ones first, then the newest: hundreds of times what fits."""


class StandingReason(enum.StrEnum):
    """Why a standing block is as it is."""

    GIVEN = "given"
    ALREADY_GIVEN = "already_given"
    """This session has had it, and has not said that it was compacted or started anew."""
    NOTHING_STANDING = "nothing_standing"
    """No preference or convention holds in this scope."""
    DEMOTED = "demoted"
    """What there is was demoted, or rests on nobody's word and no success yet."""
    ALREADY_VISIBLE = "already_visible"
    """Recalls of this session have handed all of it over already."""
    OVER_LIMITS = "over_limits"
    """Nothing of it fits the limits on characters, lines and tokens."""
    DISABLED = "disabled"


class StandingVerdict(enum.StrEnum):
    """What became of one candidate."""

    SHOWN = "shown"
    BELOW_BAR = "below_bar"
    """By its outcomes it no longer averts enough error for the words it costs."""
    DEMOTED = "demoted"
    """A person took it out."""
    UNPROVEN = "unproven"
    """It is nobody's word, and no use of it was reported."""
    DUPLICATE = "duplicate"
    """The same words stand higher up, in another scope."""
    ALREADY_VISIBLE = "already_visible"
    OVER_CHARS = "over_chars"
    OVER_LINES = "over_lines"
    OVER_TOKENS = "over_tokens"


class StandingAction(enum.StrEnum):
    """What a person can do about a memory and the block."""

    PIN = "pin"
    UNPIN = "unpin"
    DEMOTE = "demote"
    RESTORE = "restore"


class StandingChoice(enum.StrEnum):
    """What a person decided about a memory and the block; without one, outcomes decide."""

    PINNED = "pinned"
    """First in the block, whatever its outcomes."""
    DEMOTED = "demoted"
    RESTORED = "restored"
    """A fresh start: outcomes reported before do not count. Only memories of a kind that stands by itself have it."""


class StandingWord(enum.StrEnum):
    """Whose word a memory rests on; all but `nobody` are the user's own."""

    ASKED = "asked"
    """The user asked for it to be kept."""
    CONFIRMED = "confirmed"
    """The user said yes to it."""
    SAID = "said"
    """The user said it in a turn, in words that a rule reads without guessing."""
    REPEATED = "repeated"
    """The user said it in as many turns as make a record."""
    NOBODY = "nobody"
    """A program found it, once."""


class StandingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime asks when a session starts.

    Attributes:
        user: Whose.
        session: The session that will see the block; empty: none, and nothing is remembered as given.
        scope: Memories of this scope and of the global one; empty: the global ones alone.
        max_chars: Characters at most, separators included; None: as configured.
        is_again: Give it although the session has had it.
        deadline_s: When to give up, on the monotonic clock.
    """

    user: str
    session: str = ""
    scope: str = ""
    max_chars: int | None = None
    is_again: bool = False
    deadline_s: float


class StandingCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """A live memory that might stand, with what is known of it.

    Attributes:
        memory: The memory.
        tally: Outcomes reported for it, since it was restored if it was.
        turns: Observed turns in which the user said it.
        found_by: What found it in turns of the user, and in answers of theirs.
        is_promoted: Whether it became a record because turns enough said it.
        choice: What a person decided; None: nothing.
    """

    memory: Memory
    tally: OutcomeTally = OutcomeTally()
    turns: int = 0
    found_by: frozenset[Generator] = frozenset()
    is_promoted: bool = False
    choice: StandingChoice | None = None


class StandingCandidates(msgspec.Struct, frozen=True, kw_only=True):
    """The candidates of one scope, and how many more there are than were read."""

    candidates: tuple[StandingCandidate, ...] = ()
    unread: int = 0


class StandingRow(msgspec.Struct, frozen=True, kw_only=True):
    """How one candidate was judged; rows stand in rank order.

    Attributes:
        candidate: What was judged.
        usefulness: Expected share of turns in which showing it averts an error, less those in which it causes one.
        value: Words of error averted for each word it costs.
        words: Words that each turn carries while it is shown.
        verdict: What became of it.
    """

    candidate: StandingCandidate
    usefulness: float
    value: float
    words: int
    verdict: StandingVerdict


class StandingPointer(msgspec.Struct, frozen=True, kw_only=True):
    """What stays in the block of a demoted memory: enough to ask for it."""

    memory_id: str
    kind: MemoryKind
    cue: str


class StandingBlock(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a `StandingRequest`.

    Attributes:
        decision_id: Of its ledger row; also what outcomes are reported by.
        reason: Why it is as it is.
        memories: What to show, best first.
        pointers: Demoted memories that can be asked for.
        left_out: Standing memories that are neither shown nor pointed at.
        chars: Characters of memories and pointers, separators included.
        chars_max: What they were fitted into.
        tokens: An estimate for the same.
        rows: How every candidate was judged, in rank order.
    """

    decision_id: str
    reason: StandingReason
    memories: tuple[Memory, ...] = ()
    pointers: tuple[StandingPointer, ...] = ()
    left_out: int = 0
    chars: int = 0
    chars_max: int = 0
    tokens: int = 0
    rows: tuple[StandingRow, ...] = ()


class SetStanding(msgspec.Struct, frozen=True, kw_only=True):
    """Command: note what a person decided about a memory and the block. One transaction, with its ledger row.

    Attributes:
        user: Whose memory.
        memory_id: Which; it must be live.
        action: What to do.
        now_ms: Present time.
        decision: The ledger row; the store fills in its reason.
    """

    user: str
    memory_id: str
    action: StandingAction
    now_ms: int
    decision: DecisionRow


class StandingSet(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a `SetStanding`.

    Attributes:
        choice: What a person decided, as it holds now; None: nothing.
        is_standing: Whether the memory is a candidate for the block now: by its kind, or because it is pinned.
        is_changed: Whether that is news.
        decision_id: Of its ledger row.
    """

    choice: StandingChoice | None
    is_standing: bool
    is_changed: bool
    decision_id: str


class MemoryOutcomes(msgspec.Struct, frozen=True, kw_only=True):
    """What was reported on one memory or one decision.

    Attributes:
        tally: All of it, counted.
        newest: The newest reports, newest first.
        choice: Of a memory: what a person decided about it and the standing block.
    """

    tally: OutcomeTally
    newest: tuple[ReportedOutcome, ...] = ()
    choice: StandingChoice | None = None
