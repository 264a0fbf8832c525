"""The scorer actor: takes jobs of pairs, has them scored on its threads, and answers each by its deadline.

What it guards: that one slow, failing or missing model never delays a recall beyond its own deadline.
Fails towards: fewer logits. A pair that was not scored is None at its own place; nothing is ever shifted or made up.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

import anyio

from recalld.actors.inference_thread.call import Call, Outcome, Raised, Returned, Stopped
from recalld.actors.inference_thread.factory import ThreadFactory
from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.inference_thread.model_host import HostTimes, ModelHost, ModelNotice
from recalld.actors.inference_thread.pending_job import PendingJob
from recalld.actors.kernel import Actor, ActorContext, StopReason
from recalld.actors.ports import PairScorer
from recalld.actors.scorer.messages import (
    GetScorerHealth,
    Pair,
    PairsScored,
    ProbeScorer,
    ScoreFailure,
    ScorePairs,
    ScorerMessage,
    ScorerModelsChanged,
)
from recalld.actors.scorer.overdue import is_overdue
from recalld.actors.scorer.plan import start_order
from recalld.actors.scorer.run import (
    PROBE_GAP_MIN,
    PROBE_IRRELEVANT,
    PROBE_QUERY,
    PROBE_RELEVANT,
    PairRun,
    ping,
    run_pair,
)
from recalld.models.domain.health import GateProbe, ModelHealth
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.backlog import QueuedJob, fits, wait_ms
from recalld.models.policy.cost_model import CostModel, pair_chars
from recalld.models.policy.sigmoid import sigmoid

CacheKey = tuple[str, str, str]
"""Model key, query, and which text of which memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ScorerLimits:
    """The bounds of the scorer.

    Attributes:
        lanes: Pairs that run at once; must be the lanes of the threads.
        jobs_max: Jobs that may be open; more are answered `queue_full` at once.
        cache_entries_max: Logits that are remembered, about 300 bytes each.
    """

    lanes: int
    jobs_max: int = 256
    cache_entries_max: int = 4096


@dataclass(frozen=True, kw_only=True, slots=True)
class _Open:
    """A job that is being worked on.

    Attributes:
        costs_ms: Predicted milliseconds of each of its pairs on one lane.
    """

    number: int
    message: ScorePairs
    job: PendingJob[float]
    costs_ms: tuple[float, ...]

    @property
    def left(self) -> QueuedJob:
        """What of it has no result yet."""
        return QueuedJob(
            owner=self.message.owner or f"\N{NULL}{self.number}",
            deadline_s=self.message.deadline_s,
            costs_ms=tuple(self.costs_ms[place] for place in self.job.missing),
        )


class ScorerActor(Actor[ScorerMessage]):
    """Scores pairs of all users."""

    def __init__(
        self,
        *,
        load: Callable[[], PairScorer],
        make_thread: ThreadFactory,
        cost: CostModel,
        rng: random.Random,
        on_notice: Callable[[ModelNotice], None],
        limits: ScorerLimits,
        times: HostTimes | None = None,
    ) -> None:
        """Make a scorer.

        Args:
            load: Loads the model, in the scorer's thread; raises when it is not there or not usable.
            make_thread: Makes the scorer's thread, usually `inference_threads(name="recalld-scorer", …)`.
            cost: Learns here what pairs cost; shared with whoever plans them.
            rng: Chance, for the jitter of load retries.
            on_notice: Told when the model becomes ready or unavailable, or stops answering pings.
            limits: The bounds.
            times: The times; None: the defaults.
        """
        self._host = ModelHost(
            load=load,
            ping=ping,
            make_thread=make_thread,
            rng=rng,
            on_notice=on_notice,
            times=times or HostTimes(),
        )
        self._cost = cost
        self._limits = limits
        self._cache: LruCache[CacheKey, float] = LruCache(limits.cache_entries_max)
        self._open: dict[int, _Open] = {}
        self._jobs = 0
        self._failures = 0

    async def started(self, ctx: ActorContext[ScorerMessage]) -> None:
        """Start the thread; the model loads in the background."""
        self._host.start(ctx)

    async def handle(self, message: ScorerMessage, ctx: ActorContext[ScorerMessage]) -> None:
        """Handle one message; jobs and probes go on in child tasks."""
        match message:
            case ScorePairs():
                self._accept(message, ctx)
            case ProbeScorer():
                ctx.spawn(self._probe, message, ctx, name="probe")
            case GetScorerHealth():
                message.reply.send(self._health(ctx))
            case ScorerModelsChanged():
                self._host.models_changed()
            case _:
                assert_never(message)

    async def stopped(self, _reason: StopReason, _ctx: ActorContext[ScorerMessage]) -> None:
        """Let go of the thread."""
        await self._host.close()

    def _accept(self, message: ScorePairs, ctx: ActorContext[ScorerMessage]) -> None:
        if not message.reply.is_wanted():
            return
        self._jobs += 1
        scorer = self._host.model
        if scorer is None:
            self._refuse(message, DegradedReason.SCORER_UNAVAILABLE)
        elif len(self._open) >= self._limits.jobs_max:
            self._refuse(message, DegradedReason.QUEUE_FULL)
        else:
            opened = self._open_job(message, scorer, ctx)
            if self._has_time_for(opened, now_s=ctx.clock.monotonic_s()):
                self._open[opened.number] = opened
                ctx.spawn(self._score, opened, scorer, ctx, name="score")
            else:
                self._refuse(message, DegradedReason.QUEUE_FULL)

    def _open_job(self, message: ScorePairs, scorer: PairScorer, ctx: ActorContext[ScorerMessage]) -> _Open:
        known = [self._cache.get((scorer.model_key, pair.query, pair.key)) for pair in message.pairs]
        return _Open(
            number=self._jobs,
            message=message,
            job=PendingJob(known, arrived_s=ctx.clock.monotonic_s()),
            costs_ms=tuple(self._cost.predict_pair_ms(pair.query, pair.memory_text) for pair in message.pairs),
        )

    def _has_time_for(self, opened: _Open, *, now_s: float) -> bool:
        """Whether its best pair can be scored in time behind what is queued: less than that is no judgement."""
        own = opened.left
        if not own.costs_ms:
            return True
        waiting_ms = wait_ms(
            (each.left for each in self._open.values()),
            owner=own.owner,
            deadline_s=own.deadline_s,
            calls=1,
            lanes=self._limits.lanes,
        )
        return fits(waiting_ms, own.costs_ms[0], left_ms=(own.deadline_s - now_s) * 1000.0)

    def _refuse(self, message: ScorePairs, reason: DegradedReason) -> None:
        message.reply.send(PairsScored(logits=(None,) * len(message.pairs), failure=ScoreFailure(reason=reason)))

    async def _score(self, opened: _Open, scorer: PairScorer, ctx: ActorContext[ScorerMessage]) -> None:
        """See one job through: submit it, wait for it or its deadline, drop what is left of it, answer."""
        message, job = opened.message, opened.job
        # Stands if this task is cancelled, because the thread was lost or the actor killed.
        failure: ScoreFailure | None = ScoreFailure(reason=DegradedReason.SCORER_UNAVAILABLE)
        was_overdue = False
        try:
            was_overdue = await self._run(opened, scorer, ctx)
            failure = None
            if job.error_type:
                self._failures += 1
                failure = ScoreFailure(reason=DegradedReason.SCORE_FAILED, error_type=job.error_type)
        finally:
            del self._open[opened.number]
            message.reply.send(
                PairsScored(
                    logits=job.values,
                    pairs_scored=job.computed,
                    pairs_cached=job.cached,
                    queue_ms=job.queue_ms,
                    elapsed_ms=(ctx.clock.monotonic_s() - job.arrived_s) * 1000,
                    failure=failure,
                    is_overdue=was_overdue,
                )
            )

    async def _run(self, opened: _Open, scorer: PairScorer, ctx: ActorContext[ScorerMessage]) -> bool:
        """Have the pairs run until the deadline; whether any was overdue then."""
        message, job = opened.message, opened.job
        budget_s = message.deadline_s - ctx.clock.monotonic_s()
        if not job.missing or budget_s <= 0:
            return False
        calls = {place: self._call(scorer, message.pairs[place], job, place) for place in self._order(opened, budget_s)}
        job_id = self._host.submit(tuple(calls.values()), deadline_s=message.deadline_s, owner=message.owner)
        message.reply.watch(job.end)
        try:
            with anyio.move_on_after(budget_s):
                await job.wait_done()
            now_s = ctx.clock.monotonic_s()
            return now_s >= message.deadline_s and any(
                is_overdue(message.pairs[place], self._cost, running_s=now_s - since_s)
                for place in job.missing
                if (since_s := calls[place].running_since_s) is not None
            )
        finally:
            self._host.cancel(job_id)

    def _order(self, opened: _Open, budget_s: float) -> list[int]:
        """Places in the order in which they are to start; open jobs share the time that is left."""
        missing = opened.job.missing
        costs_ms = [opened.costs_ms[place] for place in missing]
        order = start_order(costs_ms, lanes=self._limits.lanes, budget_ms=budget_s * 1000 / len(self._open))
        return [missing[index] for index in order]

    def _call(self, scorer: PairScorer, pair: Pair, job: PendingJob[float], place: int) -> Call[PairRun]:
        def take(outcome: Outcome[PairRun]) -> None:
            match outcome:
                case Returned(value=run, started_s=started_s, elapsed_ms=elapsed_ms):
                    # Also when the asker has gone: the work is done, and the next turn may ask for the same pair.
                    self._cache.put((scorer.model_key, pair.query, pair.key), run.logit)
                    self._cost.observe(
                        chars=pair_chars(pair.query, pair.memory_text), tokens=run.tokens, elapsed_ms=elapsed_ms
                    )
                    job.put(place, run.logit, started_s=started_s)
                case Raised(started_s=started_s):
                    job.fail(place, outcome.error_type, started_s=started_s)
                    job.end()  # a model that fails on one pair is not given the others
                case Stopped():
                    pass  # whoever stopped it has ended the job
                case _:
                    assert_never(outcome)

        return Call(partial(run_pair, scorer, pair.query, pair.memory_text), take)

    async def _probe(self, message: ProbeScorer, ctx: ActorContext[ScorerMessage]) -> None:
        scorer = self._host.model
        if scorer is None:
            message.reply.send(GateProbe(is_ok=False, detail=self._host.detail or "the model is still loading"))
            return
        arrived_s = ctx.clock.monotonic_s()
        relevances: list[float] = []
        for memory_text in (PROBE_RELEVANT, PROBE_IRRELEVANT):
            outcome = await self._host.run(
                partial(run_pair, scorer, PROBE_QUERY, memory_text), deadline_s=message.reply.deadline_s
            )
            match outcome:
                case Returned(value=run):
                    relevances.append(sigmoid(run.logit))
                case Raised():
                    message.reply.send(GateProbe(is_ok=False, detail=f"score_failed:{outcome.error_type}"))
                    return
                case Stopped():
                    return  # the deadline of the asker has passed
                case _:
                    assert_never(outcome)
        relevant, irrelevant = relevances
        is_ok = relevant - irrelevant > PROBE_GAP_MIN
        message.reply.send(
            GateProbe(
                is_ok=is_ok,
                relevant=relevant,
                irrelevant=irrelevant,
                elapsed_ms=(ctx.clock.monotonic_s() - arrived_s) * 1000,
                detail="" if is_ok else "the model does not tell a relevant memory from an irrelevant one",
            )
        )

    def _health(self, ctx: ActorContext[ScorerMessage]) -> ModelHealth:
        scorer = self._host.model
        return ModelHealth(
            state=self._host.state,
            model_id=scorer.model_key if scorer is not None else "",
            detail=self._host.detail,
            queue_depth=ctx.address.depth + len(self._open),
            restarts=ctx.restarts,
            jobs=self._jobs,
            failures=self._failures,
        )
