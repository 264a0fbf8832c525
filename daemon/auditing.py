"""Audits, put together: who keeps samples, who lists and marks them, and what they say of the gates."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np

from recalld.actors.asking import as_operating_error
from recalld.actors.inference_thread.spec import model_actor_spec
from recalld.actors.kernel import ActorSpec, Address, AskError
from recalld.actors.kernel.bounds import SAMPLING_MAILBOX_MAX
from recalld.actors.ports import Clock, MemoryReader
from recalld.actors.sampling.actor import SamplingActor, SamplingMessage, SamplingRules
from recalld.actors.store import StoreMessage, ask_store
from recalld.actors.text_work import TextWork
from recalld.daemon.config import Settings
from recalld.models.domain.audit_samples import AuditReport, MarkSample, SampleGroup, SampleKind, ShownSamples
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.lab.estimate import audit_report
from recalld.models.lab.ledger.report import ledger_report

ESTIMATE_SEED: Final = 20_250_101
"""The same marks always give the same figures."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditDesk:
    """Lists and marks samples.

    Attributes:
        reader: Where samples are read.
        store: The store actor.
        clock: Time.
    """

    reader: MemoryReader
    store: Address[StoreMessage]
    clock: Clock

    async def samples(self, user: str, kinds: tuple[SampleKind, ...], *, is_marked: bool, limit: int) -> ShownSamples:
        """The newest samples of some kinds, or without any of all.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        page = await self.reader.audit_samples(user, kinds or tuple(SampleKind), is_marked=is_marked, limit=limit)
        ids = tuple(dict.fromkeys(sample.memory_id for sample in page.samples if sample.memory_id))
        return ShownSamples(page=page, memories=await self.reader.memories(user, ids) if ids else {})

    async def mark(self, command: MarkSample, *, deadline_s: float) -> None:
        """Note what somebody says of a sample.

        Raises:
            RecalldError: `NOT_FOUND`, `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`.
        """
        try:
            await ask_store(self.store, command, deadline_s=deadline_s)
        except AskError as error:
            raise as_operating_error(error, "the store") from error

    async def report(self, user: str | None, *, since_ms: int) -> AuditReport:
        """What audits say of the gates, of a user or (None) of all.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        groups = await self.reader.audit_counts(user, since_ms=since_ms)
        turns = await self._turns(user, groups) if any(each.kind is SampleKind.RECORD for each in groups) else 0
        return audit_report(groups, turns=turns, rng=np.random.default_rng(ESTIMATE_SEED))

    async def _turns(self, user: str | None, groups: tuple[SampleGroup, ...]) -> int:
        """Turns of users that were decided about since the oldest sample."""
        since_ms = min(each.first_at_ms for each in groups)
        tallies = await self.reader.ledger_tallies(user, since_ms=since_ms, now_ms=self.clock.now_ms())
        return sum(
            each.share.k
            for each in ledger_report(tallies).decisions
            if each.op == Op.OBSERVE and each.reason != AdmissionReason.NOT_USER_SPEAKER
        )


def sampling_spec(
    settings: Settings,
    store: Address[StoreMessage],
    *,
    clock: Clock,
    text_work: TextWork,
    counters: Counter[str],
    key: bytes,
) -> ActorSpec[SamplingMessage]:
    """The actor that keeps samples.

    Args:
        settings: In force.
        store: The store actor.
        clock: Time.
        text_work: Takes long texts off the event loop.
        counters: The daemon's counters.
        key: Of chance.
    """
    audit = settings.audit
    rules = SamplingRules(rate=audit.sample_rate, keeps_text=audit.text, rows_max=audit.max_rows, key=key)
    # Supervised like a model: what users do not see must never end the daemon, however often it fails.
    return model_actor_spec(
        name="sampling",
        build=lambda: SamplingActor(store, clock=clock, text_work=text_work, rules=rules, counters=counters),
        mailbox_max=SAMPLING_MAILBOX_MAX,
    )
