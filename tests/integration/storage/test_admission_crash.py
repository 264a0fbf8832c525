# ruff: noqa: ASYNC220 - a test has its loop for itself: blocking it holds nobody up
from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from admission_commands import observations_of
from store_commands import DrivenStore

from recalld.daemon.storage.store import SqliteStore

pytestmark = [pytest.mark.anyio, pytest.mark.integration]

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
WORKER = Path(__file__).with_name("admission_worker.py")
BOUND_S = 60

_spec = importlib.util.spec_from_file_location("admission_worker", WORKER)
assert _spec is not None
assert _spec.loader is not None
worker = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worker)


async def test_a_turn_sent_again_after_a_crash_answers_the_same_and_counts_once(
    data_dir: Path, opened: StoreOpener
) -> None:
    # A12: the daemon died between writing and acknowledging; the runtime sends everything once more.
    with subprocess.Popen([sys.executable, WORKER, data_dir], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        acknowledged = [json.loads(process.stdout.readline())["acknowledged"] for _ in range(20)]
        process.kill()  # in the middle of whatever it does next
        acknowledged += [json.loads(line)["acknowledged"] for line in process.stdout if line.endswith(b"\n")]
        process.wait(BOUND_S)
    sent = len(acknowledged) + 1
    async with opened() as (store, driven):
        for number in range(sent):
            admitted = await store.writer.admit_turn(worker.turn(number, "again"))
            ids = [result.memory.id for result in admitted.results if result.memory is not None]
            if number < len(acknowledged):
                assert admitted.is_repeat
                assert ids == acknowledged[number]
            assert len({each.split("-")[1] for each in ids}) == 1, "a turn is written whole, by one attempt"
        bicycles = await driven.found("bicycle", limit=10_000)
        assert len(bicycles) == sent
        holders = await store.reader.slot_holders("ines", "", "employer", now_ms=driven.now_ms)
        assert [holder.value.value for holder in holders] == [f"Company{sent - 1}"]
        [observation] = await observations_of(driven)
        assert observation.turns == sent
        assert await store.find_damage() == ()
