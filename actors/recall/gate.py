"""Step 5 of a recall: the relevance gate, from a list of candidates to what may be injected.

Guards: the prompt against memories that are near but do not help.
Cost: about 10 ms of one core per scored pair, within the gate's own deadline.
Fails: open, to the caller's own floor list, with a typed reason; it adds nothing and reorders nothing then.
Error rates: in the calibration record; see `recalld explain` for the one that judged.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence

import anyio
import msgspec

from recalld.actors.kernel import AskError, AskFailure
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.gate_rounds import GateRounds
from recalld.actors.recall.language_memo import reads_english
from recalld.actors.recall.passage_memo import PassageMemo
from recalld.actors.recall.query_vectors import ANSWER_GRACE_S
from recalld.actors.scorer import Pair, PairsScored, ScorePairs
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.reasons import DegradedReason, DropReason
from recalld.models.domain.recall import Candidate, DroppedItem, GateReport, RecalledItem
from recalld.models.domain.records import Memory
from recalld.models.policy.cost_model import pair_chars
from recalld.models.policy.deadline import gate_deadline_s
from recalld.models.policy.degraded_list import LAG_MAX, DegradedList, stand_out
from recalld.models.policy.gate_order import Contender, looking_order, with_shapes
from recalld.models.policy.gate_plan import GateEntry, PlannedPair, plan_pairs
from recalld.models.policy.gate_verdict import GateVerdict, ScoreFault, is_best_unjudged, judge, merge_logits
from recalld.models.policy.mentions import MentionRule
from recalld.models.policy.pair_shape import with_pair_shapes
from recalld.models.policy.passages import judged_passage
from recalld.models.policy.preselection import CONSIDERED_MAX
from recalld.models.policy.query_reading import QueryReading
from recalld.models.policy.temporal.query_times import without_times
from recalld.models.policy.views import chosen_views, plain_view

PLANNED_SHARE = 0.85
"""Share of the gate's time that is planned full: predictions are medians, so half of the pairs take longer."""


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

    def __init__(
        self,
        user: str,
        deps: RecallDependencies,
        *,
        is_english_of: Callable[[Memory], bool] = reads_english,
        passages: PassageMemo | None = None,
    ) -> None:
        self._user = user
        self._deps = deps
        self._is_english_of = is_english_of
        self._passages = passages or PassageMemo()

    async def run(
        self,
        reading: QueryReading,
        candidates: Sequence[Candidate],
        *,
        envelope_deadline_s: float,
        max_items: int,
        is_search: bool,
        ranked: Sequence[Candidate] = (),
    ) -> GateRun:
        """Judge the candidates, in time or not at all.

        Args:
            reading: What the turn says.
            candidates: Those that passed the floor, best first.
            envelope_deadline_s: When the whole recall must have been answered.
            max_items: Items the caller will take.
            is_search: Demote instead of dropping.
            ranked: The candidates and those that are excluded, in the floor's order; none given: nothing is.
        """
        started_s = self._deps.clock.monotonic_s()
        ticket = self._deps.guard.enter()
        try:
            unread = self._unread(candidates, ranked, is_search=is_search)
            run = await self._run(reading, candidates, unread, envelope_deadline_s, max_items, is_search=is_search)
        finally:
            was_alone = self._deps.guard.leave(ticket)
        elapsed_ms = (self._deps.clock.monotonic_s() - started_s) * 1000.0
        return msgspec.structs.replace(run, was_alone=was_alone, elapsed_ms=elapsed_ms)

    async def _run(
        self,
        reading: QueryReading,
        candidates: Sequence[Candidate],
        unread: DegradedList,
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
        english = [candidate for candidate in candidates if self._is_english_of(candidate.memory)]
        now_s = deps.clock.monotonic_s()
        deadline_s = gate_deadline_s(
            now_s=now_s,
            gate_ms=deps.limits.gate_ms,
            envelope_deadline_s=envelope_deadline_s,
            reserve_s=deps.limits.reserve_ms / 1000.0,
        )
        readable = with_shapes(english, reading.text)
        if deps.calibration.model.looks_at_pairs:
            readable = with_pair_shapes(readable, reading.text)
        contenders = looking_order(readable[:CONSIDERED_MAX], deps.calibration.model)
        entries: list[GateEntry] | None = None
        with anyio.move_on_after(deadline_s - now_s):
            entries = await self._entries(reading, contenders)
        if entries is None:
            return _stopped(DegradedReason.SUB_BUDGET_EXCEEDED, report)
        rounds = await self._rounds(entries, readable, deadline_s, max_items)
        if isinstance(rounds, GateTrouble):
            is_cut = deadline_s < now_s + deps.limits.gate_ms / 1000.0
            return GateRun(trouble=_blame(rounds, is_cut_by_envelope=is_cut), report=report)
        merged = merge_logits(readable, rounds.memory_ids, rounds.logits, views=rounds.views)
        if isinstance(merged, ScoreFault):
            return _stopped(DegradedReason.SCORE_FAILED, report, detail=merged.value)
        verdict = judge(
            merged,
            model=deps.calibration.model,
            is_search=is_search,
            mention=MentionRule(deps.calibration.floors, reading.text),
            reaches={each.candidate.memory.id: each.reach for each in contenders},
        )
        if is_best_unjudged(verdict, readable):
            return _stopped(DegradedReason.SUB_BUDGET_EXCEEDED, report)
        if not is_search:
            verdict = self._without_leftovers(verdict, readable)
        undecided = sum(entry.decided is None for entry in entries) + len(readable) - len(entries)
        return _finished(verdict, unread, rounds, report, beyond_count=max(0, undecided - deps.limits.candidates_max))

    def _why_not_to_ask(self, reading: QueryReading, envelope_deadline_s: float) -> DegradedReason | None:
        if not self._deps.limits.is_gate_on:
            return DegradedReason.GATE_DISABLED_BY_CONFIG
        if not reading.is_english:
            return DegradedReason.OUT_OF_DOMAIN
        return DegradedReason.QUEUE_FULL if self._deps.turns.is_crowded(deadline_s=envelope_deadline_s) else None

    def _unread(self, candidates: Sequence[Candidate], ranked: Sequence[Candidate], *, is_search: bool) -> DegradedList:
        """What the model cannot read: what stands out of it passes by the floor, as it would without a gate."""
        return stand_out(
            [each for each in ranked or candidates if not self._is_english_of(each.memory)],
            kept=frozenset(each.memory.id for each in candidates),
            floors=self._deps.calibration.floors,
            items_max=self._deps.limits.degraded_max_items,
            lag_max=math.inf if is_search else LAG_MAX,
        )

    async def _entries(self, reading: QueryReading, contenders: Sequence[Contender]) -> list[GateEntry]:
        deps = self._deps
        scored = [each.candidate.memory for each in contenders if not each.is_hopeless][: deps.limits.candidates_max]
        passages = await self._passages.learn(scored, deps.text_work)
        entries: list[GateEntry] = []
        undecided = 0
        for contender in contenders:
            candidate, memory = contender.candidate, contender.candidate.memory
            # What passes whatever the score is scored as well, while time allows: its relevance orders the items and
            # says how far the others lie behind it. Unscored, it passes all the same.
            decided = False if contender.is_hopeless else None
            undecided += decided is None
            query = candidate.query or reading.text
            if candidate.evidence.is_in_interval:  # its time fits already; to the model it would be something missing
                query = without_times(query, reading.times)
            # Making views takes longer than all else here: only what can be scored gets more than the plain one.
            if decided is None and undecided <= deps.limits.candidates_max:
                text = judged_passage(memory.text, passages[memory.id], candidate.passage)
                views = chosen_views(query, text, candidate.best_cue, has_asks=bool(memory.asks))
            else:
                views = (plain_view(query, memory.text),)
            tokens = (deps.cost.estimate_tokens(pair_chars(view.query, view.text)) for view in views)
            entries.append(
                GateEntry(
                    memory_id=candidate.memory.id,
                    views=views,
                    predicted_ms=tuple(deps.cost.predict_ms(count) for count in tokens),
                    decided=decided,
                )
            )
        return entries

    def _without_leftovers(self, verdict: GateVerdict, candidates: Sequence[Candidate]) -> GateVerdict:
        """The verdict without what was never scored and lies far behind: unscored, it must stand out to be shown."""
        unscored = frozenset(item.memory.id for item in verdict.passed if item.is_unscored)
        if not unscored:
            return verdict
        floors, count = self._deps.calibration.floors, len(candidates)
        behind = stand_out(candidates, kept=unscored, floors=floors, items_max=count).dropped
        ids = {item.memory_id for item in behind}
        return msgspec.structs.replace(
            verdict,
            passed=tuple(item for item in verdict.passed if item.memory.id not in ids),
            dropped=(*verdict.dropped, *behind),
        )

    async def _rounds(
        self, entries: Sequence[GateEntry], candidates: Sequence[Candidate], deadline_s: float, max_items: int
    ) -> GateRounds | GateTrouble:
        """Have the pairs scored, round after round, while there is time."""
        deps, rounds = self._deps, GateRounds()
        now_s = deps.clock.monotonic_s()
        # The scorer answers a little earlier, so that the gate as a whole keeps its ceiling.
        score_by_s = max(now_s, deadline_s - min(ANSWER_GRACE_S, (deadline_s - now_s) / 4))
        while True:
            plan = plan_pairs(
                entries,
                lanes=deps.limits.lanes,
                budget_ms=PLANNED_SHARE * (score_by_s - deps.clock.monotonic_s()) * 1000.0,
                max_items=max_items,
                candidates_max=deps.limits.candidates_max,
                known=rounds.known,
            )
            if not plan.pairs:
                is_too_late = rounds.is_first and plan.dropped_by_budget
                return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED) if is_too_late else rounds
            if rounds.is_first and not deps.guard.admit():
                return GateTrouble(reason=DegradedReason.BREAKER_OPEN)
            answer = await self._score(plan.pairs, candidates, score_by_s, deadline_s)
            if isinstance(answer, GateTrouble):
                return rounds if rounds.survives(answer) else answer
            if not rounds.add(plan.pairs, answer):
                return rounds

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
            return GateTrouble(reason=DegradedReason.SUB_BUDGET_EXCEEDED, is_scorer_overdue=scored.is_overdue)
        return scored


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest()


def _stopped(reason: DegradedReason, report: GateReport, *, detail: str = "") -> GateRun:
    return GateRun(trouble=GateTrouble(reason=reason, detail=detail), report=report)


def _blame(trouble: GateTrouble, *, is_cut_by_envelope: bool) -> GateTrouble:
    """A time-out within less than the gate's own ceiling is the envelope's doing, not the scorer's."""
    if is_cut_by_envelope and trouble.reason is DegradedReason.SUB_BUDGET_EXCEEDED:
        return GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED)
    return trouble


def _finished(
    verdict: GateVerdict, unread: DegradedList, rounds: GateRounds, report: GateReport, *, beyond_count: int
) -> GateRun:
    """The verdict, and behind it what the model cannot read: passed by the floor, and without a relevance."""
    passed_unread = tuple(
        RecalledItem(memory=candidate.memory, evidence=candidate.evidence, relevance=None) for candidate in unread.shown
    )
    by_budget = sum(1 for item in verdict.dropped if item.reason is DropReason.BUDGET)
    return GateRun(
        passed=(*verdict.passed, *passed_unread),
        dropped=(*verdict.dropped, *unread.dropped),
        report=msgspec.structs.replace(
            report,
            pairs_scored=rounds.pairs_scored,
            pairs_cached=rounds.pairs_cached,
            dropped_by_gate=len(verdict.dropped) - by_budget,
            dropped_by_budget=by_budget,
            beyond_count=min(by_budget, beyond_count),
        ),
        has_gated=rounds.pairs_scored > 0,
        queue_ms=rounds.queue_ms,
    )


def _ask_reason(failure: AskFailure) -> DegradedReason:
    match failure:
        case AskFailure.BUSY:
            return DegradedReason.QUEUE_FULL
        case AskFailure.TIMEOUT:
            return DegradedReason.SUB_BUDGET_EXCEEDED
        case AskFailure.CLOSED | AskFailure.DIED:
            return DegradedReason.SCORER_UNAVAILABLE
