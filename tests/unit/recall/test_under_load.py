from __future__ import annotations

from collections.abc import Sequence

import anyio
import pytest
from actor_system import ENVELOPE_S, System, running_system

from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.reasons import DegradedReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import RecallOutcome

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
QUERY = "where does the deploy key live?"


class SlowFromTheSecond(dict[str, float]):
    """Seconds by method, where one method hangs from its second call on."""

    def __init__(self, method: str) -> None:
        super().__init__({method: 0.0})

    def get(self, key: str, default: float = 0.0, /) -> float:  # type: ignore[override]
        seconds = super().get(key, default)
        if key in self:
            self[key] = 60.0
        return seconds


async def learn_costs(system: System, user: str) -> None:
    """Ask often enough for both models to know what their calls take."""
    for number in range(10):
        await system.recall(user, f"{QUERY} again {number}", envelope_s=5.0)


async def recall_at_once(system: System, users: Sequence[str]) -> list[RecallOutcome]:
    outcomes: list[RecallOutcome] = []

    async def ask(number: int, user: str) -> None:
        started_s = system.now_s()
        outcomes.append(await system.recall(user, f"{QUERY} {number}"))
        assert system.now_s() - started_s <= ENVELOPE_S

    async with anyio.create_task_group() as tasks:
        for number, user in enumerate(users):
            tasks.start_soon(ask, number, user)
    return outcomes


@pytest.mark.parametrize("users", [("ines",), ("ines", "ben", "mia")])
@pytest.mark.parametrize("recalls", [16, 64])
async def test_under_load_recalls_go_down_the_ladder_and_the_words_are_always_answered(
    recalls: int, users: tuple[str, ...]
) -> None:
    async with running_system(System()) as system:
        for user in users:
            await system.store_text(user, TEXT)
        system.embedder_thread.call_s = lambda: 0.02
        system.scorer_thread.call_s = lambda: 0.02
        for user in users:
            await learn_costs(system, user)
        outcomes = await recall_at_once(system, [users[number % len(users)] for number in range(recalls)])
    assert len(outcomes) == recalls
    assert {outcome.reason for outcome in outcomes} <= {RecallReason.RELEVANT, RecallReason.PASSED_FLOOR}
    assert all(len(outcome.items) == 1 for outcome in outcomes)
    in_time = [each for each in outcomes if each.degraded_reason is not DegradedReason.EMBED_TIMEOUT]
    assert len(in_time) > recalls / 2
    assert any(each.degraded_reason is DegradedReason.QUEUE_FULL for each in in_time)


async def test_whoever_is_not_embedded_for_a_full_queue_does_not_wait_for_it() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        system.embedder_thread.call_s = lambda: 0.05
        await learn_costs(system, "ines")
        outcomes = await recall_at_once(system, ["ines"] * 8)
    full = [each for each in outcomes if each.degraded_reason is DegradedReason.QUEUE_FULL]
    assert len(full) >= 4
    assert all(each.timings.embed_ms < 1.0 for each in full if each.mode is RecallMode.LEXICAL_ONLY)


async def test_what_the_words_found_is_answered_when_reading_what_the_vectors_found_takes_too_long() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Ines prefers green tea")
        wanted = await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        system.reading.slow_s = SlowFromTheSecond("memories")
        outcome = await system.recall("ines", f"{QUERY} now")
    assert wanted in [item.memory.id for item in outcome.items]
    assert outcome.mode is RecallMode.LEXICAL_ONLY


async def test_a_store_that_cannot_count_in_time_is_not_called_empty() -> None:
    system = System(missing={"embedder"})
    async with running_system(system):
        await system.store_text("ines", TEXT)
        system.reading.slow_s["counts"] = 60.0
        outcome = await system.recall("ines", "anything about cooking rice?")
    assert (outcome.decision, outcome.reason) == (RecallDecision.ERROR, RecallReason.DEGRADED)
    assert outcome.degraded_reason is DegradedReason.EMBEDDER_UNAVAILABLE


async def test_every_empty_outcome_says_what_stood_in_the_way() -> None:
    found: dict[RecallReason, DegradedReason | None] = {}
    async with running_system(System(), recall=RecallSettings()) as system:
        await system.store_text("ines", TEXT)
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        outcomes = [await system.recall("ines", QUERY)]
        system.reading.code = None
        system.reading.delay_s = 60.0
        outcomes += await recall_at_once(system, ["ines"] * 400)
        system.reading.delay_s = 0.0
        system.reading.crash = KeyError("unexpected")
        outcomes.append(await system.recall("ines", QUERY))
        system.reading.crash = None
    for outcome in outcomes:
        assert outcome.mode is RecallMode.EMPTY
        found[outcome.reason] = outcome.degraded_reason
    assert found == {
        RecallReason.STORE_UNREADABLE: DegradedReason.STORE_UNREADABLE,
        RecallReason.ENVELOPE_EXCEEDED: DegradedReason.ENVELOPE_EXCEEDED,
        RecallReason.BUSY: DegradedReason.QUEUE_FULL,
        RecallReason.RECALL_FAILED: DegradedReason.RECALL_FAILED,
    }
