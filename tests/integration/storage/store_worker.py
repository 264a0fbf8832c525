"""Processes that the storage tests start: one that writes until it is killed, and one that runs out of room."""

from __future__ import annotations

import itertools
import json
import resource
import sys
from pathlib import Path

import anyio

from recalld.daemon.storage.store import open_store
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import NewMemory
from recalld.models.domain.store import DecisionRow, Remember

EPOCH_MS = 1_790_000_000_000
ATTEMPTS_MAX = 4_000


class StandingClock:
    def monotonic_s(self) -> float:
        return 0.0

    def now_ms(self) -> int:
        return EPOCH_MS


def command(number: int, text: str) -> Remember:
    decision = DecisionRow(
        id=f"dec-{number}", user="ines", session="s", op=Op.REMEMBER, at_ms=EPOCH_MS, decision="kept", reason="test"
    )
    memory = NewMemory(user="ines", text=text)
    return Remember(memory=memory, memory_id=f"mem-{number}", now_ms=EPOCH_MS + number, decision=decision)


def say(**fields: object) -> None:
    print(json.dumps(fields), flush=True)  # noqa: T201 - how it reports to the test


async def write_until_killed(data_dir: Path) -> None:
    async with open_store(data_dir, clock=StandingClock()) as store:
        for number in itertools.count():
            remembered = await store.writer.remember(command(number, f"Acknowledged fact {number}"))
            say(acknowledged=remembered.memory.id if remembered.memory else None)


def limit_file_bytes(bytes_max: int) -> None:
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, hard))


async def run_out_of_room(data_dir: Path) -> None:
    """Write under a file size limit until it bites, read, lift the limit, and write again."""
    async with open_store(data_dir, clock=StandingClock()) as store:
        limit_file_bytes(1024 * 1024)
        acknowledged, refusal = 0, None
        for number in range(ATTEMPTS_MAX):
            try:
                await store.writer.remember(command(number, f"Filler fact {number} " + "lorem ipsum " * 200))
            except RecalldError as error:
                refusal = error
                break
            acknowledged += 1
        live = (await store.reader.counts("ines", "e", now_ms=EPOCH_MS)).live
        hits = await store.reader.lexical("ines", ["filler"], now_ms=EPOCH_MS, limit=3, scope=None)
        full = await store.reader.health("e", now_ms=EPOCH_MS)
        limit_file_bytes(resource.RLIM_INFINITY)
        again = await store.writer.remember(command(ATTEMPTS_MAX, "Written when there was room again"))
        after = await store.reader.health("e", now_ms=EPOCH_MS)
        say(
            acknowledged=acknowledged,
            code=refusal.code if refusal else None,
            retryable=refusal.retryable if refusal else None,
            message=refusal.message if refusal else None,
            live=live,
            hits=len(hits),
            is_writable_when_full=full.is_writable,
            is_readable_when_full=full.is_readable,
            outcome_after=again.outcome,
            live_after=after.live,
            is_writable_after=after.is_writable,
            damage=await store.find_damage(),
        )


if __name__ == "__main__":
    verbs = {"write": write_until_killed, "fill": run_out_of_room}
    anyio.run(verbs[sys.argv[1]], Path(sys.argv[2]))
