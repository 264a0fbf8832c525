"""What the gateway counts: peers' faults and its own refusals, never hidden and never fatal to others."""

from __future__ import annotations

import collections
import enum


class GatewayCount(enum.StrEnum):
    """Names of the gateway's counters."""

    CONNECTIONS_ACCEPTED = "connections_accepted"
    CONNECTIONS_REFUSED = "connections_refused"
    """For want of descriptors or room."""
    CONNECTIONS_FORBIDDEN = "connections_forbidden"
    CONNECTIONS_FAILED = "connections_failed"
    """Ended by a fault of the gateway's own; the traceback is in the log."""
    CONNECTIONS_IDLE = "connections_idle"
    CONNECTIONS_STALLED = "connections_stalled"
    """Closed because the peer stopped reading."""
    ACCEPT_ERRORS = "accept_errors"
    REQUESTS = "requests"
    REQUESTS_BUSY = "requests_busy"
    REQUESTS_FORBIDDEN = "requests_forbidden"
    REQUESTS_FAILED = "requests_failed"
    """Answered `internal`; the traceback is in the log."""
    REQUESTS_TIMED_OUT = "requests_timed_out"
    EXTRACT_REQUESTS = "extract_requests"
    """Questions sent to runtimes that lend their model."""
    EXTRACT_REQUESTS_FAILED = "extract_requests_failed"
    """Questions without an answer that can be read: no time, no room, refused, too long, or the runtime went away."""
    EXTRACT_RESULTS_IGNORED = "extract_results_ignored"
    """Answers that came too late, or to a question that nobody asked."""
    PEER_FAULTS = "peer_faults"
    """Frames or messages that could not be read, frames cut short, and handshakes gone wrong."""
    PEERS_LOST = "peers_lost"
    """Connections that broke while replies were still to be sent."""


class GatewayCounters:
    """Counts since start."""

    def __init__(self) -> None:
        self._counts: collections.Counter[GatewayCount] = collections.Counter()

    def add(self, name: GatewayCount, by: int = 1) -> None:
        """Count something."""
        self._counts[name] += by

    def __getitem__(self, name: GatewayCount) -> int:
        return self._counts[name]

    def snapshot(self) -> dict[str, int]:
        """Every counter by name, zeros included."""
        return {name.value: self._counts[name] for name in GatewayCount}
