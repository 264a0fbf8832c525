"""Parts of a `stats_report`: whether the gates still decide as they did."""

from __future__ import annotations

import msgspec


class DriftShift(msgspec.Struct, frozen=True, kw_only=True):
    """One distribution of a gate's newest decisions beside that of a reference."""

    what: str
    """`reasons` or `scores`."""
    statistic: str
    """`psi` (population stability index) or `ks` (two-sample Kolmogorov-Smirnov)."""
    reference: str
    """`earlier`: the same user's decisions before. `calibration`: the data of one's own calibration.
    `shipped_calibration`: somebody else's data, which raises no alarm."""
    value: float
    limit: float
    """From where it is an alarm: beyond what samples of these sizes differ by chance."""
    band: str
    """`none`, `moderate` or `large`."""
    n: int
    """Newest decisions."""
    reference_n: int


class DriftAlarmItem(msgspec.Struct, frozen=True, kw_only=True):
    """Something that may be wrong with a gate."""

    name: str
    """See the vocabulary."""
    seen: str
    """The figures, for a person."""
    remedy: str


class GateDriftItem(msgspec.Struct, frozen=True, kw_only=True):
    """One gate's newest decisions, and how they differ from those before."""

    gate: str
    """`turn` lets a recall search, `relevance` a memory in, `write` something of a turn."""
    n: int
    """Newest decisions that were looked at."""
    fired: int
    """Of these, those that let something through."""
    earlier_n: int
    earlier_fired: int
    too_few: str = ""
    """Why less is said; empty: all was looked at."""
    shifts: tuple[DriftShift, ...] = ()
    alarms: tuple[DriftAlarmItem, ...] = ()


class ShadowCountItem(msgspec.Struct, frozen=True, kw_only=True):
    """What shadow mode would have done, and did, over the decisions that were looked at."""

    gate: str
    """`relevance`: recalls and memories; `write`: turns and facts."""
    mode: str
    decisions: int
    """Made in this mode."""
    differing: int
    """Of these, those in which something else was done than decided."""
    decided: int
    """Memories that the gates would have handed over, or facts that would have been stored or asked."""
    served: int
    """Those that were."""


class UserDrift(msgspec.Struct, frozen=True, kw_only=True):
    """All gates of one user."""

    user: str
    gates: tuple[GateDriftItem, ...]
    shadow: tuple[ShadowCountItem, ...] = ()


class DriftSection(msgspec.Struct, frozen=True, kw_only=True):
    """Drift of the user that was asked about, or of those who decided last."""

    users: tuple[UserDrift, ...] = ()
