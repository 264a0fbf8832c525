"""S05 for audits: after a hard forgetting, and after a purge, no file holds a byte of the turns that were sampled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from store_commands import DrivenStore

from recalld.daemon.storage.store import SqliteStore
from recalld.models.domain.audit_samples import AppendSamples, MarkSample, Sample, SampleAnswer, SampleKind
from recalld.models.domain.user_data import PurgeUser

pytestmark = pytest.mark.anyio

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
CANARY = b"okapiturn"
MARKER = b"quetzalmarker"


def traces(data_dir: Path) -> set[tuple[str, bytes]]:
    return {
        (path.name, canary)
        for path in data_dir.iterdir()
        for canary in (CANARY, MARKER)
        if canary in path.read_bytes().lower()
    }


async def keep_canary(driven: DrivenStore) -> str:
    """A sample of a memory with the user's words, marked; and the id of the memory."""
    memory_id = await driven.store("Sings at noon")
    sample = Sample(
        id="smp_1",
        kind=SampleKind.GATE_DROP,
        decision_id=await driven.show(memory_id),
        memory_id=memory_id,
        text="what of the OkapiTurn?",
        probability=0.5,
        at_ms=driven.now_ms,
    )
    await driven.writer.append_samples(AppendSamples(user="ines", samples=(sample,), rows_max=9))
    await driven.writer.mark_sample(
        MarkSample(user="ines", sample_id="smp_1", answer=SampleAnswer.YES, by="QuetzalMarker", at_ms=driven.now_ms)
    )
    return memory_id


async def test_a_hard_forgetting_leaves_no_byte_of_the_turn(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (_, driven):
        memory_id = await keep_canary(driven)
        assert {canary for _, canary in traces(data_dir)} == {CANARY, MARKER}
        assert not (await driven.forget(memory_id, is_hard=True)).is_erasure_pending
        assert {canary for _, canary in traces(data_dir)} == {MARKER}


async def test_a_purge_leaves_no_byte_of_the_turn_nor_of_who_marked_it(data_dir: Path, opened: StoreOpener) -> None:
    async with opened() as (store, driven):
        await keep_canary(driven)
        assert not (await store.writer.purge_user(PurgeUser(user="ines"))).is_erasure_pending
        assert traces(data_dir) == set()
