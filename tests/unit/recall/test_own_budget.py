"""A caller that allows itself too little time is no trouble of the daemon's."""

from __future__ import annotations

import math

import anyio
import msgspec
import pytest
from actor_system import System, running_system

pytestmark = pytest.mark.anyio


def _hang() -> float:
    return math.inf


@pytest.mark.parametrize(("budget_s", "counted"), [(0.001, 0), (None, 1), (10.0, 1)])
async def test_a_recall_out_of_time_counts_as_a_fallback_unless_its_caller_chose_so(
    budget_s: float | None, counted: int
) -> None:
    async with running_system(System()) as system:
        system.scorer_thread.call_s = _hang
        await system.store_text("ines", "The deploy keys are in the vault")
        query = system.query("ines", "Where are the deploy keys?")
        outcome = await system.service.recall(msgspec.structs.replace(query, budget_s=budget_s))
        assert outcome.degraded_reason is not None
        await anyio.sleep(1)
        health = await system.service.health(is_deep=False)
        assert (health.window_recalls, sum(health.window_degraded.values())) == (1, counted)
