"""Housekeeping: expiry, embedding of what was stored without vectors, checkpoints. Nothing a user waits for."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.saving import Vectors, embed_memory
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.kernel import Actor, ActorContext
from recalld.actors.maintenance.messages import EmbedPending, MaintenanceMessage, Tick
from recalld.actors.store import ask_store
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import DegradedReason
from recalld.models.domain.records import Memory
from recalld.models.domain.store import Checkpoint, Expire, PutVectors

BATCH = 32
"""Memories embedded before looking again at what is pending."""
BULK_DEADLINE_S = 30.0
"""Seconds one memory may wait for its vectors: bulk work yields to every query."""
STORE_DEADLINE_S = 30.0
"""Seconds a maintenance transaction may wait behind users' writes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Upkeep:
    """How often what is done.

    Attributes:
        tick_s: Seconds between two looks.
        checkpoint_s: Seconds between two checkpoints.
        ledger_keep_ms: Milliseconds a ledger row is kept.
        samples_keep_ms: Milliseconds a sample for audits is kept.
    """

    tick_s: float = 5.0
    checkpoint_s: float = 60.0
    ledger_keep_ms: int = 90 * 86_400_000
    samples_keep_ms: int = 30 * 86_400_000


class MaintenanceActor(Actor[MaintenanceMessage]):
    """Does what is due, one thing after another.

    Args:
        deps: Store, embedder and clock.
        embedder_key: Key of the configured embedder: memories without vectors under it are pending.
        upkeep: How often what is done.
    """

    def __init__(self, deps: AdmissionDependencies, *, embedder_key: str, upkeep: Upkeep) -> None:
        self._deps = deps
        self._embedder_key = embedder_key
        self._upkeep = upkeep
        self._checkpointed_s = deps.clock.monotonic_s()
        self._is_embedding = False

    async def started(self, ctx: ActorContext[MaintenanceMessage]) -> None:
        """Start the clockwork."""
        ctx.spawn(self._tick, ctx, name="tick", is_background=True)

    async def _tick(self, ctx: ActorContext[MaintenanceMessage]) -> None:
        while True:
            await anyio.sleep(self._upkeep.tick_s)
            ctx.address.post(Tick())

    async def handle(self, message: MaintenanceMessage, ctx: ActorContext[MaintenanceMessage]) -> None:
        """Do what is due. A store that is full or busy is tried again at the next tick."""
        self._embed_in_background(ctx)
        try:
            match message:
                case EmbedPending():
                    return
                case Tick():
                    await self._expire()
                    await self._checkpoint()
        except RecalldError:
            return

    def _embed_in_background(self, ctx: ActorContext[MaintenanceMessage]) -> None:
        """Start embedding what is pending, unless that is under way.

        Embedding thousands of memories takes minutes: expiry and checkpoints do not wait for it, and neither does the
        end of the daemon.
        """
        if not self._is_embedding and not ctx.is_draining:
            self._is_embedding = True
            ctx.spawn(self._embed_pending, name="embed pending", is_background=True)

    async def _expire(self) -> None:
        command = Expire(now_ms=self._deps.clock.now_ms())
        await answered_by_store(ask_store(self._deps.store, command, deadline_s=self._store_deadline_s()))

    async def _checkpoint(self) -> None:
        now_s = self._deps.clock.monotonic_s()
        if now_s - self._checkpointed_s < self._upkeep.checkpoint_s:
            return
        self._checkpointed_s = now_s
        command = Checkpoint(
            now_ms=self._deps.clock.now_ms(),
            ledger_keep_ms=self._upkeep.ledger_keep_ms,
            samples_keep_ms=self._upkeep.samples_keep_ms,
        )
        await answered_by_store(ask_store(self._deps.store, command, deadline_s=self._store_deadline_s()))

    async def _embed_pending(self) -> None:
        try:
            await self._embed_all()
        except RecalldError:
            return
        finally:
            self._is_embedding = False

    async def _embed_all(self) -> None:
        """Embed until nothing is pending, or the embedder or the store stops answering."""
        deps = self._deps
        passed_over: set[str] = set()
        while True:
            pending = await deps.reader.pending(
                self._embedder_key, now_ms=deps.clock.now_ms(), limit=BATCH + len(passed_over)
            )
            waiting = [each.memory for each in pending if each.memory.id not in passed_over]
            if not waiting:
                return
            for memory in waiting:
                deadline_s = deps.clock.monotonic_s() + BULK_DEADLINE_S
                made = await embed_memory(deps, memory, deadline_s=deadline_s, is_bulk=True)
                if made.failure is DegradedReason.EMBED_FAILED:
                    # One text that the model cannot take must not keep all later ones from their vectors.
                    passed_over.add(memory.id)
                elif made.embedder_key != self._embedder_key:
                    return
                elif not await self._attach(memory, made):
                    passed_over.add(memory.id)

    async def _attach(self, memory: Memory, made: Vectors) -> bool:
        """Store the vectors; False when the memory changed or went away meanwhile."""
        command = PutVectors(
            user=memory.user,
            memory_id=memory.id,
            revision=memory.revision,
            embedder_key=made.embedder_key,
            vectors=made.vectors,
        )
        return await answered_by_store(ask_store(self._deps.store, command, deadline_s=self._store_deadline_s()))

    def _store_deadline_s(self) -> float:
        return self._deps.clock.monotonic_s() + STORE_DEADLINE_S
