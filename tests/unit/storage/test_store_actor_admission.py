"""The store actor carries out the write path's commands, and lets no late ledger row outlive a purged user."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from admission_commands import fact, open_decision
from store_commands import DrivenStore
from virtual_time import LoopClock

from recalld.actors.kernel import Address, Supervisor
from recalld.actors.store import InMemoryStore, StoreMessage, ask_store, store_spec
from recalld.actors.store.ledger_buffer import BATCH_DELAY_S
from recalld.models.domain.admission_store import AdmitTurn, Confirm, FactOutcome
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Disposition
from recalld.models.domain.reasons import Op
from recalld.models.domain.store import AppendDecisions
from recalld.models.domain.user_data import ImportMemories, ImportOutcome, PortableMemory, PurgeUser

pytestmark = pytest.mark.anyio

DEADLINE_S = 100.0


@asynccontextmanager
async def running() -> AsyncIterator[tuple[Address[StoreMessage], DrivenStore]]:
    store = InMemoryStore(fold_key=b"k" * 32)
    async with Supervisor(clock=LoopClock(), rng=random.Random(1), on_restart=lambda _name, _kind: None) as supervisor:
        address = supervisor.start(store_spec(store.writer, lambda _rows: None))
        yield address, DrivenStore(store.reader, store.writer)


def turn_of(driven: DrivenStore, text: str, disposition: Disposition = Disposition.RECORD) -> AdmitTurn:
    write = fact(driven, text, disposition=disposition)
    return AdmitTurn(
        user="ines",
        session="s",
        turn_key=f"s\x1f{write.evidence.turn_id}",
        now_ms=driven.now_ms,
        writes=(write,),
        decision=open_decision(driven, "ines", "s"),
    )


async def test_turns_answers_imports_and_purges_are_carried_out() -> None:
    async with running() as (address, driven):
        admitted = await ask_store(address, turn_of(driven, "The user likes tea."), deadline_s=DEADLINE_S)
        assert admitted.results[0].outcome is FactOutcome.CREATED
        asked = await ask_store(address, turn_of(driven, "Call me Zed.", Disposition.PROPOSE), deadline_s=DEADLINE_S)
        assert asked.results[0].outcome is FactOutcome.PROPOSED
        answer = Confirm(
            user="ines",
            session="s",
            is_accepted=True,
            approver="cli",
            now_ms=driven.now_ms,
            memory_id="mem-9",
            decision=open_decision(driven, "ines", "s"),
        )
        confirmed = await ask_store(address, answer, deadline_s=DEADLINE_S)
        memory = admitted.results[0].memory
        assert memory is not None
        assert confirmed.proposal.memory_id == "mem-9"
        take_over = ImportMemories(
            user="ines",
            memories=(PortableMemory(memory=memory),),
            now_ms=driven.now_ms,
            decision=open_decision(driven, "ines", "s", Op.REMEMBER),
        )
        imported = await ask_store(address, take_over, deadline_s=DEADLINE_S)
        assert [line.outcome for line in imported.lines] == [ImportOutcome.KNOWN]
        assert (await ask_store(address, PurgeUser(user="ines"), deadline_s=DEADLINE_S)).memories == 2
        assert await driven.listed() == []


async def test_an_answer_that_cannot_be_given_goes_to_the_asker() -> None:
    async with running() as (address, driven):
        answer = Confirm(
            user="ines",
            is_accepted=True,
            now_ms=driven.now_ms,
            memory_id="mem-9",
            decision=open_decision(driven, "ines", "s"),
        )
        with pytest.raises(RecalldError) as caught:
            await ask_store(address, answer, deadline_s=DEADLINE_S)
        assert caught.value.code is ErrorCode.NOT_FOUND


async def test_rows_that_wait_are_written_before_a_purge_and_go_with_it() -> None:
    async with running() as (address, driven):
        await driven.remember("Prefers tea")
        row = driven.decision("ines", Op.RECALL)
        address.post(AppendDecisions(rows=(row,)))
        await ask_store(address, PurgeUser(user="ines"), deadline_s=DEADLINE_S)
        await anyio.sleep(10 * BATCH_DELAY_S)
        assert await driven.reader.decision(row.id) is None
