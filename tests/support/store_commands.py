"""A store driven with few words: commands with defaults, ids in sequence, and time that the test sets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict, Unpack

import msgspec

from recalld.actors.ports import MemoryReader, MemoryWriter
from recalld.models.domain.cues import MemoryChanges
from recalld.models.domain.outcomes import OutcomeResult, RecordOutcome
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import MemoryKind, MemorySource, NewMemory, TextOrigin, VectorRole
from recalld.models.domain.standing import SetStanding, StandingAction, StandingCandidates, StandingSet
from recalld.models.domain.store import (
    AppendDecisions,
    DecisionRow,
    Expire,
    Expired,
    Forget,
    Forgotten,
    ListFilter,
    PutVectors,
    RecordTurn,
    Remember,
    Remembered,
    TextVector,
    TurnRecorded,
    Update,
    Updated,
)
from recalld.models.policy.terms import query_terms

EMBEDDER = "embedder-a"
OTHER_EMBEDDER = "embedder-b"
DAY_MS = 86_400_000


class StandingClock:
    """A clock that stands still."""

    def __init__(self, at_ms: int = 1_790_000_000_000) -> None:
        self.at_ms = at_ms

    def monotonic_s(self) -> float:
        return self.at_ms / 1000

    def now_ms(self) -> int:
        return self.at_ms


class MemoryOptions(TypedDict, total=False):
    """Fields of a new memory that a test may set."""

    kind: MemoryKind
    scope: str
    cues: tuple[str, ...]
    asks: tuple[str, ...]
    source: MemorySource
    expires_at_ms: int | None
    added_cues: int
    added_asks: int


class ChangeOptions(TypedDict, total=False):
    """What of a memory a test may change."""

    cues: tuple[str, ...] | None
    asks: tuple[str, ...] | None
    kind: MemoryKind | None
    scope: str | None
    expires_at_ms: int | None
    origin: TextOrigin


def vectors_of(memory: NewMemory, value: int = 1) -> tuple[TextVector, ...]:
    """A vector for each text of a memory; what is in them does not matter to a store."""
    texts = ((VectorRole.RECORD, 1), (VectorRole.CUE, len(memory.cues)), (VectorRole.ASK, len(memory.asks)))
    return tuple(
        TextVector(role=role, ordinal=ordinal, data=bytes([value, ordinal] * 4))
        for role, count in texts
        for ordinal in range(count)
    )


@dataclass
class DrivenStore:
    """A store and the hand that drives it. Ids are `mem-1`, `dec-1` and so on; each write is a second later."""

    reader: MemoryReader
    writer: MemoryWriter
    now_ms: int = 1_790_000_000_000
    memories: int = 0
    decisions: int = 0
    user: str = "ines"
    written: list[str] = field(default_factory=list)

    def decision(self, user: str, op: Op, body: bytes = b"{}", decision: str = "kept") -> DecisionRow:
        """A ledger row."""
        self.decisions += 1
        return DecisionRow(
            id=f"dec-{self.decisions}",
            user=user,
            session="s",
            op=op,
            at_ms=self.now_ms,
            decision=decision,
            reason="explicit_save" if decision else "",
            body=body,
        )

    def remember_command(
        self,
        text: str,
        *,
        user: str | None = None,
        is_explicit: bool = True,
        is_embedded: bool = False,
        turn_key: str = "",
        memory_id: str = "",
        body: bytes = b"{}",
        decision: str = "kept",
        **options: Unpack[MemoryOptions],
    ) -> Remember:
        """A command to store a text."""
        self.now_ms += 1_000
        self.memories += 1
        memory = NewMemory(user=self.user if user is None else user, text=text, **options)
        return Remember(
            memory=memory,
            memory_id=memory_id or f"mem-{self.memories:04}",
            now_ms=self.now_ms,
            is_explicit=is_explicit,
            embedder_key=EMBEDDER if is_embedded else "",
            vectors=vectors_of(memory) if is_embedded else (),
            decision=self.decision(memory.user, Op.REMEMBER, body, decision),
            turn_key=turn_key,
        )

    async def remember(
        self,
        text: str,
        *,
        user: str | None = None,
        is_explicit: bool = True,
        is_embedded: bool = False,
        turn_key: str = "",
        memory_id: str = "",
        body: bytes = b"{}",
        decision: str = "kept",
        **options: Unpack[MemoryOptions],
    ) -> Remembered:
        """Store a text."""
        command = self.remember_command(
            text,
            user=user,
            is_explicit=is_explicit,
            is_embedded=is_embedded,
            turn_key=turn_key,
            memory_id=memory_id,
            body=body,
            decision=decision,
            **options,
        )
        return await self.writer.remember(command)

    async def store(self, text: str, *, user: str | None = None, **options: Unpack[MemoryOptions]) -> str:
        """Store a new text; its id is returned."""
        remembered = await self.remember(text, user=user, **options)
        assert remembered.memory is not None
        return remembered.memory.id

    async def forget(
        self, *memory_ids: str, user: str | None = None, is_hard: bool = False, is_purge: bool = False
    ) -> Forgotten:
        """Forget memories."""
        self.now_ms += 1_000
        user = self.user if user is None else user
        return await self.writer.forget(
            Forget(
                user=user,
                memory_ids=memory_ids,
                now_ms=self.now_ms,
                is_hard=is_hard,
                is_purge=is_purge,
                decision=self.decision(user, Op.FORGET),
            )
        )

    async def record_turn(self, turn_key: str, reason: AdmissionReason) -> TurnRecorded:
        """Note that a turn led to nothing."""
        decision = self.decision(self.user, Op.OBSERVE)
        return await self.writer.record_turn(
            RecordTurn(user=self.user, turn_key=turn_key, reason=reason, decision=decision)
        )

    async def embed(
        self,
        memory_id: str,
        *,
        user: str | None = None,
        revision: int = 1,
        embedder_key: str = EMBEDDER,
        value: int = 1,
    ) -> bool:
        """Attach one vector to a memory."""
        vectors = (TextVector(role=VectorRole.RECORD, ordinal=0, data=bytes([value, 0] * 4)),)
        return await self.writer.put_vectors(
            PutVectors(
                user=self.user if user is None else user,
                memory_id=memory_id,
                revision=revision,
                embedder_key=embedder_key,
                vectors=vectors,
            )
        )

    async def update(
        self,
        memory_id: str,
        *,
        user: str | None = None,
        if_revision: int | None = None,
        vectors: tuple[TextVector, ...] = (),
        embedder_key: str = "",
        **changes: Unpack[ChangeOptions],
    ) -> Updated:
        """Change a memory."""
        self.now_ms += 1_000
        user = self.user if user is None else user
        return await self.writer.update(
            Update(
                user=user,
                memory_id=memory_id,
                changes=MemoryChanges(**changes),
                if_revision=if_revision,
                now_ms=self.now_ms,
                embedder_key=embedder_key,
                vectors=vectors,
                decision=self.decision(user, Op.UPDATE, decision="updated"),
            )
        )

    async def expire(self) -> Expired:
        """Sweep what has expired by now."""
        return await self.writer.expire(Expire(now_ms=self.now_ms))

    async def found(
        self, question: str, *, user: str | None = None, limit: int = 20, scope: str | None = None
    ) -> list[str]:
        """Ids of what the words of a question find, best first."""
        hits = await self.reader.lexical(
            self.user if user is None else user, query_terms(question), now_ms=self.now_ms, limit=limit, scope=scope
        )
        return [hit.memory_id for hit in hits]

    async def listed(self, user: str | None = None, what: ListFilter | None = None) -> list[str]:
        """Ids of live memories, newest first."""
        page = await self.reader.list_memories(
            self.user if user is None else user, what or ListFilter(), now_ms=self.now_ms, limit=100, cursor=None
        )
        return [memory.id for memory in page.memories]

    async def report(
        self,
        decision_id: str,
        result: OutcomeResult = OutcomeResult.USED,
        memory_id: str = "",
        *,
        user: str | None = None,
    ) -> bool:
        """Report an outcome; whether it was new."""
        self.now_ms += 1_000
        command = RecordOutcome(
            user=self.user if user is None else user,
            decision_id=decision_id,
            memory_id=memory_id,
            result=result,
            at_ms=self.now_ms - 500,
            now_ms=self.now_ms,
        )
        return (await self.writer.record_outcome(command)).is_new

    async def show(self, *memory_ids: str, user: str | None = None, op: Op = Op.RECALL) -> str:
        """Note in the ledger that memories were shown; the id of the decision is returned."""
        body = msgspec.json.encode({"items": [{"memory_id": memory_id} for memory_id in memory_ids]})
        row = self.decision(self.user if user is None else user, op, body)
        await self.writer.append_decisions(AppendDecisions(rows=(row,)))
        return row.id

    async def choose(self, memory_id: str, action: StandingAction, *, user: str | None = None) -> StandingSet:
        """Decide about a memory and the standing block."""
        self.now_ms += 1_000
        user = self.user if user is None else user
        decision = self.decision(user, Op.SET_STANDING, decision=action.value)
        return await self.writer.set_standing(
            SetStanding(user=user, memory_id=memory_id, action=action, now_ms=self.now_ms, decision=decision)
        )

    async def standing(self, scope: str = "", *, user: str | None = None, limit: int = 500) -> StandingCandidates:
        """What may stand in a block."""
        return await self.reader.standing_candidates(
            self.user if user is None else user, scope, now_ms=self.now_ms, limit=limit
        )
