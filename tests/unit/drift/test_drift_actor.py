from __future__ import annotations

import anyio
import msgspec
import pytest
from actor_system import System, running_system

from recalld.daemon.config.settings import DriftSettings, RecallSettings
from recalld.models.domain.drift import GateName
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.events import EventName
from recalld.models.domain.health import StatsQuery
from recalld.models.domain.reasons import Op
from recalld.models.domain.shadow import GateMode
from recalld.models.domain.store import DecisionRow

pytestmark = pytest.mark.anyio

OFTEN = DriftSettings(window=50, decisions_min=20, silent_after=50, check_every_s=10.0, alarm_every_s=100.0)


def silent(number: int, user: str = "ines") -> DecisionRow:
    """A recall in which the relevance gate judged something and let nothing through."""
    body = {
        "items": [],
        "dropped": [{"memory_id": "m", "relevance": 0.001 * (number % 10)}],
        "calibration_id": "own-1",
        "turn": {"decided_by": "terms_stored"},
    }
    return DecisionRow(
        id=f"{user}-{number}",
        user=user,
        session="s",
        op=Op.RECALL,
        at_ms=1_790_000_000_000 + number,
        decision="silent",
        reason="gated",
        mode="gated",
        degraded_reason="",
        body=msgspec.json.encode(body),
    )


async def fill(system: System, user: str, count: int) -> None:
    for number in range(count):
        system.running.ledger.append(silent(number, user))
    assert await system.running.ledger.settle(deadline_s=system.now_s() + 5.0)


async def test_a_dead_gate_raises_one_alarm_for_each_cooldown_and_counts_the_others() -> None:
    async with running_system(System(), drift=OFTEN) as system:
        await fill(system, "ines", 60)
        await anyio.sleep(95.0)
        (first,) = [each for each in system.events(EventName.GATE_DRIFT_ALARM) if each.fields["gate"] == "relevance"]
        assert (first.user, first.fields["alarm"], first.fields["suppressed_count"]) == ("ines", "never_fires", 0)
        assert first.fields["remedy"]
        await anyio.sleep(30.0)
        again = [each for each in system.events(EventName.GATE_DRIFT_ALARM) if each.fields["gate"] == "relevance"]
        assert [each.fields["suppressed_count"] for each in again] == [0, 9]


async def test_users_are_looked_at_each_for_itself_and_those_of_the_doctor_not_at_all() -> None:
    async with running_system(System(), drift=OFTEN) as system:
        for user, count in (("ines", 60), ("omar", 30), ("__doctor__:4711", 60)):
            await fill(system, user, count)
        await anyio.sleep(15.0)
        assert {each.user for each in system.events(EventName.GATE_DRIFT_ALARM)} == {"ines"}


async def test_a_ledger_that_cannot_be_read_is_looked_at_again_later() -> None:
    async with running_system(System(), drift=OFTEN) as system:
        await fill(system, "ines", 60)
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        await anyio.sleep(15.0)
        assert system.reading.calls["deciding_users"] == 1
        assert not system.events(EventName.GATE_DRIFT_ALARM)
        system.reading.code = None
        await anyio.sleep(10.0)
        assert system.events(EventName.GATE_DRIFT_ALARM)


async def test_nothing_looks_while_it_is_switched_off_and_stats_look_all_the_same() -> None:
    off = msgspec.structs.replace(OFTEN, enabled=False)
    async with running_system(System(), drift=off) as system:
        await fill(system, "ines", 60)
        await anyio.sleep(60.0)
        assert not system.events(EventName.GATE_DRIFT_ALARM)
        stats = await system.service.stats(StatsQuery(user="ines", days=1))
        assert stats.drift is not None
        (report,) = stats.drift
        gates = {gate.gate: gate for gate in report.gates}
        assert [alarm.name for alarm in gates[GateName.RELEVANCE].alarms] == ["never_fires"]
        assert (await system.service.stats(StatsQuery())).drift is None


async def test_stats_compare_what_shadow_mode_would_have_done_with_what_was_done() -> None:
    async with running_system(System(), recall=RecallSettings(mode=GateMode.SHADOW_SILENT)) as system:
        await system.store_text("ines", "The deploy key lives in the vault")
        await system.recall("ines", "where does the deploy key live?")
        await system.recall("ines", "thanks")
        stats = await system.service.stats(StatsQuery(user="ines", days=1))
    assert stats.drift is not None
    (count,) = stats.drift[0].shadow
    assert (count.mode, count.decisions, count.differing, count.decided, count.served) == ("shadow_silent", 2, 1, 1, 0)
