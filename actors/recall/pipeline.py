"""One recall from request to outcome, in six steps. Reads top to bottom; each decision is one call into the policy."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import anyio
import msgspec

from recalld.actors.events import EventLevel
from recalld.actors.recall.candidates import CandidateFinder, Found
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.floor_step import FloorStep
from recalld.actors.recall.gate import GateRun, RelevanceGate
from recalld.actors.recall.report import final_event, ledger_row
from recalld.actors.recall.state import RecallState, Spawn
from recalld.actors.supervisor import GateTrouble, RecallFinished
from recalld.actors.text_work import is_long
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import DropReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import (
    Candidate,
    Coverage,
    DroppedItem,
    GateReport,
    RecalledItem,
    RecallOutcome,
    RecallQuery,
    RecallTimings,
)
from recalld.models.policy.deadline import reply_reserve_s
from recalld.models.policy.exclusions import apply_exclusions, exclusion_rules
from recalld.models.policy.pack import Packed, pack
from recalld.models.policy.query_reading import QueryReading, read_query
from recalld.models.policy.silence import why_empty, why_silent


class _Passed(msgspec.Struct, frozen=True, kw_only=True):
    """Candidates after floor and exclusions, and what was left out on the way."""

    candidates: tuple[Candidate, ...]
    dropped: tuple[DroppedItem, ...]
    below_floor: int


class _Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be packed, and what the gate (or the cap of a degraded answer) held back."""

    items: tuple[RecalledItem, ...]
    dropped: tuple[DroppedItem, ...]


class RecallPipeline:
    """Answers the recalls of one user."""

    def __init__(self, user: str, state: RecallState, deps: RecallDependencies) -> None:
        self._user = user
        self._state = state
        self._deps = deps
        self._finder = CandidateFinder(user, state, deps)
        self._gate = RelevanceGate(user, deps)

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
        reading: QueryReading | None = None
        found: Found | None = None
        passed: _Passed | None = None
        try:
            with anyio.move_on_after(left_s - reply_reserve_s(left_s, reserve_s=deps.limits.reserve_ms / 1000.0)):
                reading = await self._read(query)
                if reading.skip is None:
                    found = await self._finder.find(query, reading, now_ms=now_ms, spawn=spawn)
                    passed = await self._floor_and_exclusions(found, query, reading, now_ms)
        except RecalldError:
            return self._without_search(
                recall_id, RecallDecision.ERROR, RecallReason.STORE_UNREADABLE, started_s, query
            )
        if reading is not None and reading.skip is not None:
            return self._without_search(recall_id, RecallDecision.SKIP, reading.skip, started_s, query)
        if reading is None or found is None or passed is None:
            return self._without_search(
                recall_id, RecallDecision.ERROR, RecallReason.ENVELOPE_EXCEEDED, started_s, query
            )
        max_items = deps.limits.max_items if query.max_items is None else query.max_items
        run = GateRun(report=GateReport(threshold=deps.calibration.model.threshold))
        if passed.candidates:
            run = await self._gate.run(
                reading,
                passed.candidates,
                envelope_deadline_s=query.deadline_s,
                max_items=max_items,
                is_search=query.is_search,
            )
        shown = self._after_gate(passed, run)
        packed = pack(
            shown.items,
            max_items=max_items,
            max_chars=deps.limits.max_chars if query.max_chars is None else query.max_chars,
        )
        outcome = _outcome(recall_id, found, passed, run, shown, packed)
        outcome = msgspec.structs.replace(
            outcome,
            floor_items=tuple(each.memory.id for each in passed.candidates[: deps.limits.degraded_max_items]),
            timings=self._timings(started_s, query, found, run),
        )
        self._report(query, outcome, run, found)
        return outcome

    def _after_gate(self, passed: _Passed, run: GateRun) -> _Shown:
        """What the gate let through, or in its stead the floor's own list, in its own order and capped."""
        if run.trouble is None:
            return _Shown(items=run.passed, dropped=run.dropped)
        capped = self._deps.limits.degraded_max_items
        return _Shown(
            items=tuple(
                RecalledItem(memory=each.memory, evidence=each.evidence, relevance=None)
                for each in passed.candidates[:capped]
            ),
            dropped=tuple(
                DroppedItem(memory_id=each.memory.id, reason=DropReason.OVER_MAX_ITEMS, evidence=each.evidence)
                for each in passed.candidates[capped:]
            ),
        )

    async def _read(self, query: RecallQuery) -> QueryReading:
        """Step 1."""
        chars = len(query.text)
        with self._deps.turns.waiting() if is_long(chars) else nullcontext():
            return await self._deps.text_work.run(
                partial(read_query, query.text, is_search=query.is_search), chars=chars
            )

    async def _floor_and_exclusions(
        self, found: Found, query: RecallQuery, reading: QueryReading, now_ms: int
    ) -> _Passed:
        """Steps 3 and 4."""
        floor = FloorStep(
            self._deps.calibration.floors, reading, stems_of=self._state.stems_of, has_vectors=found.trouble is None
        )
        await self._state.learn_stems(floor.compared_by_words(found.candidates), self._deps.text_work)
        above, below = floor.split(found.candidates)
        # Who searches on purpose wants to find it, also what is in view already.
        visible = frozenset[str]() if query.is_search else self._state.visible.visible(query.session)
        rules = exclusion_rules(query, visible=visible, now_ms=now_ms, own_text=reading.own_text)
        kept = apply_exclusions(above, rules)
        return _Passed(
            candidates=kept.kept,
            dropped=(
                *kept.dropped,
                *(
                    DroppedItem(memory_id=each.memory.id, reason=DropReason.BELOW_FLOOR, evidence=each.evidence)
                    for each in below
                ),
            ),
            below_floor=len(below),
        )

    def _timings(self, started_s: float, query: RecallQuery, found: Found, run: GateRun) -> RecallTimings:
        now_s = self._deps.clock.monotonic_s()
        return RecallTimings(
            total_ms=(now_s - started_s) * 1000.0,
            embed_ms=found.embed_ms,
            search_ms=found.search_ms,
            gate_ms=run.elapsed_ms,
            queue_ms=run.queue_ms,
            deadline_left_ms=(query.deadline_s - now_s) * 1000.0,
        )

    def _without_search(
        self,
        recall_id: str,
        decision: RecallDecision,
        reason: RecallReason,
        started_s: float,
        query: RecallQuery,
    ) -> RecallOutcome:
        """The outcome of a recall that never came to candidates: skipped by the turn gate, or broken."""
        now_s = self._deps.clock.monotonic_s()
        trouble = None if decision is RecallDecision.SKIP else GateTrouble(reason=why_empty(reason))
        outcome = RecallOutcome(
            recall_id=recall_id,
            decision=decision,
            mode=RecallMode.GATED if trouble is None else RecallMode.EMPTY,
            reason=reason,
            degraded_reason=None if trouble is None else trouble.reason,
            coverage=Coverage(discovered=0, searched=0),
            gate=GateReport(),
            timings=RecallTimings(
                total_ms=(now_s - started_s) * 1000.0, deadline_left_ms=(query.deadline_s - now_s) * 1000.0
            ),
        )
        # An unreadable store says nothing about the gate.
        of_the_gate = trouble if reason is RecallReason.ENVELOPE_EXCEEDED else None
        self._report(query, outcome, GateRun(report=outcome.gate, trouble=of_the_gate), None)
        return outcome

    def _report(self, query: RecallQuery, outcome: RecallOutcome, run: GateRun, found: Found | None) -> None:
        deps = self._deps
        at_ms = deps.clock.now_ms()
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
                gate_ms=outcome.timings.gate_ms,
                total_ms=outcome.timings.total_ms,
            )
        )


def _outcome(
    recall_id: str, found: Found, passed: _Passed, run: GateRun, shown: _Shown, packed: Packed
) -> RecallOutcome:
    trouble = run.trouble or found.trouble
    reason = _reason(found, passed, run, shown, packed)
    return RecallOutcome(
        recall_id=recall_id,
        decision=_decision(packed.items, reason),
        mode=_mode(found.trouble, run.trouble),
        reason=reason,
        items=packed.items,
        dropped=(*shown.dropped, *packed.dropped, *passed.dropped),
        degraded_reason=None if trouble is None else trouble.reason,
        degraded_detail="" if trouble is None else trouble.detail,
        coverage=found.coverage or _seen(found),
        gate=msgspec.structs.replace(run.report, filtered_by_floor=passed.below_floor),
        timings=RecallTimings(),
    )


def _seen(found: Found) -> Coverage:
    """The least that is there, where nobody could count in time: what was found of it."""
    return Coverage(discovered=len(found.candidates), searched=len(found.candidates))


def _decision(items: Sequence[RecalledItem], reason: RecallReason) -> RecallDecision:
    """Silence because something broke is an error, and never looks like silence because nothing helped."""
    if items:
        return RecallDecision.INJECT
    return RecallDecision.ERROR if reason is RecallReason.DEGRADED else RecallDecision.SILENT


def _reason(found: Found, passed: _Passed, run: GateRun, shown: _Shown, packed: Packed) -> RecallReason:
    """Why it ended so."""
    if packed.items:
        is_judged = run.trouble is None and any(item.relevance is not None for item in packed.items)
        return RecallReason.RELEVANT if is_judged else RecallReason.PASSED_FLOOR
    # Without items to show in spite of a failed gate, `degraded_max_items` is 0: a limit as well.
    if shown.items or run.trouble is not None:
        return RecallReason.OVER_LIMITS
    return why_silent(
        coverage=found.coverage,
        has_vectors=found.trouble is None,
        candidates=len(found.candidates),
        above_floor=len(found.candidates) - passed.below_floor,
        not_excluded=len(passed.candidates),
    )


def _mode(vector: GateTrouble | None, gate: GateTrouble | None) -> RecallMode:
    """Where on the ladder the recall ran. A foreign query is not a fault, but it was not gated either."""
    if vector is not None:
        return RecallMode.LEXICAL_ONLY
    return RecallMode.GATED if gate is None else RecallMode.FLOOR_ONLY
