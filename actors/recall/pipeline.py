"""One recall from request to outcome, in six steps. Reads top to bottom; each decision is one call into the policy."""

from __future__ import annotations

import math

import anyio
import msgspec

from recalld.actors.events import EventLevel
from recalld.actors.recall.candidates import CandidateFinder, Found
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.floor_step import FloorStep
from recalld.actors.recall.gate import GateRun, RelevanceGate
from recalld.actors.recall.mentions import with_mentions
from recalld.actors.recall.outcome import OutcomeLimits, Passed, outcome_of
from recalld.actors.recall.relations import RelationStep
from recalld.actors.recall.report import final_event, ledger_row
from recalld.actors.recall.shadow import ShadowStep
from recalld.actors.recall.state import RecallState, Spawn
from recalld.actors.recall.turn_step import TurnRead, TurnStep
from recalld.actors.supervisor import GateTrouble, RecallFinished
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import (
    Coverage,
    DroppedItem,
    GateReport,
    RecallOutcome,
    RecallQuery,
    RecallTimings,
    ShadowServing,
)
from recalld.models.policy.deadline import reply_reserve_s
from recalld.models.policy.degraded_list import LAG_MAX
from recalld.models.policy.exclusions import ExclusionRules, apply_exclusions, exclusion_rules
from recalld.models.policy.query_reading import QueryReading
from recalld.models.policy.silence import why_empty
from recalld.models.policy.time_only import split_by_time

_BROKEN = frozenset({RecallReason.STORE_UNREADABLE, RecallReason.ENVELOPE_EXCEEDED})
"""Why a recall never came to candidates although the turn gate had let it."""


class RecallPipeline:
    """Answers the recalls of one user."""

    def __init__(self, user: str, state: RecallState, deps: RecallDependencies) -> None:
        self._user = user
        self._state = state
        self._deps = deps
        self._finder = CandidateFinder(user, state, deps)
        self._gate = RelevanceGate(user, deps, is_english_of=state.languages.is_english, passages=state.passages)
        self._relations = RelationStep(user, deps.reader, deps.clock)
        self._turn = TurnStep(user, state.turns, deps)
        self._shadow = ShadowStep(state, deps, self._finder)

    async def run(self, query: RecallQuery, *, spawn: Spawn) -> RecallOutcome:
        """Answer before `query.deadline_s`; whatever fails on the way is part of the outcome.

        Args:
            query: The request.
            spawn: Starts what must go on when this recall's time has run out.
        """
        deps = self._deps
        started_s = deps.clock.monotonic_s()
        now_ms = deps.clock.now_ms()
        recall_id = deps.ids.new_id("rec")
        left_s = query.deadline_s - started_s
        turn: TurnRead | None = None
        turn_ms = 0.0
        found: Found | None = None
        passed: Passed | None = None
        try:
            with anyio.move_on_after(left_s - reply_reserve_s(left_s, reserve_s=deps.limits.reserve_ms / 1000.0)):
                turn = await self._turn.read(query, now_ms=now_ms)
                turn_ms = (deps.clock.monotonic_s() - started_s) * 1000.0
                if turn.reading.skip is None:
                    found = await self._finder.find(query, turn.reading, now_ms=now_ms, spawn=spawn)
                    found = await self._with_mentions(found, turn.reading)
                    passed = await self._floor_and_exclusions(found, query, turn.reading, now_ms)
        except RecalldError:
            return self._without_search(recall_id, RecallReason.STORE_UNREADABLE, started_s, query, turn, turn_ms)
        if turn is not None and turn.reading.skip is not None:
            shadow = await self._served_instead(query, turn, None, now_ms, spawn)
            return self._without_search(recall_id, turn.reading.skip, started_s, query, turn, turn_ms, shadow)
        if turn is None or found is None or passed is None:
            return self._without_search(recall_id, RecallReason.ENVELOPE_EXCEEDED, started_s, query, turn, turn_ms)
        limits = self._limits(query)
        run = await self._judge(passed, turn.reading, query, limits)
        outcome = await self._relations.extend(
            outcome_of(recall_id, found, passed, run, limits),
            query,
            self._rules(query, turn.reading, now_ms),
            max_items=limits.max_items,
            max_chars=limits.max_chars,
        )
        outcome = msgspec.structs.replace(
            outcome,
            timings=self._timings(started_s, query, found, run, turn_ms),
            turn=turn.report,
            shadow=await self._served_instead(query, turn, found, now_ms, spawn),
        )
        self._report(query, outcome, run, found)
        return outcome

    async def _served_instead(
        self, query: RecallQuery, turn: TurnRead, found: Found | None, now_ms: int, spawn: Spawn
    ) -> ShadowServing | None:
        """In shadow mode, what is handed over whatever the gates decided."""
        return await self._shadow.serve(
            query,
            self._limits(query),
            found=found,
            reading=turn.reading,
            floor=lambda nominated, reading, visible: self._floor_and_exclusions(
                nominated, query, reading, now_ms, visible=visible
            ),
            now_ms=now_ms,
            spawn=spawn,
        )

    async def _with_mentions(self, found: Found, reading: QueryReading) -> Found:
        """What was nominated, with how far the turn names each candidate's subject."""
        candidates = await with_mentions(
            found.candidates, reading.text, memo=self._state.subjects, text_work=self._deps.text_work
        )
        return msgspec.structs.replace(found, candidates=candidates)

    def _limits(self, query: RecallQuery) -> OutcomeLimits:
        limits = self._deps.limits
        return OutcomeLimits(
            max_items=limits.max_items if query.max_items is None else query.max_items,
            max_chars=limits.max_chars if query.max_chars is None else query.max_chars,
            degraded_max_items=limits.degraded_max_items,
            floors=self._deps.calibration.floors,
            lag_max=math.inf if query.is_search else LAG_MAX,
        )

    async def _judge(self, passed: Passed, reading: QueryReading, query: RecallQuery, limits: OutcomeLimits) -> GateRun:
        """Step 5, as far as there is anything to judge and any place left for it."""
        left = limits.max_items - len(passed.timed)
        if passed.candidates and left > 0:
            return await self._gate.run(
                reading,
                passed.candidates,
                ranked=passed.ranked,
                envelope_deadline_s=query.deadline_s,
                max_items=left,
                is_search=query.is_search,
            )
        return GateRun(
            report=GateReport(threshold=self._deps.calibration.model.threshold),
            dropped=tuple(
                DroppedItem(memory_id=each.memory.id, reason=DropReason.OVER_MAX_ITEMS, evidence=each.evidence)
                for each in passed.candidates
            ),
        )

    async def _floor_and_exclusions(
        self,
        found: Found,
        query: RecallQuery,
        reading: QueryReading,
        now_ms: int,
        *,
        visible: frozenset[str] | None = None,
    ) -> Passed:
        """Steps 3 and 4; `visible` is what the session has in view, by default what the gates would have shown."""
        by_time = split_by_time(found.candidates, reading.times)
        floor = FloorStep(
            self._deps.calibration.floors,
            reading,
            stems_of=self._state.stems_of,
            has_vectors=found.trouble is None,
            is_english_of=self._state.languages.is_english,
        )
        await self._state.learn_stems(floor.compared_by_words(by_time.others), self._deps.text_work)
        above, below = floor.split(by_time.others)
        rules = self._rules(query, reading, now_ms)
        rules = rules if visible is None else msgspec.structs.replace(rules, visible=visible)
        # Memories as long as a long turn are folded, each of them, to see whether they say the same.
        timed, kept = await self._deps.text_work.run(
            lambda: (apply_exclusions(by_time.passed, rules), apply_exclusions(above, rules)), chars=len(rules.own_text)
        )
        return Passed(
            timed=timed.kept,
            candidates=kept.kept,
            ranked=(*by_time.passed, *above),
            dropped=(
                *timed.dropped,
                *kept.dropped,
                *(
                    DroppedItem(memory_id=each.memory.id, reason=DropReason.BELOW_FLOOR, evidence=each.evidence)
                    for each in below
                ),
                *(
                    DroppedItem(memory_id=each.memory_id, reason=DropReason.BELOW_FLOOR, evidence=each.evidence)
                    for each in found.unread
                    if each.is_below_floor
                ),
            ),
            below_floor=len(below) + sum(each.is_below_floor for each in found.unread),
            unread=tuple(each for each in found.unread if not each.is_below_floor),
        )

    def _rules(self, query: RecallQuery, reading: QueryReading, now_ms: int) -> ExclusionRules:
        """What this recall leaves out. Who searches on purpose wants to find it, also what is in view already."""
        visible = frozenset[str]() if query.is_search else self._state.visible.visible(query.session, query.turn_id)
        return exclusion_rules(query, visible=visible, now_ms=now_ms, own_text=reading.own_text)

    def _timings(
        self, started_s: float, query: RecallQuery, found: Found, run: GateRun, turn_ms: float
    ) -> RecallTimings:
        now_s = self._deps.clock.monotonic_s()
        return RecallTimings(
            total_ms=(now_s - started_s) * 1000.0,
            turn_ms=turn_ms,
            embed_ms=found.embed_ms,
            search_ms=found.search_ms,
            gate_ms=run.elapsed_ms,
            queue_ms=run.queue_ms,
            deadline_left_ms=(query.deadline_s - now_s) * 1000.0,
        )

    def _without_search(
        self,
        recall_id: str,
        reason: RecallReason,
        started_s: float,
        query: RecallQuery,
        turn: TurnRead | None,
        turn_ms: float,
        shadow: ShadowServing | None = None,
    ) -> RecallOutcome:
        """The outcome of a recall that never came to candidates: skipped by the turn gate, or broken."""
        now_s = self._deps.clock.monotonic_s()
        trouble = GateTrouble(reason=why_empty(reason)) if reason in _BROKEN else None
        outcome = RecallOutcome(
            recall_id=recall_id,
            decision=RecallDecision.SKIP if trouble is None else RecallDecision.ERROR,
            mode=RecallMode.GATED if trouble is None else RecallMode.EMPTY,
            reason=reason,
            degraded_reason=None if trouble is None else trouble.reason,
            coverage=Coverage(discovered=0, searched=0),
            gate=GateReport(),
            timings=RecallTimings(
                total_ms=(now_s - started_s) * 1000.0,
                turn_ms=turn_ms,
                deadline_left_ms=(query.deadline_s - now_s) * 1000.0,
            ),
            turn=None if turn is None else turn.report,
            shadow=shadow,
        )
        # An unreadable store says nothing about the gate.
        of_the_gate = trouble if reason is RecallReason.ENVELOPE_EXCEEDED else None
        self._report(query, outcome, GateRun(report=outcome.gate, trouble=of_the_gate), None)
        return outcome

    def _report(self, query: RecallQuery, outcome: RecallOutcome, run: GateRun, found: Found | None) -> None:
        deps = self._deps
        at_ms = deps.clock.now_ms()
        deps.host_text.note(self._user, query.session, outcome.reason)
        deps.ledger(ledger_row(query, outcome, at_ms=at_ms))
        floors = deps.calibration.floors
        applied = f"record={floors.record:.3f} cue={floors.cue:.3f} ask={floors.ask:.3f}"
        level = EventLevel.INFO if outcome.decision is not RecallDecision.ERROR else EventLevel.WARNING
        deps.events.publish(final_event(query, outcome, floors=applied, at_ms=at_ms), level)
        deps.supervisor.post(
            RecallFinished(
                mode=outcome.mode,
                gate=run.trouble,
                has_gated=run.has_gated,
                vector=None if found is None else found.trouble,
                is_vector_used=None if found is None else found.trouble is None,
                was_alone=run.was_alone,
                is_budget_own=query.budget_s is not None and query.budget_s * 1000.0 <= deps.limits.gate_ms,
                gate_ms=outcome.timings.gate_ms,
                total_ms=outcome.timings.total_ms,
            )
        )
