"""Carries out requests of `decide`: adds what the daemon knows, decides once, counts, and leaves a row behind.

No actor of its own: nothing here waits for anybody else's request, and what is remembered between requests (decisions
of turns that are still going on, ticks, what sessions were shown, failures in a row) is bounded and may be lost.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import anyio
import msgspec

from recalld.actors.decide.gathering import Gathered, Gatherer
from recalld.actors.decide.health import GateHealth
from recalld.actors.decide.memo import DecisionMemo
from recalld.actors.decide.report import decide_row
from recalld.actors.decide.sessions import SessionMemory
from recalld.actors.decide.ticks import TickBook
from recalld.actors.events import EventBus, EventLevel
from recalld.actors.ports import Clock, IdSource, MemoryReader, RuntimeModel, WorldProbe
from recalld.actors.text_work import TextWork
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.decide import DecideRequest
from recalld.models.domain.decision import CandidateReason, Decision
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.store import DecisionRow
from recalld.models.policy.profiles.answers import undecided
from recalld.models.policy.profiles.registry import profile_for
from recalld.models.policy.profiles.spec import Profile
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn_gate import TurnGateSettings

GRACE = 0.05
"""A decision may be late by this share of its time, and whoever waits for somebody else's by twice as much."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DecideDependencies:
    """What the decider stands on.

    Attributes:
        clock: Time.
        ids: For decisions.
        reader: The store, for terms and times.
        text_work: Where long texts are read.
        runtime_model: Whoever lends a model.
        probe: Looks at a project's files.
        events: Where failing gates are announced.
        ledger: Takes the row of each decision; never waits.
        counters: Where decisions and dropped candidates are counted, by gate and reason.
        turn_settings: The configured turn gate.
        cursor_key: Key of the cursors' authentication.
        cooldown_s: Seconds between two notices of one user and gate.
    """

    clock: Clock
    ids: IdSource
    reader: MemoryReader
    text_work: TextWork
    runtime_model: RuntimeModel
    probe: WorldProbe
    events: EventBus
    ledger: Callable[[DecisionRow], None]
    counters: collections.Counter[str]
    turn_settings: TurnGateSettings
    cursor_key: bytes
    cooldown_s: float


class Decider:
    """Decides for all users."""

    def __init__(self, deps: DecideDependencies) -> None:
        self._deps = deps
        self._memo = DecisionMemo()
        self._sessions = SessionMemory()
        self._health = GateHealth(cooldown_s=deps.cooldown_s)
        self._gatherer = Gatherer(
            clock=deps.clock,
            reader=deps.reader,
            text_work=deps.text_work,
            runtime_model=deps.runtime_model,
            probe=deps.probe,
            turn_settings=deps.turn_settings,
            cursor_key=deps.cursor_key,
            ticks=TickBook(),
        )

    async def decide(self, request: DecideRequest) -> Decision:
        """Decide, or say again what was decided in the same turn.

        What is not decided when the time is up goes the profile's way for that, however long it would still take.

        Raises:
            RecalldError: `bad_request` for a profile that there is not, or that guards another operation.
        """
        profile = profile_for(request.op, request.profile)
        started_s = self._deps.clock.monotonic_s()
        with anyio.move_on_after(self._left_s(request, grace=2 * GRACE)):
            return await self._memo.once(request, partial(self._decide, request, profile))
        return self._recorded(request, profile, _timed_out(profile), started_s=started_s)

    def session_changed(self, user: str, session: str, event: SessionEvent) -> None:
        """A session began, ended or lost its context."""
        self._sessions.changed(user, session, event)

    async def _decide(self, request: DecideRequest, profile: Profile) -> Decision:
        started_s = self._deps.clock.monotonic_s()
        session = self._sessions.knowledge(request.user, request.session)
        outcome = _timed_out(profile)
        with anyio.move_on_after(self._left_s(request, grace=GRACE)):
            outcome = await self._gatherer.decide(request, profile, session)
        return self._recorded(request, profile, outcome, started_s=started_s)

    def _left_s(self, request: DecideRequest, *, grace: float) -> float:
        return max(0.0, request.deadline_s - self._deps.clock.monotonic_s()) * (1 + grace)

    def _recorded(self, request: DecideRequest, profile: Profile, outcome: Gathered, *, started_s: float) -> Decision:
        decision = msgspec.structs.replace(
            outcome.decision,
            decision_id=self._deps.ids.new_id("dec"),
            cost_ms=round((self._deps.clock.monotonic_s() - started_s) * 1000, 3),
            notice=self._notice(request, profile, outcome.decision, was_model_asked=outcome.was_model_asked),
        )
        self._sessions.note(request, decision)
        self._count(decision)
        self._deps.ledger(decide_row(request, decision, at_ms=self._deps.clock.now_ms()))
        return decision

    def _count(self, decision: Decision) -> None:
        counters = self._deps.counters
        counters[f"decide_{decision.profile}_{decision.decision}_{decision.reason_code}"] += 1
        for candidate in decision.evidence.candidates:
            if candidate.reason is not CandidateReason.PASSED:
                counters[f"decide_{decision.profile}_dropped_{candidate.reason}"] += 1

    def _notice(self, request: DecideRequest, profile: Profile, decision: Decision, *, was_model_asked: bool) -> str:
        if profile.notice is None:
            return ""
        raised = self._health.note(
            request.user,
            decision,
            profile.notice,
            was_model_asked=was_model_asked,
            now_s=self._deps.clock.monotonic_s(),
        )
        if raised is None:
            return ""
        self._deps.events.publish(
            Event(
                name=EventName.DECIDE_GATE_FAILING,
                at_ms=self._deps.clock.now_ms(),
                user=request.user,
                fields={
                    "profile": profile.name,
                    "reason": decision.reason_code,
                    "failures": raised.failures,
                    "consequence": profile.notice.consequence,
                    "setting": profile.notice.setting,
                    "suppressed_count": raised.suppressed_count,
                },
            ),
            EventLevel.WARNING,
        )
        return raised.text


def _timed_out(profile: Profile) -> Gathered:
    return Gathered(decision=undecided(profile, GateCause.TIMEOUT), was_model_asked=False)
