"""A store that can be told to fail, to be full, or to take its time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import anyio

from recalld.actors.ports import MemoryReader, MemoryWriter
from recalld.models.domain.admission_store import (
    AdmitTurn,
    Confirm,
    Confirmed,
    Lineage,
    ObservationPage,
    ObservationSettled,
    ProposalPage,
    ProposalState,
    SettleObservation,
    SlotHolder,
    TurnAdmitted,
)
from recalld.models.domain.audit import NoteAudit
from recalld.models.domain.audit_samples import AppendSamples, MarkSample, SampleGroup, SampleKind, SamplePage
from recalld.models.domain.drift import DecisionSample
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.extraction import AppendPending, PendingCounts, PendingTurn, SettlePending
from recalld.models.domain.ledger_tally import LedgerTallies
from recalld.models.domain.outcomes import OutcomeRecorded, OutcomeTally, RecordOutcome
from recalld.models.domain.records import Memory, MemoryKind
from recalld.models.domain.standing import MemoryOutcomes, SetStanding, StandingCandidates, StandingSet
from recalld.models.domain.store import (
    AppendDecisions,
    Checkpoint,
    Checkpointed,
    DecisionRow,
    Expire,
    Expired,
    Forget,
    Forgotten,
    FoundByWords,
    IndexDelta,
    IndexPage,
    LexicalHit,
    ListFilter,
    MemoryPage,
    NoteCounts,
    PendingEmbedding,
    PutVectors,
    RecordTurn,
    Remember,
    Remembered,
    StoreCounts,
    StoreHealth,
    TurnRecorded,
    Update,
    Updated,
)
from recalld.models.domain.time_window import TimeWindow
from recalld.models.domain.usage import Usage
from recalld.models.domain.user_data import ExportPage, ImportMemories, MemoriesImported, PurgeUser, UserPurged


@dataclass
class Trouble:
    """What a side of the store does before it obeys; `calls` counts by method name."""

    code: ErrorCode | None = None
    delay_s: float = 0.0
    slow_s: dict[str, float] = field(default_factory=dict)
    """Seconds that single methods take on top."""
    crash: BaseException | None = None
    """Raised as it is: what no store should raise."""
    calls: dict[str, int] = field(default_factory=dict)
    unreadable: set[str] = field(default_factory=set)
    """Ids of memories whose rows cannot be read as one."""

    async def meet(self, method: str) -> None:
        self.calls[method] = self.calls.get(method, 0) + 1
        delay_s = self.delay_s + self.slow_s.get(method, 0.0)
        if delay_s:
            await anyio.sleep(delay_s)
        if self.crash is not None:
            raise self.crash
        if self.code is not None:
            raise RecalldError(self.code, f"scripted: {self.code}")


class FaultyReader:
    """A `MemoryReader` around another one."""

    def __init__(self, reader: MemoryReader, trouble: Trouble) -> None:
        self._reader = reader
        self._trouble = trouble

    def seq(self, user: str) -> int:
        return self._reader.seq(user)

    async def load_seq(self, user: str) -> int:
        return await self._reader.load_seq(user)

    async def memory(self, user: str, memory_id: str) -> Memory | None:
        await self._trouble.meet("memory")
        return await self._reader.memory(user, memory_id)

    async def memories(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        await self._trouble.meet("memories")
        found = await self._reader.memories(user, memory_ids)
        return {id_: memory for id_, memory in found.items() if id_ not in self._trouble.unreadable}

    async def erasable(self, user: str, memory_ids: Sequence[str]) -> dict[str, Memory]:
        await self._trouble.meet("erasable")
        return await self._reader.erasable(user, memory_ids)

    async def list_memories(
        self, user: str, what: ListFilter, *, now_ms: int, limit: int, cursor: str | None
    ) -> MemoryPage:
        await self._trouble.meet("list_memories")
        return await self._reader.list_memories(user, what, now_ms=now_ms, limit=limit, cursor=cursor)

    async def lexical(
        self,
        user: str,
        terms: Sequence[str],
        *,
        now_ms: int,
        limit: int,
        scope: str | None,
        windows: Sequence[TimeWindow] = (),
    ) -> list[LexicalHit]:
        await self._trouble.meet("lexical")
        return await self._reader.lexical(user, terms, now_ms=now_ms, limit=limit, scope=scope, windows=windows)

    async def found_by_words(
        self,
        user: str,
        terms: Sequence[str],
        *,
        now_ms: int,
        limit: int,
        scope: str | None,
        windows: Sequence[TimeWindow] = (),
        kinds: Collection[MemoryKind] = (),
    ) -> FoundByWords:
        # Whatever befalls either of the looks that it stands for befalls it.
        await self._trouble.meet("lexical")
        found = await self._reader.found_by_words(
            user, terms, now_ms=now_ms, limit=limit, scope=scope, windows=windows, kinds=kinds
        )
        if found.hits:
            await self._trouble.meet("memories")
        readable = {id_: memory for id_, memory in found.memories.items() if id_ not in self._trouble.unreadable}
        return FoundByWords(hits=found.hits, memories=readable)

    async def posted(self, user: str, terms: Sequence[str]) -> frozenset[str]:
        await self._trouble.meet("posted")
        return await self._reader.posted(user, terms)

    async def within(
        self, user: str, windows: Sequence[TimeWindow], *, now_ms: int, limit: int, scope: str | None
    ) -> list[Memory]:
        await self._trouble.meet("within")
        return await self._reader.within(user, windows, now_ms=now_ms, limit=limit, scope=scope)

    async def index_delta(self, user: str, embedder_key: str, *, since_seq: int, now_ms: int) -> IndexDelta:
        await self._trouble.meet("index_delta")
        return await self._reader.index_delta(user, embedder_key, since_seq=since_seq, now_ms=now_ms)

    async def index_page(self, user: str, embedder_key: str, *, after: str, now_ms: int) -> IndexPage:
        await self._trouble.meet("index_page")
        return await self._reader.index_page(user, embedder_key, after=after, now_ms=now_ms)

    async def pending(self, embedder_key: str, *, now_ms: int, limit: int) -> list[PendingEmbedding]:
        await self._trouble.meet("pending")
        return await self._reader.pending(embedder_key, now_ms=now_ms, limit=limit)

    async def counts(
        self,
        user: str,
        embedder_key: str,
        *,
        now_ms: int,
        scope: str | None = None,
        windows: Sequence[TimeWindow] = (),
    ) -> StoreCounts:
        await self._trouble.meet("counts")
        return await self._reader.counts(user, embedder_key, now_ms=now_ms, scope=scope, windows=windows)

    async def decision(self, decision_id: str) -> DecisionRow | None:
        await self._trouble.meet("decision")
        return await self._reader.decision(decision_id)

    async def decision_samples(self, user: str, *, limit: int) -> tuple[DecisionSample, ...]:
        await self._trouble.meet("decision_samples")
        return await self._reader.decision_samples(user, limit=limit)

    async def deciding_users(self, *, since_ms: int, limit: int) -> tuple[str, ...]:
        await self._trouble.meet("deciding_users")
        return await self._reader.deciding_users(since_ms=since_ms, limit=limit)

    async def ledger_tallies(self, user: str | None, *, since_ms: int | None, now_ms: int) -> LedgerTallies:
        await self._trouble.meet("ledger_tallies")
        return await self._reader.ledger_tallies(user, since_ms=since_ms, now_ms=now_ms)

    async def audit_samples(self, user: str, kinds: Sequence[SampleKind], *, is_marked: bool, limit: int) -> SamplePage:
        await self._trouble.meet("audit_samples")
        return await self._reader.audit_samples(user, kinds, is_marked=is_marked, limit=limit)

    async def audit_counts(self, user: str | None, *, since_ms: int) -> tuple[SampleGroup, ...]:
        await self._trouble.meet("audit_counts")
        return await self._reader.audit_counts(user, since_ms=since_ms)

    async def outcomes(self, user: str, memory_ids: Sequence[str]) -> dict[str, OutcomeTally]:
        await self._trouble.meet("outcomes")
        return await self._reader.outcomes(user, memory_ids)

    async def reported(self, user: str, *, memory_id: str = "", decision_id: str = "", limit: int) -> MemoryOutcomes:
        await self._trouble.meet("reported")
        return await self._reader.reported(user, memory_id=memory_id, decision_id=decision_id, limit=limit)

    async def standing_candidates(self, user: str, scope: str, *, now_ms: int, limit: int) -> StandingCandidates:
        await self._trouble.meet("standing_candidates")
        return await self._reader.standing_candidates(user, scope, now_ms=now_ms, limit=limit)

    async def observations(self, user: str, *, since_ms: int, limit: int, cursor: str | None) -> ObservationPage:
        await self._trouble.meet("observations")
        return await self._reader.observations(user, since_ms=since_ms, limit=limit, cursor=cursor)

    async def proposals(
        self, user: str, states: Sequence[ProposalState], *, now_ms: int, limit: int, cursor: str | None
    ) -> ProposalPage:
        await self._trouble.meet("proposals")
        return await self._reader.proposals(user, states, now_ms=now_ms, limit=limit, cursor=cursor)

    async def lineage(self, user: str, memory_id: str, *, now_ms: int) -> Lineage | None:
        await self._trouble.meet("lineage")
        return await self._reader.lineage(user, memory_id, now_ms=now_ms)

    async def usage(self, user: str, scope: str, *, now_ms: int) -> Usage:
        await self._trouble.meet("usage")
        return await self._reader.usage(user, scope, now_ms=now_ms)

    async def slot_holders(
        self, user: str, scope: str, slot: str, subject: str = "", *, now_ms: int
    ) -> tuple[SlotHolder, ...]:
        await self._trouble.meet("slot_holders")
        return await self._reader.slot_holders(user, scope, slot, subject, now_ms=now_ms)

    async def pending_turns(self, user: str, *, limit: int) -> tuple[PendingTurn, ...]:
        await self._trouble.meet("pending_turns")
        return await self._reader.pending_turns(user, limit=limit)

    async def pending_users(self) -> tuple[str, ...]:
        await self._trouble.meet("pending_users")
        return await self._reader.pending_users()

    async def pending_counts(self, user: str | None) -> PendingCounts:
        await self._trouble.meet("pending_counts")
        return await self._reader.pending_counts(user)

    async def notes_with(self, user: str, words: Sequence[str]) -> NoteCounts:
        await self._trouble.meet("notes_with")
        return await self._reader.notes_with(user, words)

    async def exported(self, user: str, *, now_ms: int, limit: int, cursor: str | None) -> ExportPage:
        await self._trouble.meet("exported")
        return await self._reader.exported(user, now_ms=now_ms, limit=limit, cursor=cursor)

    async def health(self, embedder_key: str, *, now_ms: int) -> StoreHealth:
        await anyio.sleep(self._trouble.slow_s.get("health", 0.0))
        return await self._reader.health(embedder_key, now_ms=now_ms)


class FaultyWriter:
    """A `MemoryWriter` around another one."""

    def __init__(self, writer: MemoryWriter, trouble: Trouble) -> None:
        self._writer = writer
        self._trouble = trouble

    async def remember(self, command: Remember) -> Remembered:
        await self._trouble.meet("remember")
        return await self._writer.remember(command)

    async def record_turn(self, command: RecordTurn) -> TurnRecorded:
        await self._trouble.meet("record_turn")
        return await self._writer.record_turn(command)

    async def admit_turn(self, command: AdmitTurn) -> TurnAdmitted:
        await self._trouble.meet("admit_turn")
        return await self._writer.admit_turn(command)

    async def confirm(self, command: Confirm) -> Confirmed:
        await self._trouble.meet("confirm")
        return await self._writer.confirm(command)

    async def settle_observation(self, command: SettleObservation) -> ObservationSettled:
        await self._trouble.meet("settle_observation")
        return await self._writer.settle_observation(command)

    async def import_memories(self, command: ImportMemories) -> MemoriesImported:
        await self._trouble.meet("import_memories")
        return await self._writer.import_memories(command)

    async def purge_user(self, command: PurgeUser) -> UserPurged:
        await self._trouble.meet("purge_user")
        return await self._writer.purge_user(command)

    async def forget(self, command: Forget) -> Forgotten:
        await self._trouble.meet("forget")
        return await self._writer.forget(command)

    async def put_vectors(self, command: PutVectors) -> bool:
        await self._trouble.meet("put_vectors")
        return await self._writer.put_vectors(command)

    async def update(self, command: Update) -> Updated:
        await self._trouble.meet("update")
        return await self._writer.update(command)

    async def record_outcome(self, command: RecordOutcome) -> OutcomeRecorded:
        await self._trouble.meet("record_outcome")
        return await self._writer.record_outcome(command)

    async def append_pending(self, command: AppendPending) -> bool:
        await self._trouble.meet("append_pending")
        return await self._writer.append_pending(command)

    async def settle_pending(self, command: SettlePending) -> PendingCounts:
        await self._trouble.meet("settle_pending")
        return await self._writer.settle_pending(command)

    async def set_standing(self, command: SetStanding) -> StandingSet:
        await self._trouble.meet("set_standing")
        return await self._writer.set_standing(command)

    async def note_audit(self, command: NoteAudit) -> None:
        await self._trouble.meet("note_audit")
        await self._writer.note_audit(command)

    async def append_samples(self, command: AppendSamples) -> int:
        await self._trouble.meet("append_samples")
        return await self._writer.append_samples(command)

    async def mark_sample(self, command: MarkSample) -> None:
        await self._trouble.meet("mark_sample")
        await self._writer.mark_sample(command)

    async def append_decisions(self, command: AppendDecisions) -> None:
        await self._trouble.meet("append_decisions")
        await self._writer.append_decisions(command)

    async def expire(self, command: Expire) -> Expired:
        await self._trouble.meet("expire")
        return await self._writer.expire(command)

    async def checkpoint(self, command: Checkpoint) -> Checkpointed:
        await self._trouble.meet("checkpoint")
        return await self._writer.checkpoint(command)

    async def truncate_log(self) -> Checkpointed:
        await self._trouble.meet("truncate_log")
        return await self._writer.truncate_log()
