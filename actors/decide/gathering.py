"""What the daemon adds to a request before it is decided, by family: the store, a lent model, the project's files.

In the order of cost, and only what can still change the decision. Everything here may fail; a failure is a cause with a
direction, or leaves a claim unchecked, and never an error to the asker.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import anyio
import msgspec

from recalld.actors.decide.ticks import TickBook
from recalld.actors.ports import Clock, MemoryReader, RuntimeModel, WorldProbe
from recalld.actors.text_work import TextWork
from recalld.models.domain.decide import DecideRequest, ModelFailure, ModelReport
from recalld.models.domain.decision import DecideReason, Decision, GateDecision
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimeReply
from recalld.models.domain.standing import CANDIDATES_MAX as STANDING_MAX
from recalld.models.domain.store import ListFilter
from recalld.models.domain.time_window import TimeWindow
from recalld.models.domain.world import Finding
from recalld.models.policy.deadline import step_deadline_s
from recalld.models.policy.profiles.answers import BY_DEFAULT, BY_ERROR_PATH, undecided
from recalld.models.policy.profiles.deciding import decide
from recalld.models.policy.profiles.knowledge import Knowledge, SessionKnowledge
from recalld.models.policy.profiles.reading import message_of
from recalld.models.policy.profiles.spec import (
    ConsolidationProfile,
    IndexProfile,
    Profile,
    TimeChannelProfile,
    TuningProfile,
    TurnProfile,
    WorldCheckProfile,
)
from recalld.models.policy.profiles.tuning import ACTIVE
from recalld.models.policy.profiles.turn import turn_input
from recalld.models.policy.profiles.world_check import plan_probes
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.model_prompt import turn_gate_prompt
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn_gate import TurnGateSettings

PROBE_MS = 50.0
"""Milliseconds the store may take to say which terms it has, or what is from a time."""
WITHIN_LIMIT = 20
"""Records from a time that are counted; more make no difference to whether there are any."""
MODEL_GRACE = 0.1
"""A lent model's answer may be late by this share of its time."""

_FAILURES = {
    RuntimeFailureKind.NOT_CONNECTED: ModelFailure.ERROR,
    RuntimeFailureKind.DISCONNECTED: ModelFailure.ERROR,
    RuntimeFailureKind.REFUSED: ModelFailure.REFUSED,
    RuntimeFailureKind.BUSY: ModelFailure.NO_BUDGET,
    RuntimeFailureKind.TIMEOUT: ModelFailure.TIMEOUT,
    RuntimeFailureKind.TOO_LONG: ModelFailure.ERROR,
}


class Gathered(msgspec.Struct, frozen=True, kw_only=True):
    """A decision, and whether a model had a part in it."""

    decision: Decision
    was_model_asked: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Gatherer:
    """Decides with what can be found out. See `DecideDependencies` for the attributes."""

    clock: Clock
    reader: MemoryReader
    text_work: TextWork
    runtime_model: RuntimeModel
    probe: WorldProbe
    turn_settings: TurnGateSettings
    cursor_key: bytes
    ticks: TickBook

    async def decide(self, request: DecideRequest, profile: Profile, session: SessionKnowledge) -> Gathered:
        """Decide, after asking whoever can still change the decision."""
        knowledge = Knowledge(session=session, turn_settings=self.turn_settings, cursor_key=self.cursor_key)
        was_model_asked = request.model is not None
        match profile:
            case TurnProfile():
                return await self._decide_turn(request, profile, knowledge)
            case TimeChannelProfile():
                decision = await self._decide_time(request, profile, knowledge)
            case WorldCheckProfile():
                decision = await self._decide_world(request, profile, knowledge)
            case ConsolidationProfile():
                decision = await self._decide_tick(request, profile, knowledge)
            case IndexProfile():
                decision = await self._decide_index(request, profile, knowledge)
            case TuningProfile():
                decision = await self._decide_tuning(request, profile, knowledge)
            case _:
                decision = await self._pure(request, profile, knowledge)
        return Gathered(decision=decision, was_model_asked=was_model_asked)

    async def _pure(self, request: DecideRequest, profile: Profile, knowledge: Knowledge) -> Decision:
        return await self.text_work.run(partial(decide, request, profile, knowledge), chars=_chars(request))

    async def _decide_turn(self, request: DecideRequest, profile: TurnProfile, knowledge: Knowledge) -> Gathered:
        decision = await self._pure(request, profile, knowledge)
        if _is_open(decision) and request.model is None and decision.evidence.terms:
            probe = await self._posted(request, decision.evidence.terms)
            knowledge = msgspec.structs.replace(knowledge, probe=probe)
            decision = await self._pure(request, profile, knowledge)
        if _is_open(decision) and request.model is None and profile.is_model_asked:
            report = await self._ask_model(request, profile, knowledge)
            if report is not None:
                request = msgspec.structs.replace(request, model=report)
                decision = await self._pure(request, profile, knowledge)
        return Gathered(decision=decision, was_model_asked=request.model is not None)

    async def _posted(self, request: DecideRequest, terms: tuple[str, ...]) -> ProbeResult | GateCause:
        try:
            with anyio.move_on_after(self._store_s(request)):
                posted = await self.reader.posted(request.user, terms)
                return ProbeResult(terms=tuple(TermPostings(term=term, postings=1) for term in terms if term in posted))
        except RecalldError:
            return GateCause.ERROR
        return GateCause.TIMEOUT

    async def _ask_model(
        self, request: DecideRequest, profile: TurnProfile, knowledge: Knowledge
    ) -> ModelReport | None:
        """What a lent model answered; None when nobody lends one, or there is no time to ask."""
        if not self.runtime_model.is_connected(request.user):
            return None
        now_s = self.clock.monotonic_s()
        allowed_s = min(profile.model_ms / 1000, (request.deadline_s - now_s) / (1 + MODEL_GRACE))
        if allowed_s <= 0:
            return ModelReport(failure=ModelFailure.NO_BUDGET)
        prompt = turn_gate_prompt(message_of(request), turn_input(request, knowledge).recent)
        reply: RuntimeReply | RuntimeFailure | None = None
        with anyio.move_on_after(allowed_s * (1 + MODEL_GRACE)):
            reply = await self.runtime_model.ask(request.user, prompt, deadline_s=now_s + allowed_s)
        match reply:
            case None:
                return ModelReport(failure=ModelFailure.TIMEOUT)
            case RuntimeFailure():
                return ModelReport(failure=_FAILURES[reply.kind])
            case RuntimeReply():
                return ModelReport(text=reply.text, was_truncated=reply.was_truncated)

    async def _decide_time(self, request: DecideRequest, profile: TimeChannelProfile, knowledge: Knowledge) -> Decision:
        decision = await self._pure(request, profile, knowledge)
        if request.candidates or decision.reason_code is not DecideReason.TIME_EXPRESSION:
            return decision
        windows = [TimeWindow(start_ms=each.start_ms, end_ms=each.end_ms) for each in decision.params.intervals]
        scope = request.scope.project or None
        try:
            with anyio.move_on_after(self._store_s(request)):
                found = await self.reader.within(
                    request.user, windows, now_ms=self.clock.now_ms(), limit=WITHIN_LIMIT, scope=scope
                )
                counted = msgspec.structs.replace(knowledge, in_interval=len(found))
                return await self._pure(request, profile, counted)
        except RecalldError:
            pass  # the channel opens: searching it will say what is wrong
        return msgspec.structs.replace(decision, is_degraded=True)

    async def _decide_tick(
        self, request: DecideRequest, profile: ConsolidationProfile, knowledge: Knowledge
    ) -> Decision:
        latest = self.ticks.latest(request.user, profile.name)
        decision = await self._pure(request, profile, msgspec.structs.replace(knowledge, tick=latest))
        if decision.reason_code is DecideReason.TICK_ENDED:
            self.ticks.end(request.user, profile.name)
        elif decision.reason_code is DecideReason.CLUSTERS_DUE:
            if self.ticks.latest(request.user, profile.name) is not latest:
                return await self._decide_tick(request, profile, knowledge)  # another one started meanwhile: busy
            now_ms = self.clock.now_ms() if request.now_ms is None else request.now_ms
            self.ticks.start(request.user, profile.name, now_ms=now_ms, lease_ms=profile.lease_ms)
        return decision

    async def _decide_index(self, request: DecideRequest, profile: IndexProfile, knowledge: Knowledge) -> Decision:
        try:
            with anyio.move_on_after(self._store_s(request)):
                standing = await self.reader.standing_candidates(
                    request.user, request.scope.project, now_ms=self.clock.now_ms(), limit=STANDING_MAX
                )
                return await self._pure(request, profile, msgspec.structs.replace(knowledge, standing=standing))
        except RecalldError:
            return undecided(profile, GateCause.ERROR)
        return undecided(profile, GateCause.TIMEOUT)

    async def _decide_tuning(self, request: DecideRequest, profile: TuningProfile, knowledge: Knowledge) -> Decision:
        if ACTIVE not in request.counters:
            try:
                with anyio.move_on_after(self._store_s(request)):
                    page = await self.reader.list_memories(
                        request.user, ListFilter(), now_ms=self.clock.now_ms(), limit=1, cursor=None
                    )
                    knowledge = msgspec.structs.replace(knowledge, active_memories=page.total)
            except RecalldError:
                return undecided(profile, GateCause.ERROR)
        return await self._pure(request, profile, knowledge)

    async def _decide_world(self, request: DecideRequest, profile: WorldCheckProfile, knowledge: Knowledge) -> Decision:
        # The deadline is armed before claims are looked for: collecting is part of what it is there for.
        deadline_s = step_deadline_s(
            now_s=self.clock.monotonic_s(), ceiling_s=profile.time_ms / 1000, envelope_deadline_s=request.deadline_s
        )
        root = request.scope.project_root
        if request.may_probe_files and root:
            plan = await self.text_work.run(partial(plan_probes, request, profile), chars=_chars(request))
            findings: list[Finding] = []
            for claim in plan.local:
                left_s = deadline_s - self.clock.monotonic_s()
                if left_s <= 0:
                    break
                with anyio.move_on_after(left_s):
                    findings.append(Finding(claim_id=claim.id, state=await self.probe.look(root, claim)))
            knowledge = msgspec.structs.replace(knowledge, findings=tuple(findings))
        return await self._pure(request, profile, knowledge)

    def _store_s(self, request: DecideRequest) -> float:
        return max(0.0, min(PROBE_MS / 1000, request.deadline_s - self.clock.monotonic_s()))


def _is_open(decision: Decision) -> bool:
    """Whether no rule has decided."""
    return decision.decided_by in {BY_DEFAULT, BY_ERROR_PATH} and decision.decision is not GateDecision.REFUSE


def _chars(request: DecideRequest) -> int:
    parts = sum(len(part.text) for part in request.parts)
    candidates = sum(len(each.text) + len(each.description) + len(each.title) for each in request.candidates)
    return parts + candidates + sum(map(len, request.recent or ()))
