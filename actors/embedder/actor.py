"""The embedder actor: takes jobs of texts, has them embedded on its thread, and answers each by its deadline.

What it guards: that a query waits for at most one text of bulk work, and never for another user's scoring.
Fails towards: fewer vectors. A text that was not embedded is None at its own place; recall goes on by words alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import assert_never

import anyio
import numpy as np
from numpy.typing import NDArray

from recalld.actors.embedder.messages import (
    EmbedderMessage,
    EmbedderModelsChanged,
    EmbedFailure,
    EmbedText,
    EmbedTexts,
    GetEmbedderHealth,
    TextsEmbedded,
)
from recalld.actors.embedder.run import embed_text, ping
from recalld.actors.inference_thread.call import Call, Outcome, Raised, Returned, Stopped
from recalld.actors.inference_thread.factory import ThreadFactory
from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.inference_thread.model_host import HostTimes, ModelHost, ModelNotice
from recalld.actors.inference_thread.pending_job import PendingJob
from recalld.actors.kernel import Actor, ActorContext, StopReason
from recalld.actors.ports import TextEmbedder
from recalld.models.domain.health import ModelHealth
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.backlog import QueuedJob, fits, wait_ms
from recalld.models.policy.cost_model import CostModel

Vector = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderLimits:
    """The bounds of the embedder.

    Attributes:
        jobs_max: Jobs that may be open; more are answered `queue_full` at once.
        cache_entries_max: Vectors that are remembered, about 2 kilobytes each; a query has two.
        lanes: Texts that run at once; must be the lanes of the threads.
    """

    jobs_max: int = 256
    cache_entries_max: int = 512
    lanes: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class _Open:
    """A job that is being worked on.

    Attributes:
        costs_ms: Predicted milliseconds of each of its texts.
    """

    number: int
    message: EmbedTexts
    job: PendingJob[Vector]
    costs_ms: tuple[float, ...]

    @property
    def left(self) -> QueuedJob:
        """What of it has no result yet."""
        return QueuedJob(
            owner=self.message.owner or f"\N{NULL}{self.number}",
            deadline_s=self.message.deadline_s,
            costs_ms=tuple(self.costs_ms[place] for place in self.job.missing),
            is_bulk=self.message.is_bulk,
        )


class EmbedderActor(Actor[EmbedderMessage]):
    """Embeds texts of all users."""

    def __init__(
        self,
        *,
        load: Callable[[], TextEmbedder],
        make_thread: ThreadFactory,
        rng: random.Random,
        on_notice: Callable[[ModelNotice], None],
        limits: EmbedderLimits | None = None,
        times: HostTimes | None = None,
    ) -> None:
        """Make an embedder.

        Args:
            load: Loads the model, in the embedder's thread; raises when it is not there or not usable.
            make_thread: Makes the thread, usually `inference_threads(name="recalld-embedder", lanes=1, …)`.
            rng: Chance, for the jitter of load retries.
            on_notice: Told when the model becomes ready or unavailable, or stops answering pings.
            limits: The bounds; None: the defaults.
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
        self._limits = limits or EmbedderLimits()
        self._cache: LruCache[tuple[str, bool, str], Vector] = LruCache(self._limits.cache_entries_max)
        self._cost = CostModel()
        self._open: dict[int, _Open] = {}
        self._jobs = 0
        self._failures = 0

    async def started(self, ctx: ActorContext[EmbedderMessage]) -> None:
        """Start the thread; the model loads in the background."""
        self._host.start(ctx)

    async def handle(self, message: EmbedderMessage, ctx: ActorContext[EmbedderMessage]) -> None:
        """Handle one message; jobs go on in child tasks."""
        match message:
            case EmbedTexts():
                self._accept(message, ctx)
            case GetEmbedderHealth():
                message.reply.send(self._health(ctx))
            case EmbedderModelsChanged():
                self._host.models_changed()
            case _:
                assert_never(message)

    async def stopped(self, _reason: StopReason, _ctx: ActorContext[EmbedderMessage]) -> None:
        """Let go of the thread."""
        await self._host.close()

    def _accept(self, message: EmbedTexts, ctx: ActorContext[EmbedderMessage]) -> None:
        if not message.reply.is_wanted():
            return
        self._jobs += 1
        embedder = self._host.model
        if embedder is None:
            self._refuse(message, DegradedReason.EMBEDDER_UNAVAILABLE)
        elif len(self._open) >= self._limits.jobs_max:
            self._refuse(message, DegradedReason.QUEUE_FULL)
        else:
            opened = self._open_job(message, embedder, ctx)
            if self._has_time_for(opened, now_s=ctx.clock.monotonic_s()):
                self._open[opened.number] = opened
                ctx.spawn(self._embed, opened, embedder, ctx, name="embed")
            else:
                self._refuse(message, DegradedReason.QUEUE_FULL)

    def _open_job(self, message: EmbedTexts, embedder: TextEmbedder, ctx: ActorContext[EmbedderMessage]) -> _Open:
        key = embedder.embedder_key
        known = [self._cache.get((key, text.is_query, text.text)) if text.is_kept else None for text in message.texts]
        return _Open(
            number=self._jobs,
            message=message,
            job=PendingJob(known, arrived_s=ctx.clock.monotonic_s()),
            costs_ms=tuple(self._cost.predict_ms(self._cost.estimate_tokens(len(each.text))) for each in message.texts),
        )

    def _has_time_for(self, opened: _Open, *, now_s: float) -> bool:
        """Whether all of it can be done in time behind what is queued; bulk work has all the time there is."""
        own = opened.left
        if not own.costs_ms or own.is_bulk:
            return True
        waiting_ms = wait_ms(
            (each.left for each in self._open.values()),
            owner=own.owner,
            deadline_s=own.deadline_s,
            calls=len(own.costs_ms),
            lanes=self._limits.lanes,
        )
        return fits(waiting_ms, sum(own.costs_ms), left_ms=(own.deadline_s - now_s) * 1000.0)

    def _refuse(self, message: EmbedTexts, reason: DegradedReason) -> None:
        embedder = self._host.model
        message.reply.send(
            TextsEmbedded(
                vectors=(None,) * len(message.texts),
                embedder_key=embedder.embedder_key if embedder is not None else "",
                failure=EmbedFailure(reason=reason),
            )
        )

    async def _embed(self, opened: _Open, embedder: TextEmbedder, ctx: ActorContext[EmbedderMessage]) -> None:
        """See one job through: submit it, wait for it or its deadline, drop what is left of it, answer."""
        message, job = opened.message, opened.job
        # Stands if this task is cancelled, because the thread was lost or the actor killed.
        failure: EmbedFailure | None = EmbedFailure(reason=DegradedReason.EMBEDDER_UNAVAILABLE)
        try:
            await self._run(job, message, embedder, ctx)
            failure = None
            if job.error_type:
                self._failures += 1
                failure = EmbedFailure(reason=DegradedReason.EMBED_FAILED, error_type=job.error_type)
        finally:
            del self._open[opened.number]
            message.reply.send(
                TextsEmbedded(
                    vectors=job.values,
                    embedder_key=embedder.embedder_key,
                    elapsed_ms=(ctx.clock.monotonic_s() - job.arrived_s) * 1000,
                    failure=failure,
                )
            )

    async def _run(
        self,
        job: PendingJob[Vector],
        message: EmbedTexts,
        embedder: TextEmbedder,
        ctx: ActorContext[EmbedderMessage],
    ) -> None:
        budget_s = message.deadline_s - ctx.clock.monotonic_s()
        if not job.missing or budget_s <= 0:
            return
        job_id = self._host.submit(
            [self._call(embedder, message.texts[place], job, place) for place in job.missing],
            deadline_s=message.deadline_s,
            owner=message.owner,
            is_bulk=message.is_bulk,
        )
        message.reply.watch(job.end)
        try:
            with anyio.move_on_after(budget_s):
                await job.wait_done()
        finally:
            self._host.cancel(job_id)

    def _call(self, embedder: TextEmbedder, text: EmbedText, job: PendingJob[Vector], place: int) -> Call[Vector]:
        def take(outcome: Outcome[Vector]) -> None:
            match outcome:
                case Returned(value=vector, started_s=started_s, elapsed_ms=elapsed_ms):
                    tokens = self._cost.estimate_tokens(len(text.text))
                    # Without characters: how many tokens they make is not known here, only assumed.
                    self._cost.observe(chars=0, tokens=tokens, elapsed_ms=elapsed_ms)
                    if text.is_kept:
                        self._cache.put((embedder.embedder_key, text.is_query, text.text), vector)
                    job.put(place, vector, started_s=started_s)
                case Raised(started_s=started_s):
                    # One text that the model cannot take must not keep the others of a batch from theirs.
                    job.fail(place, outcome.error_type, started_s=started_s)
                case Stopped():
                    pass  # whoever stopped it has ended the job
                case _:
                    assert_never(outcome)

        return Call(partial(embed_text, embedder, text), take)

    def _health(self, ctx: ActorContext[EmbedderMessage]) -> ModelHealth:
        embedder = self._host.model
        return ModelHealth(
            state=self._host.state,
            model_id=embedder.embedder_key if embedder is not None else "",
            detail=self._host.detail,
            queue_depth=ctx.address.depth + len(self._open),
            restarts=ctx.restarts,
            jobs=self._jobs,
            failures=self._failures,
        )
