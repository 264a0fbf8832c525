"""What the daemon says of its own state."""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from recalld.models.domain.audit_samples import AuditReport
from recalld.models.domain.drift import DriftReport
from recalld.models.domain.ledger_report import LedgerReport
from recalld.models.domain.store import StoreHealth


class ModelState(enum.StrEnum):
    """Where a model-backed actor stands."""

    READY = "ready"
    LOADING = "loading"
    UNAVAILABLE = "unavailable"
    DISABLED = "disabled"


class BreakerState(enum.StrEnum):
    """The circuit breaker in front of the scorer."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class ModelHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One model-backed actor. Times in milliseconds."""

    state: ModelState
    model_id: str = ""
    detail: str = ""
    queue_depth: int = 0
    restarts: int = 0
    jobs: int = 0
    failures: int = 0


class GateProbe(msgspec.Struct, frozen=True, kw_only=True):
    """A real pair scored through the live scorer: one that must be relevant, one that must not."""

    is_ok: bool
    relevant: float | None = None
    irrelevant: float | None = None
    elapsed_ms: float = 0.0
    detail: str = ""


class HealthReport(msgspec.Struct, frozen=True, kw_only=True):
    """The live state behind `recalld status` and `recalld doctor`."""

    version: str
    pid: int
    uptime_s: float
    is_draining: bool
    store: StoreHealth
    scorer: ModelHealth
    embedder: ModelHealth
    breaker: BreakerState
    gate_mode: str
    """`on`, `off` (by configuration)."""
    calibration_id: str
    calibration_matches: bool
    calibration_detail: str
    probe: GateProbe | None
    window_s: float
    window_recalls: int
    window_degraded: dict[str, int]
    """Degraded recalls in the window, by reason."""
    actors_active: int
    """Users whose actors are ready."""
    actor_restarts: int
    queue_depth: int
    ledger_rows_dropped: int
    rss_bytes: int
    open_fds: int


class StatsQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which figures are wanted.

    Attributes:
        user: Of this user only; None: of all. What was counted since start is always the whole daemon's.
        days: Over the last so many days; None: only since start.
        is_ever: Over everything that was ever counted, in place of days.
    """

    user: str | None = None
    days: int | None = None
    is_ever: bool = False

    @property
    def has_window(self) -> bool:
        """Whether anything is wanted beside what was counted since start."""
        return self.is_ever or self.days is not None


SINCE_START: Final = StatsQuery()
"""Nothing but what was counted since start."""


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Counters since start, and latency percentiles over the last recalls (milliseconds); sections where asked for."""

    uptime_s: float
    counters: dict[str, int]
    latencies_ms: dict[str, float]
    """`gate_p50`, `gate_p95`, `total_p50`, `total_p95`, …"""
    audit: AuditReport | None = None
    """What audits say of the gates, over the window that was asked for."""
    drift: tuple[DriftReport, ...] | None = None
    """Of the user that was asked for, or of those who decided last."""
    ledger: LedgerReport | None = None
    """Over the window that was asked for."""
