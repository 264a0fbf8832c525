from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import msgspec
import pytest
from store_commands import DrivenStore
from virtual_time import LoopClock

from recalld.actors.kernel import ActorEscalated, Address, AskError, PostOutcome, Supervisor
from recalld.actors.store import STORE_ACTOR, InMemoryStore, StoreMessage, ask_store, store_spec
from recalld.actors.store.erasure import ERASURE_RETRY_S
from recalld.actors.store.ledger_buffer import BATCH_DELAY_S, BATCH_ROWS_MAX, RETRY_DELAY_S, WAITING_ROWS_MAX
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.reasons import AdmissionReason, Op, RememberOutcome
from recalld.models.domain.records import VectorRole
from recalld.models.domain.store import (
    AppendDecisions,
    Checkpoint,
    Checkpointed,
    DecisionRow,
    Expire,
    Expired,
    Forget,
    Forgotten,
    PutVectors,
    RecordTurn,
    Remember,
    Remembered,
    TextVector,
    TurnRecorded,
)

pytestmark = pytest.mark.anyio

FULL = RecalldError(ErrorCode.STORAGE_FULL, "Storage is full.")
BAD_ROW = RecalldError(ErrorCode.BAD_REQUEST, "A value cannot be stored.")
DEADLINE_S = 100.0


class ScriptedWriter:
    """A writer over the in-memory store that notes what it is asked and fails as told."""

    def __init__(self, store: InMemoryStore) -> None:
        self._writer = store.writer
        self.calls: list[str] = []
        self.batches: list[int] = []
        self.failure: Exception | None = None
        self.bad_ids: set[str] = set()
        self.readers = 0

    def _note(self, call: str) -> None:
        self.calls.append(call)
        if self.failure is not None:
            raise self.failure

    async def remember(self, command: Remember) -> Remembered:
        self._note("remember")
        return await self._writer.remember(command)

    async def record_turn(self, command: RecordTurn) -> TurnRecorded:
        self._note("record_turn")
        return await self._writer.record_turn(command)

    async def forget(self, command: Forget) -> Forgotten:
        self._note("forget")
        forgotten = await self._writer.forget(command)
        return msgspec.structs.replace(forgotten, is_erasure_pending=command.is_hard and self.readers > 0)

    async def put_vectors(self, command: PutVectors) -> bool:
        self._note("put_vectors")
        return await self._writer.put_vectors(command)

    async def append_decisions(self, command: AppendDecisions) -> None:
        self._note("append_decisions")
        if self.bad_ids & {row.id for row in command.rows}:
            raise BAD_ROW
        self.batches.append(len(command.rows))
        await self._writer.append_decisions(command)

    async def expire(self, command: Expire) -> Expired:
        self._note("expire")
        return await self._writer.expire(command)

    async def checkpoint(self, command: Checkpoint) -> Checkpointed:
        self._note("checkpoint")
        return await self._writer.checkpoint(command)

    async def truncate_log(self) -> Checkpointed:
        self._note("truncate_log")
        return Checkpointed(is_truncated=self.readers == 0, wal_bytes=0)


@dataclass
class Running:
    supervisor: Supervisor
    address: Address[StoreMessage]
    writer: ScriptedWriter
    store: InMemoryStore
    driven: DrivenStore
    dropped: list[int] = field(default_factory=list)

    def rows(self, count: int) -> tuple[DecisionRow, ...]:
        return tuple(self.driven.decision("ines", Op.RECALL) for _ in range(count))

    def post(self, count: int) -> tuple[DecisionRow, ...]:
        rows = self.rows(count)
        assert self.address.post(AppendDecisions(rows=rows)) is PostOutcome.ACCEPTED
        return rows

    async def has(self, rows: tuple[DecisionRow, ...]) -> bool:
        return [await self.store.reader.decision(row.id) for row in rows] == list(rows)


@asynccontextmanager
async def running() -> AsyncIterator[Running]:
    store = InMemoryStore(fold_key=b"k" * 32)
    writer = ScriptedWriter(store)
    dropped: list[int] = []
    restarts: list[tuple[str, str]] = []
    async with Supervisor(
        clock=LoopClock(), rng=random.Random(1), on_restart=lambda name, kind: restarts.append((name, kind))
    ) as supervisor:
        address = supervisor.start(store_spec(writer, dropped.append))
        driven = DrivenStore(store.reader, store.writer)
        yield Running(supervisor, address, writer, store, driven, dropped)
    assert restarts == []


async def test_every_command_is_carried_out_and_answered() -> None:
    async with running() as it:
        remember = it.driven.remember_command("Prefers tea")
        remembered = await ask_store(it.address, remember, deadline_s=DEADLINE_S)
        assert remembered.outcome is RememberOutcome.CREATED
        turn = RecordTurn(
            user="ines",
            turn_key="s\x1f1",
            reason=AdmissionReason.QUESTION,
            decision=it.driven.decision("ines", Op.OBSERVE),
        )
        assert (await ask_store(it.address, turn, deadline_s=DEADLINE_S)).reason is AdmissionReason.QUESTION
        vectors = PutVectors(
            user="ines",
            memory_id=remember.memory_id,
            revision=1,
            embedder_key="e",
            vectors=(TextVector(role=VectorRole.RECORD, ordinal=0, data=b"\0\0"),),
        )
        assert await ask_store(it.address, vectors, deadline_s=DEADLINE_S) is True
        assert (await ask_store(it.address, Expire(now_ms=0), deadline_s=DEADLINE_S)).count == 0
        forget = Forget(
            user="ines",
            memory_ids=(remember.memory_id,),
            now_ms=it.driven.now_ms,
            decision=it.driven.decision("ines", Op.FORGET),
        )
        assert (await ask_store(it.address, forget, deadline_s=DEADLINE_S)).ids == (remember.memory_id,)
        checkpoint = Checkpoint(now_ms=0, ledger_keep_ms=1)
        assert (await ask_store(it.address, checkpoint, deadline_s=DEADLINE_S)).is_truncated
        assert it.writer.calls == ["remember", "record_turn", "put_vectors", "expire", "forget", "checkpoint"]


async def test_an_operating_error_goes_to_the_asker_and_the_actor_goes_on() -> None:
    async with running() as it:
        it.writer.failure = FULL
        with pytest.raises(RecalldError) as caught:
            await ask_store(it.address, it.driven.remember_command("Prefers tea"), deadline_s=DEADLINE_S)
        assert caught.value.code is ErrorCode.STORAGE_FULL
        it.writer.failure = None
        remembered = await ask_store(it.address, it.driven.remember_command("Prefers tea"), deadline_s=DEADLINE_S)
        assert remembered.outcome is RememberOutcome.CREATED


async def test_any_other_failure_escalates_at_once() -> None:
    with pytest.raises(ActorEscalated) as caught:  # noqa: PT012 - it leaves the block, not the ask
        async with running() as it:
            it.post(1)
            it.writer.failure = OSError("the disk is gone")
            with pytest.raises(AskError):
                await ask_store(it.address, it.driven.remember_command("Prefers tea"), deadline_s=DEADLINE_S)
            await anyio.sleep(1)  # the escalation cancels this
    assert (caught.value.actor, caught.value.error_type) == (STORE_ACTOR, "OSError")
    assert it.dropped == [1]


async def test_ledger_rows_are_written_together_after_a_short_wait() -> None:
    async with running() as it:
        rows = it.post(1) + it.post(2)
        await anyio.sleep(BATCH_DELAY_S * 0.9)
        assert it.writer.batches == []
        await anyio.sleep(BATCH_DELAY_S * 0.2)
        assert it.writer.batches == [3]
        assert await it.has(rows)
        later = it.post(1)
        await anyio.sleep(BATCH_DELAY_S * 1.1)
        assert it.writer.batches == [3, 1]
        assert await it.has(later)


async def test_a_full_batch_does_not_wait() -> None:
    async with running() as it:
        it.post(BATCH_ROWS_MAX + 1)
        await anyio.sleep(BATCH_DELAY_S * 0.1)
        assert it.writer.batches == [BATCH_ROWS_MAX, 1]


async def test_rows_about_what_is_forgotten_are_in_the_ledger_before_it_is_cleaned() -> None:
    async with running() as it:
        await ask_store(it.address, it.driven.remember_command("Prefers tea", user="probe"), deadline_s=DEADLINE_S)
        row = it.driven.decision("probe", Op.RECALL)
        it.address.post(AppendDecisions(rows=(row,)))
        purge = Forget(user="probe", memory_ids=("mem-0001",), now_ms=0, is_purge=True, decision=row)
        await ask_store(it.address, purge, deadline_s=DEADLINE_S)
        await anyio.sleep(BATCH_DELAY_S * 2)
        assert await it.store.reader.decision(row.id) is None


async def test_what_a_reader_kept_in_the_log_is_erased_within_seconds_of_its_end() -> None:
    async with running() as it:
        it.writer.readers = 1
        forget = Forget(
            user="ines", memory_ids=(), now_ms=0, is_hard=True, decision=it.driven.decision("ines", Op.FORGET)
        )
        for _ in range(2):
            assert (await ask_store(it.address, forget, deadline_s=DEADLINE_S)).is_erasure_pending
        await anyio.sleep(2.5 * ERASURE_RETRY_S)
        assert it.writer.calls.count("truncate_log") == 2
        it.writer.failure = FULL  # an attempt that fails is followed by another one
        await anyio.sleep(ERASURE_RETRY_S)
        it.writer.failure = None
        it.writer.readers = 0
        await anyio.sleep(10 * ERASURE_RETRY_S)
        assert it.writer.calls.count("truncate_log") == 4


async def test_what_is_erased_at_once_needs_no_second_attempt() -> None:
    async with running() as it:
        forget = Forget(
            user="ines", memory_ids=(), now_ms=0, is_hard=True, decision=it.driven.decision("ines", Op.FORGET)
        )
        assert not (await ask_store(it.address, forget, deadline_s=DEADLINE_S)).is_erasure_pending
        await anyio.sleep(10 * ERASURE_RETRY_S)
        assert "truncate_log" not in it.writer.calls


async def test_rows_that_still_wait_are_written_when_the_actor_drains() -> None:
    async with running() as it:
        rows = it.post(3)
        await it.supervisor.drain(STORE_ACTOR, deadline_s=anyio.current_time() + 5)
        assert await it.has(rows)
    assert it.dropped == []


async def test_rows_that_still_wait_are_written_when_the_actor_is_killed() -> None:
    async with running() as it:
        rows = it.post(3)
        await anyio.sleep(BATCH_DELAY_S * 0.1)
        await it.supervisor.kill(STORE_ACTOR)
        assert await it.has(rows)


async def test_rows_refused_for_want_of_room_are_tried_again_until_there_is_room() -> None:
    async with running() as it:
        it.writer.failure = FULL
        rows = it.post(3)
        await anyio.sleep(BATCH_DELAY_S + 2.5 * RETRY_DELAY_S)
        assert it.writer.calls.count("append_decisions") == 3
        it.writer.failure = None
        await anyio.sleep(RETRY_DELAY_S)
        assert await it.has(rows)
    assert it.dropped == []


async def test_a_refused_batch_does_not_stop_other_commands() -> None:
    async with running() as it:
        it.writer.failure = FULL
        it.post(BATCH_ROWS_MAX)
        await anyio.sleep(BATCH_DELAY_S)
        it.writer.failure = None
        remembered = await ask_store(it.address, it.driven.remember_command("Prefers tea"), deadline_s=DEADLINE_S)
        assert remembered.outcome is RememberOutcome.CREATED


async def test_beyond_its_bound_the_oldest_rows_are_given_up_and_counted() -> None:
    async with running() as it:
        it.writer.failure = FULL
        oldest = it.post(10)
        kept = it.post(WAITING_ROWS_MAX)
        await anyio.sleep(BATCH_DELAY_S)
        assert it.dropped == [10]
        it.writer.failure = None
        await anyio.sleep(RETRY_DELAY_S * 2)
        assert await it.has(kept)
        assert await it.store.reader.decision(oldest[0].id) is None


async def test_one_unstorable_row_does_not_keep_the_others_waiting() -> None:
    async with running() as it:
        rows = it.post(5)
        it.writer.bad_ids = {rows[2].id}
        await anyio.sleep(BATCH_DELAY_S * 1.1)
        assert await it.has(rows[:2] + rows[3:])
        assert it.dropped == [1]
