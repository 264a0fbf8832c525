"""Whether the gates still decide as they did: what is looked at, what is measured, and what is wrong."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.reasons import Op


class GateName(enum.StrEnum):
    """The gates that are watched. Each lets something through, or does not: it fires, or stays silent."""

    TURN = "turn"
    """Lets a recall search."""
    RELEVANCE = "relevance"
    """Lets a memory into the prompt; only recalls in which it judged a candidate count."""
    WRITE = "write"
    """Lets something of a turn be kept, observed or asked."""


class AlarmName(enum.StrEnum):
    """What may be wrong with a gate."""

    CALIBRATION_MISMATCH = "calibration_mismatch"
    """Model, tokenizer, pair template or embedder is another than the calibration was made for."""
    NEVER_FIRES = "never_fires"
    ALWAYS_FIRES = "always_fires"
    NO_USER_TEXT = "no_user_text"
    """At least half of the turns have no word of the user."""
    RATE_JUMP = "rate_jump"
    """It fires on another share of the turns than before."""
    REASON_SHIFT = "reason_shift"
    """It decides for other reasons than before."""
    SCORE_SHIFT = "score_shift"
    """The scores are distributed otherwise than before, or than on the data of one's own calibration."""


class Reference(enum.StrEnum):
    """What the newest decisions are compared with."""

    EARLIER = "earlier"
    """The same user's decisions before them."""
    CALIBRATION = "calibration"
    """The data of one's own calibration."""
    SHIPPED_CALIBRATION = "shipped_calibration"
    """The data of the shipped calibration, which is somebody else's: measured, and no alarm."""


class Statistic(enum.StrEnum):
    """How two distributions are compared."""

    PSI = "psi"
    """Population stability index."""
    KS = "ks"
    """Two-sample Kolmogorov-Smirnov statistic."""


class Band(enum.StrEnum):
    """How large a shift is."""

    NONE = "none"
    MODERATE = "moderate"
    LARGE = "large"


class DecisionSample(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at of one ledger row.

    Attributes:
        op: `recall` or `observe`.
        at_ms: Unix epoch milliseconds.
        decision: As in the row.
        reason: As in the row.
        rule: The rule of the turn gate that decided; empty: not told.
        is_search: An explicit search, which no gate keeps from anything.
        relevance: The highest relevance that the relevance gate gave; None: it judged nothing.
        calibration_id: Which calibration it judged by.
        shadow_mode: In shadow mode, which; else empty.
        decided: Memories that the gates would have injected, or facts that would have been stored or asked.
        served: Memories that were injected, or facts that were.
        is_differing: In shadow mode, whether something else was done than decided.
    """

    op: Op
    at_ms: int
    decision: str
    reason: str
    rule: str = ""
    is_search: bool = False
    relevance: float | None = None
    calibration_id: str = ""
    shadow_mode: str = ""
    decided: int = 0
    served: int = 0
    is_differing: bool = False


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """One distribution of the newest decisions beside that of a reference.

    Attributes:
        what: `reasons` or `scores`.
        statistic: How they were compared.
        reference: What with.
        value: Of the statistic.
        limit: From where it is an alarm: beyond what samples of these sizes differ by chance.
        band: How large the shift is.
        n: Newest decisions.
        reference_n: Decisions of the reference.
    """

    what: str
    statistic: Statistic
    reference: Reference
    value: float
    limit: float
    band: Band
    n: int
    reference_n: int


class DriftAlarm(msgspec.Struct, frozen=True, kw_only=True):
    """Something that may be wrong with a gate.

    Attributes:
        name: What.
        seen: The figures, as a sentence without a full stop.
        remedy: What to do about it.
    """

    name: AlarmName
    seen: str
    remedy: str


class GateDrift(msgspec.Struct, frozen=True, kw_only=True):
    """One gate's newest decisions, and how they differ from those before.

    Attributes:
        gate: Which.
        n: Newest decisions looked at.
        fired: Of these, those that let something through.
        earlier_n: Decisions before them.
        earlier_fired: Of those before.
        too_few: Why nothing, or less, is said, such as `too few decisions: 37 of 200`; empty: all was looked at.
        shifts: What was measured.
        alarms: What may be wrong.
    """

    gate: GateName
    n: int = 0
    fired: int = 0
    earlier_n: int = 0
    earlier_fired: int = 0
    too_few: str = ""
    shifts: tuple[Shift, ...] = ()
    alarms: tuple[DriftAlarm, ...] = ()


class ShadowCount(msgspec.Struct, frozen=True, kw_only=True):
    """What shadow mode would have done, and did.

    Attributes:
        gate: `relevance`: recalls, and memories; `write`: turns, and facts.
        mode: The shadow mode.
        decisions: Made in it.
        differing: Of these, those in which something else was done than decided.
        decided: Memories or facts that would have come through.
        served: Those that did.
    """

    gate: GateName
    mode: str
    decisions: int
    differing: int
    decided: int
    served: int


class DriftReport(msgspec.Struct, frozen=True, kw_only=True):
    """All gates of one user.

    Attributes:
        user: Whose decisions.
        gates: One for each gate.
        shadow: Of the decisions looked at, those made in shadow mode.
    """

    user: str
    gates: tuple[GateDrift, ...]
    shadow: tuple[ShadowCount, ...] = ()
