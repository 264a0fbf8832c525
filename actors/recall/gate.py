"""Step 5 of a recall: the relevance gate, from a list of candidates to what may be injected.

Guards: the prompt against memories that are near but do not help.
Cost: about 10 ms of one core per scored pair, within the gate's own deadline.
Fails: open, to the caller's own floor list, with a typed reason; it adds nothing and reorders nothing then.
Error rates: in the calibration record; see `recalld explain` for the one that judged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import msgspec

from recalld.actors.kernel import AskError, AskFailure
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.query_vectors import ANSWER_GRACE_S
from recalld.actors.scorer import Pair, PairsScored, ScorePairs
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.reasons import DegradedReason, DropReason
from recalld.models.domain.recall import Candidate, DroppedItem, GateReport, RecalledItem
from recalld.models.policy.deadline import gate_deadline_s
from recalld.models.policy.gate_plan import GateEntry, GatePlan, PlannedPair, plan_pairs
from recalld.models.policy.gate_verdict import GateVerdict, ScoreFault, judge, merge_logits
from recalld.models.policy.language import is_english
from recalld.models.policy.query_reading import QueryReading
from recalld.models.policy.relevance import Bounds, bounds
from recalld.models.policy.views import chosen_views, plain_view

PLANNED_SHARE = 0.85
"""Share of the gate's time that is planned full: predictions are medians, so half of the pairs take longer."""
CONSIDERED_MAX = 40
"""Candidates looked at, best first: those whose evidence decides without a score cost nothing but this look."""


class GateRun(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate made of the candidates.

    Attributes:
        passed: May be injected, most relevant first.
        dropped: Held back, with the reason of each.
        trouble: Why the gate could not judge; then `passed` and `dropped` are empty and the caller falls back.
        report: Counts for the ledger and the canonical line.
        has_gated: Whether the scorer scored at least one pair for it; remembered scores prove nothing about the scorer.
        was_alone: Whether no other recall was in the gate meanwhile.
        elapsed_ms: Time spent in the gate.
        queue_ms: Of that, time until the first pair ran.
    """

    passed: tuple[RecalledItem, ...] = ()
    dropped: tuple[DroppedItem, ...] = ()
    trouble: GateTrouble | None = None
    report: GateReport
    has_gated: bool = False
    was_alone: bool = False
    elapsed_ms: float = 0.0
    queue_ms: float = 0.0


class RelevanceGate:
    """Judges candidates of one user."""

    def __init__(self, user: str, deps: RecallDependencies) -> None:
        self._user = user
        self._deps = deps

    async def run(
        self,
        reading: QueryReading,
        candidates: Sequence[Candidate],
        *,
        envelope_deadline_s: float,
        max_items: int,
        is_search: bool,
    ) -> GateRun:
        """Judge the candidates, in time or not at all.

        Args:
            reading: What the turn says.
            candidates: Those that passed the floor, best first.
            envelope_deadline_s: When the whole recall must have been answered.
            max_items: Items the caller will take.
            is_search: Demote instead of dropping.
        """
        started_s = self._deps.clock.monotonic_s()
        ticket = self._deps.guard.enter()
        try:
            run = await self._run(reading, candidates, envelope_deadline_s, max_items, is_search=is_search)
        finally:
            was_alone = self._deps.guard.leave(ticket)
        elapsed_ms = (self._deps.clock.monotonic_s() - started_s) * 1000.0
        return msgspec.structs.replace(run, was_alone=was_alone, elapsed_ms=elapsed_ms)

    async def _run(
        self,
        reading: QueryReading,
        candidates: Sequence[Candidate],
        envelope_deadline_s: float,
        max_items: int,
        *,
        is_search: bool,
    ) -> GateRun:
        deps = self._deps
        report = GateReport(
            threshold=deps.calibration.model.threshold, calibration_id=deps.calibration.model.calibration_id
        )
        unasked = self._why_not_to_ask(reading, envelope_deadline_s)
        if unasked is not None:
            return _stopped(unasked, report)
        readable, unread = _by_language(candidates)
        now_s = deps.clock.monotonic_s()
        deadline_s = gate_deadline_s(
            now_s=now_s,
            gate_ms=deps.limits.gate_ms,
            envelope_deadline_s=envelope_deadline_s,
            reserve_s=deps.limits.reserve_ms / 1000.0,
        )
        # The scorer answers a little earlier, so that the gate as a whole keeps its ceiling.
        score_by_s = max(now_s, deadline_s - min(ANSWER_GRACE_S, (deadline_s - now_s) / 4))
        budget_ms = PLANNED_SHARE * (score_by_s - now_s) * 1000.0
        plan = self._plan(reading.text, readable[:CONSIDERED_MAX], budget_ms, max_items)
        if plan.dropped_by_budget and not plan.pairs:
            return _stopped(DegradedReason.ENVELOPE_EXCEEDED, report)
        scored = PairsScored(logits=())
        if plan.pairs:
            if not deps.guard.admit():
                return _stopped(DegradedReason.BREAKER_OPEN, report)
            answer = await self._score(plan.pairs, readable, score_by_s, deadline_s)
            if isinstance(answer, GateTrouble):
                is_cut = deadline_s < now_s + deps.limits.gate_ms / 1000.0
                return GateRun(trouble=_blame(answer, is_cut_by_envelope=is_cut), report=report)
            scored = answer
        merged = merge_logits(readable, [pair.memory_id for pair in plan.pairs], scored.logits)
        if isinstance(merged, ScoreFault):
            return _stopped(DegradedReason.SCORE_FAILED, report, detail=merged.value)
        verdict = judge(merged, model=deps.calibration.model, is_search=is_search)
        return _finished(verdict, unread, scored, report, unread_max=deps.limits.degraded_max_items)

    def _why_not_to_ask(self, reading: QueryReading, envelope_deadline_s: float) -> DegradedReason | None:
        if not self._deps.limits.is_gate_on:
            return DegradedReason.GATE_DISABLED_BY_CONFIG
        if not reading.is_english:
            return DegradedReason.OUT_OF_DOMAIN
        return DegradedReason.QUEUE_FULL if self._deps.turns.is_crowded(deadline_s=envelope_deadline_s) else None

    def _plan(self, text: str, candidates: Sequence[Candidate], budget_ms: float, max_items: int) -> GatePlan:
        deps = self._deps
        entries: list[GateEntry] = []
        undecided = 0
        for candidate in candidates:
            memory = candidate.memory
            decided = _decided(bounds(candidate.evidence, deps.calibration.model), self._threshold)
            undecided += decided is None
            # Making views takes longer than all else here: only what can be scored gets more than the plain one.
            if decided is None and undecided <= deps.limits.candidates_max:
                views = chosen_views(text, memory.text, candidate.best_cue, has_asks=bool(memory.asks))
            else:
                views = (plain_view(text, memory.text),)
            tokens = (deps.cost.estimate_tokens(len(view.query) + len(view.text)) for view in views)
            entries.append(
                GateEntry(
                    memory_id=candidate.memory.id,
                    views=views,
                    predicted_ms=tuple(deps.cost.predict_ms(count) for count in tokens),
                    decided=decided,
                )
            )
        return plan_pairs(
            entries,
            lanes=deps.limits.lanes,
            budget_ms=budget_ms,
            max_items=max_items,
            candidates_max=deps.limits.candidates_max,
        )

    @property
    def _threshold(self) -> float:
        return self._deps.calibration.model.threshold

    async def _score(
        self, planned: Sequence[PlannedPair], candidates: Sequence[Candidate], deadline_s: float, answer_by_s: float
    ) -> PairsScored | GateTrouble:
        revisions = {candidate.memory.id: candidate.memory.revision for candidate in candidates}
        pairs = tuple(
            Pair(
                query=pair.view.query,
                memory_text=pair.view.text,
                # Id and revision name the record; the digest tells apart which of its cues stands in front.
                key=f"{pair.memory_id}:{revisions[pair.memory_id]}:{_digest(pair.view.text)}",
            )
            for pair in planned
        )
        try:
            with self._deps.turns.waiting():
                scored: PairsScored = await self._deps.scorer.ask(
                    lambda reply: ScorePairs(pairs=pairs, deadline_s=deadline_s, owner=self._user, reply=reply),
                    deadline_s=answer_by_s,
                )
        except AskError as error:
            return GateTrouble(reason=_ask_reason(error.failure))
        if scored.failure is not None:
            return GateTrouble(reason=scored.failure.reason, detail=scored.failure.error_type)
        if scored.logits and all(logit is None for logit in scored.logits):
            return GateTrouble(reason=DegradedReason.SUB_BUDGET_EXCEEDED)
        return scored


def _by_language(candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Those the model can read, and those it cannot; order kept."""
    readable: list[Candidate] = []
    unread: list[Candidate] = []
    for candidate in candidates:
        (readable if is_english(candidate.memory.text) else unread).append(candidate)
    return readable, unread


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _decided(reach: Bounds, threshold: float) -> bool | None:
    """False: fails whatever the score, so it is not scored. None: the score decides.

    What passes whatever the score is scored as well, while time allows: its relevance orders the items and says how far
    the others lie behind it. Unscored, it passes all the same.
    """
    return False if reach.highest < threshold else None


def _stopped(reason: DegradedReason, report: GateReport, *, detail: str = "") -> GateRun:
    return GateRun(trouble=GateTrouble(reason=reason, detail=detail), report=report)


def _blame(trouble: GateTrouble, *, is_cut_by_envelope: bool) -> GateTrouble:
    """A time-out within less than the gate's own ceiling is the envelope's doing, not the scorer's."""
    if is_cut_by_envelope and trouble.reason is DegradedReason.SUB_BUDGET_EXCEEDED:
        return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED)
    return trouble


def _finished(
    verdict: GateVerdict, unread: Sequence[Candidate], scored: PairsScored, report: GateReport, *, unread_max: int
) -> GateRun:
    """The verdict, and behind it what the model cannot read: passed by the floor, and without a relevance."""
    passed_unread = tuple(
        RecalledItem(memory=candidate.memory, evidence=candidate.evidence, relevance=None)
        for candidate in unread[:unread_max]
    )
    dropped_unread = tuple(
        DroppedItem(memory_id=candidate.memory.id, reason=DropReason.OVER_MAX_ITEMS, evidence=candidate.evidence)
        for candidate in unread[unread_max:]
    )
    by_budget = sum(1 for item in verdict.dropped if item.reason is DropReason.BUDGET)
    return GateRun(
        passed=(*verdict.passed, *passed_unread),
        dropped=(*verdict.dropped, *dropped_unread),
        report=msgspec.structs.replace(
            report,
            pairs_scored=scored.pairs_scored,
            pairs_cached=scored.pairs_cached,
            dropped_by_gate=len(verdict.dropped) - by_budget,
            dropped_by_budget=by_budget,
        ),
        has_gated=scored.pairs_scored > 0,
        queue_ms=scored.queue_ms,
    )


def _ask_reason(failure: AskFailure) -> DegradedReason:
    match failure:
        case AskFailure.BUSY:
            return DegradedReason.QUEUE_FULL
        case AskFailure.TIMEOUT:
            return DegradedReason.SUB_BUDGET_EXCEEDED
        case AskFailure.CLOSED | AskFailure.DIED:
            return DegradedReason.SCORER_UNAVAILABLE
