"""A process that admits turns until it is killed."""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import anyio

from recalld.daemon.storage.store import open_store
from recalld.models.domain.admission_store import AdmitTurn, Evidence, FactWrite
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason, Op
from recalld.models.domain.records import NewMemory
from recalld.models.domain.store import DecisionRow

EPOCH_MS = 1_790_000_000_000


class StandingClock:
    def monotonic_s(self) -> float:
        return 0.0

    def now_ms(self) -> int:
        return EPOCH_MS


def turn(number: int, attempt: str) -> AdmitTurn:
    """The turn of this number, with ids that are fresh in each attempt: a record, its update, and an observation."""
    facts = (
        (f"The user works at Company{number}.", Disposition.RECORD, "employer", f"Company{number}"),
        (f"The user owns bicycle {number}.", Disposition.RECORD, "", ""),
        ("The user likes tea.", Disposition.OBSERVE, "", ""),
    )
    at_ms = EPOCH_MS + number
    return AdmitTurn(
        user="ines",
        session="s",
        turn_key=f"s\x1f{number}",
        now_ms=at_ms,
        writes=tuple(
            FactWrite(
                memory=NewMemory(user="ines", text=text),
                memory_id=f"mem-{attempt}-{number}-{place}",
                note_id=f"obs-{attempt}-{number}-{place}",
                disposition=disposition,
                slot=slot,
                value=value,
                evidence=Evidence(
                    session="s",
                    turn_id=f"{number}",
                    at_ms=at_ms,
                    generator=Generator.RULE,
                    rule="test",
                    reason=AdmissionReason.STATED,
                ),
            )
            for place, (text, disposition, slot, value) in enumerate(facts)
        ),
        decision=DecisionRow(
            id=f"dec-{attempt}-{number}",
            user="ines",
            session="s",
            op=Op.OBSERVE,
            at_ms=at_ms,
            decision="",
            reason="",
        ),
    )


async def admit_until_killed(data_dir: Path) -> None:
    async with open_store(data_dir, clock=StandingClock()) as store:
        for number in itertools.count():
            admitted = await store.writer.admit_turn(turn(number, "first"))
            ids = [result.memory.id for result in admitted.results if result.memory is not None]
            print(json.dumps({"acknowledged": ids}), flush=True)  # noqa: T201 - how it reports to the test


if __name__ == "__main__":
    anyio.run(admit_until_killed, Path(sys.argv[1]))
