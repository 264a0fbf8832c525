from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio
import anyio.lowlevel
import pytest
from actor_system import System, running_system
from scripted_actor import Watched

from recalld.actors.events import EventBus, EventLevel
from recalld.actors.kernel import ActorSpec, Address, PostOutcome, StopReason, Supervisor
from recalld.actors.supervisor import (
    ActorFailed,
    Conditions,
    GateGuard,
    GateTrouble,
    RecallFinished,
    SupervisorActor,
    SupervisorMessage,
)
from recalld.daemon.config.settings import EventsSettings
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.health import BreakerState
from recalld.models.domain.reasons import DegradedReason, RecallMode
from recalld.models.policy.breaker import BreakerPolicy

pytestmark = pytest.mark.anyio

COOLDOWN_S = 300.0
DEGRADED = EventName.MEMORY_RECALL_GATE_DEGRADED
RECOVERED = EventName.MEMORY_RECALL_GATE_RECOVERED
TIMEOUT = GateTrouble(reason=DegradedReason.SUB_BUDGET_EXCEEDED)
OVERDUE = GateTrouble(reason=DegradedReason.SUB_BUDGET_EXCEEDED, is_scorer_overdue=True)
MISSING = GateTrouble(reason=DegradedReason.SCORER_UNAVAILABLE)


@dataclass
class Root:
    """A supervisor actor and all it said."""

    watched: Watched = field(default_factory=Watched)
    published: list[tuple[float, Event, EventLevel]] = field(default_factory=list)
    conditions: Conditions = field(default_factory=Conditions)
    guard: GateGuard | None = None
    address: Address[SupervisorMessage] | None = None
    supervisor: Supervisor | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        clock = self.watched.clock
        guard = self.guard = GateGuard(BreakerPolicy(failures_max=3, open_s=30.0), clock)
        events = EventBus(sink=lambda event, level: self.published.append((clock.monotonic_s(), event, level)))
        async with self.watched.supervisor() as supervisor:
            self.supervisor = supervisor
            self.address = supervisor.start(
                ActorSpec(
                    name="supervisor",
                    build=lambda: SupervisorActor(
                        events=events,
                        clock=clock,
                        guard=guard,
                        conditions=self.conditions,
                        cooldown_s=COOLDOWN_S,
                    ),
                    mailbox_max=1024,
                )
            )
            yield

    async def finished(
        self,
        *,
        gate: GateTrouble | None = None,
        vector: GateTrouble | None = None,
        has_gated: bool = False,
        was_alone: bool = False,
        is_budget_own: bool = False,
        mode: RecallMode = RecallMode.FLOOR_ONLY,
    ) -> None:
        assert self.address is not None
        outcome = self.address.post(
            RecallFinished(
                mode=mode,
                gate=gate,
                has_gated=has_gated,
                vector=vector,
                is_vector_used=vector is None,
                was_alone=was_alone,
                is_budget_own=is_budget_own,
                gate_ms=12.0,
                total_ms=20.0,
            )
        )
        assert outcome is PostOutcome.ACCEPTED
        await anyio.lowlevel.checkpoint()

    def told(self, name: EventName = DEGRADED) -> list[tuple[float, str, int]]:
        return [
            (
                round(at_s),
                str(event.fields.get("reason", event.fields.get("causes"))),
                int(str(event.fields["suppressed_count"])),
            )
            for at_s, event, _ in self.published
            if event.name is name
        ]


async def test_each_cause_is_announced_at_once_and_then_once_a_cooldown_with_what_was_held_back() -> None:  # R25
    root = Root()
    async with root.running():
        for _ in range(200):
            await root.finished(gate=TIMEOUT)
            await root.finished(gate=MISSING)
            await anyio.sleep(1.9 * COOLDOWN_S / 200)
        await anyio.sleep(1.0)
        told = root.told()
        assert told[:2] == [(0, TIMEOUT.cause, 0), (0, MISSING.cause, 0)]
        assert [cause for _, cause, _ in told[2:]] == [TIMEOUT.cause, MISSING.cause]
        for at_s, _, suppressed in told[2:]:
            assert at_s == pytest.approx(COOLDOWN_S, abs=5)
            assert suppressed == pytest.approx(105, abs=2)
        await root.finished(has_gated=True, mode=RecallMode.GATED)
        await anyio.sleep(0.001)
    ((_, causes, held),) = root.told(RECOVERED)
    assert causes == f"{TIMEOUT.cause} {MISSING.cause}"
    assert len(told) + sum(suppressed for _, _, suppressed in told) + held == 400


async def test_three_users_two_causes_and_a_repair_are_seen_from_outside() -> None:  # R25
    events = EventsSettings(degraded_cooldown_s=60.0, breaker_failures=1_000)
    async with running_system(System(), events=events) as system:
        for user in ("ann", "ben", "cleo"):
            await system.store_text(user, "The deploy key lives in the vault")
        system.scorer_thread.call_s = lambda: 60.0
        for number in range(200):
            await system.recall(("ann", "ben", "cleo")[number % 3], f"where does deploy key number{number} live")
            if number == 100:
                system.scorer_thread.is_dead = True  # a second cause, for as long as the restart waits
            await anyio.sleep(0.55)
        system.scorer_thread.is_dead = False
        system.scorer_thread.call_s = lambda: 0.001
        await anyio.sleep(70.0)
        await system.recall("ann", "where does the deploy key live at last")
        await anyio.sleep(0.1)
        degraded = system.events(DEGRADED)
        recovered = system.events(RECOVERED)
        stats = await system.service.stats()
    by_cause: dict[str, list[Event]] = {}
    for event in degraded:
        by_cause.setdefault(str(event.fields["reason"]), []).append(event)
    assert set(by_cause) == {"sub_budget_exceeded", "scorer_unavailable"}
    for cause, told in by_cause.items():
        assert told[0].fields["suppressed_count"] == 0
        gaps_ms = [later.at_ms - earlier.at_ms for earlier, later in itertools.pairwise(told)]
        assert all(gap >= 60_000 for gap in gaps_ms), cause
        assert not any("deploy" in str(event) for event in told)
    assert len(recovered) == 1
    counted = stats.counters["gate_sub_budget_exceeded"] + stats.counters["gate_scorer_unavailable"]
    held_back = sum(int(str(event.fields["suppressed_count"])) for event in (*degraded, *recovered))
    assert len(degraded) + held_back == counted


async def test_what_was_held_back_in_a_window_that_fell_quiet_is_told_all_the_same() -> None:
    root = Root()
    async with root.running():
        for _ in range(4):
            await root.finished(gate=TIMEOUT)
        await anyio.sleep(COOLDOWN_S + 6)
        assert [suppressed for _, _, suppressed in root.told()] == [
            0,
            2,
        ]  # the second event stands for one of the three
        await anyio.sleep(3 * COOLDOWN_S)
        assert len(root.told()) == 2


async def test_a_gate_that_comes_and_goes_does_not_flood_the_log() -> None:
    root = Root()
    async with root.running():
        for _ in range(50):
            await root.finished(gate=TIMEOUT)
            await root.finished(has_gated=True, mode=RecallMode.GATED)
            await anyio.sleep(1.0)
        assert len(root.told()) == 1
        assert len(root.told(RECOVERED)) == 1
        await anyio.sleep(COOLDOWN_S)
        assert [suppressed for _, _, suppressed in root.told()] == [0, 48]


async def test_the_last_counts_leave_when_the_daemon_does() -> None:
    root = Root()
    async with root.running():
        for _ in range(3):
            await root.finished(gate=TIMEOUT)
            await root.finished(vector=GateTrouble(reason=DegradedReason.EMBED_TIMEOUT))
        assert root.supervisor is not None
        await root.supervisor.drain("supervisor", root.watched.clock.monotonic_s() + 1)
    assert [suppressed for _, _, suppressed in root.told()] == [0, 1]
    assert [suppressed for _, _, suppressed in root.told(EventName.MEMORY_RECALL_VECTOR_DEGRADED)] == [0, 1]


async def test_what_is_so_by_configuration_is_quiet_and_nothing_to_recover_from() -> None:
    root = Root()
    async with root.running():
        await root.finished(gate=GateTrouble(reason=DegradedReason.GATE_DISABLED_BY_CONFIG))
        await root.finished(gate=GateTrouble(reason=DegradedReason.OUT_OF_DOMAIN))
        await root.finished(has_gated=True)
        await anyio.sleep(1)
    assert [level for _, event, level in root.published if event.name is DEGRADED] == [EventLevel.DEBUG] * 2
    assert root.told(RECOVERED) == []


async def test_the_vector_leg_has_events_of_its_own() -> None:
    root = Root()
    async with root.running():
        await root.finished(
            vector=GateTrouble(reason=DegradedReason.EMBED_FAILED, detail="MemoryError"), has_gated=True
        )
        await root.finished()
        await anyio.sleep(1)
    names = [event.name for _, event, _ in root.published]
    assert names == [EventName.MEMORY_RECALL_VECTOR_DEGRADED, EventName.MEMORY_RECALL_VECTOR_RECOVERED]
    assert root.published[0][1].fields == {"reason": "embed_failed", "detail": "MemoryError", "suppressed_count": 0}


@pytest.mark.parametrize(
    ("trouble", "was_alone", "opens"),
    [
        (OVERDUE, True, True),
        (OVERDUE, False, False),
        (TIMEOUT, True, False),
        (GateTrouble(reason=DegradedReason.SCORE_FAILED, detail="OSError"), False, True),
        (GateTrouble(reason=DegradedReason.QUEUE_FULL), True, False),
        (GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED), True, False),
        (GateTrouble(reason=DegradedReason.OUT_OF_DOMAIN), True, False),
        (MISSING, True, False),
    ],
)
async def test_the_breaker_opens_on_the_scorers_own_failures_alone(
    trouble: GateTrouble,
    was_alone: bool,  # noqa: FBT001 - a parameter of the test
    opens: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    root = Root()
    async with root.running():
        for _ in range(20):
            await root.finished(gate=trouble, was_alone=was_alone)
        await anyio.sleep(1)
        assert root.guard is not None
        assert (root.guard.state is BreakerState.OPEN) is opens


async def test_half_open_lets_exactly_one_through_and_its_success_closes() -> None:
    root = Root()
    async with root.running():
        for _ in range(3):
            await root.finished(gate=OVERDUE, was_alone=True)
        await anyio.sleep(0.1)
        guard = root.guard
        assert guard is not None
        assert not guard.admit()
        await anyio.sleep(30)
        assert [guard.admit() for _ in range(5)] == [True, False, False, False, False]
        await root.finished(has_gated=True)
        await anyio.sleep(0.1)
        assert guard.state is BreakerState.CLOSED
        assert guard.admit()


async def test_alone_means_alone_from_entry_to_exit() -> None:
    guard = GateGuard(BreakerPolicy(), Watched().clock)
    first = guard.enter()
    assert guard.leave(first)
    first = guard.enter()
    second = guard.enter()
    assert not guard.leave(second)
    assert not guard.leave(first)
    third = guard.enter()
    assert guard.leave(third)


async def test_a_failed_actor_is_counted_and_announced_by_type() -> None:
    root = Root()
    async with root.running():
        assert root.address is not None
        root.address.post(ActorFailed(actor="scorer", error_type="ThreadLostError"))
        await anyio.sleep(0.1)
        assert root.supervisor is not None
        assert await root.supervisor.drain("supervisor", 10) is StopReason.DRAINED
    (_, event, level), *_ = root.published
    assert (event.name, level) == (EventName.ACTOR_RESTARTED, EventLevel.WARNING)
    assert event.fields == {"actor": "scorer", "error_type": "ThreadLostError"}
    assert root.conditions.counters["actor_restarts"] == 1


async def test_counters_and_latencies_are_kept_by_mode_and_step() -> None:
    root = Root()
    async with root.running():
        await root.finished(has_gated=True, mode=RecallMode.GATED)
        await root.finished(gate=TIMEOUT)
        await anyio.sleep(0.1)
        counts = root.conditions.counts(root.watched.clock.monotonic_s())
    assert root.conditions.counters["recalls"] == 2
    assert root.conditions.counters["recalls_gated"] == root.conditions.counters["recalls_floor_only"] == 1
    assert (counts.recalls, counts.degraded) == (2, {"sub_budget_exceeded": 1})
    assert root.conditions.latencies.percentiles() == {
        "total_p50": 20.0,
        "total_p95": 20.0,
        "gate_p50": 12.0,
        "gate_p95": 12.0,
    }


@pytest.mark.parametrize(
    ("trouble", "counted"),
    [
        (TIMEOUT, 0),
        (GateTrouble(reason=DegradedReason.ENVELOPE_EXCEEDED), 0),
        (MISSING, 3),
    ],
)
async def test_a_caller_that_allows_too_little_time_makes_no_fallback_and_opens_no_breaker(
    trouble: GateTrouble, counted: int
) -> None:
    root = Root()
    async with root.running():
        for _ in range(3):
            await root.finished(gate=trouble, was_alone=True, is_budget_own=True)
        await anyio.sleep(0.1)
        assert root.guard is not None
        assert root.guard.state is BreakerState.CLOSED
        counts = root.conditions.counts(root.watched.clock.monotonic_s())
        assert (counts.recalls, sum(counts.degraded.values())) == (3, counted)
