"""What the daemon itself knows when it decides: its store, the session, the project's files."""

from __future__ import annotations

import msgspec

from recalld.models.domain.standing import StandingCandidates
from recalld.models.domain.world import Finding
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.probe import ProbeResult
from recalld.models.policy.turn_gate import TurnGateSettings


class SessionKnowledge(msgspec.Struct, frozen=True, kw_only=True):
    """What was shown to and waved away by a session's user. Content digests, so that a copy counts as the same.

    Attributes:
        shown: Digests of what was shown.
        declined: Digests of what the user waved away.
    """

    shown: frozenset[str] = frozenset()
    declined: frozenset[str] = frozenset()


class TickState(msgspec.Struct, frozen=True, kw_only=True):
    """The latest tick of one user and gate.

    Attributes:
        started_ms: When it started, Unix epoch milliseconds.
        lease_until_ms: Until when it holds others up; None: it has ended.
    """

    started_ms: int
    lease_until_ms: int | None


class Knowledge(msgspec.Struct, frozen=True, kw_only=True):
    """All of it; whatever is not known is left at its default.

    Attributes:
        probe: What the store said about the message's terms, or why it could not say; None: it was not asked.
        in_interval: Records from the time the message speaks of; None: nobody counted.
        session: What the session has seen.
        findings: What a look at the project's files said; None: nobody looked.
        turn_settings: The configured turn gate; None: there is none.
        tick: The latest tick of this user and gate; None: none is known.
        standing: What might stand in permanent context; None: nobody looked.
        active_memories: Live memories of the user; None: nobody counted.
        cursor_key: Key of the cursors' authentication, 16 to 64 bytes.
    """

    probe: ProbeResult | GateCause | None = None
    in_interval: int | None = None
    session: SessionKnowledge = SessionKnowledge()
    findings: tuple[Finding, ...] | None = None
    turn_settings: TurnGateSettings | None = None
    tick: TickState | None = None
    standing: StandingCandidates | None = None
    active_memories: int | None = None
    cursor_key: bytes
