# ruff: noqa: ASYNC220 - a test has its loop for itself: blocking it holds nobody up
from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from store_commands import EMBEDDER, DrivenStore

from recalld.daemon.storage.store import SqliteStore

pytestmark = [pytest.mark.anyio, pytest.mark.integration]

StoreOpener = Callable[[], AbstractAsyncContextManager[tuple[SqliteStore, DrivenStore]]]
WORKER = Path(__file__).with_name("store_worker.py")
BOUND_S = 60


async def test_a_killed_writer_loses_nothing_it_acknowledged(data_dir: Path, opened: StoreOpener) -> None:
    with subprocess.Popen([sys.executable, WORKER, "write", data_dir], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        acknowledged = [json.loads(process.stdout.readline())["acknowledged"] for _ in range(40)]
        process.kill()  # in the middle of whatever it does next
        acknowledged += [json.loads(line)["acknowledged"] for line in process.stdout if line.endswith(b"\n")]
        process.wait(BOUND_S)
    async with opened() as (store, driven):
        found = await store.reader.memories("ines", acknowledged)
        assert list(found) == acknowledged
        assert set(await driven.found("acknowledged", limit=10_000)) >= set(acknowledged)
        assert await store.find_damage() == ()
        health = await store.reader.health(EMBEDDER, now_ms=driven.now_ms)
        # Rows that were committed but not reported any more are whole as well.
        assert health.fts_matches
        assert health.live in (len(acknowledged), len(acknowledged) + 1)


def test_a_full_disk_is_reported_as_such_and_loses_nothing(data_dir: Path) -> None:
    # S10
    ended = subprocess.run(
        [sys.executable, WORKER, "fill", data_dir], capture_output=True, timeout=BOUND_S, check=False
    )
    assert ended.returncode == 0, ended.stderr.decode()
    told = json.loads(ended.stdout)
    assert (told["code"], told["retryable"]) == ("storage_full", True)
    assert "file size limit" in told["message"]
    assert told["acknowledged"] > 10
    assert told["live"] == told["acknowledged"]
    assert told["hits"] == 3
    assert (told["is_readable_when_full"], told["is_writable_when_full"]) == (True, False)
    assert (told["outcome_after"], told["live_after"], told["is_writable_after"]) == (
        "created",
        told["acknowledged"] + 1,
        True,
    )
    assert told["damage"] == []
