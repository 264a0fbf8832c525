"""Only a pair that runs far longer than it should says that the scorer does not work."""

from __future__ import annotations

import pytest
from actor_system import System, running_system
from model_harness import ScorerHarness
from scripted_actor import Watched

from recalld.actors.inference_thread.call import Call
from recalld.actors.inference_thread.stop import StopSignal
from recalld.actors.scorer import Pair
from recalld.actors.scorer.overdue import OVERDUE_FACTOR, is_overdue
from recalld.daemon.config.settings import EventsSettings
from recalld.models.domain.health import BreakerState
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.cost_model import CONTROL_TOKENS, CostModel

pytestmark = pytest.mark.anyio

WORDS_OF_A_LONG_PAIR = "grey copper valve station ledger signal meadow parcel window engine " * 11


def overdue(memory_text: str, *, running_s: float, query: str = "why") -> bool:
    return is_overdue(Pair(query=query, memory_text=memory_text, key="1"), CostModel(), running_s=running_s)


def test_a_pair_is_overdue_after_a_multiple_of_what_its_tokens_take() -> None:
    expected_s = CostModel().predict_ms(CONTROL_TOKENS + 3) / 1000.0
    assert not overdue("one two", running_s=0.99 * OVERDUE_FACTOR * expected_s)
    assert overdue("one two", running_s=1.01 * OVERDUE_FACTOR * expected_s)


def test_symbols_are_not_taken_for_prose_and_a_pasted_query_not_for_a_long_pair() -> None:
    assert not overdue("\U0001f600" * 100, running_s=0.055)
    assert overdue("a" * 100, running_s=0.055)
    assert overdue("one two", query="word " * 2_000, running_s=0.055)


async def test_a_job_that_runs_out_of_its_own_time_is_no_fault_of_the_scorer() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        harness.script.call_s = lambda: 0.2
        scored = await harness.score(WORDS_OF_A_LONG_PAIR, within_s=0.055)
        assert (scored.logits, scored.failure, scored.is_overdue) == ((None,), None, False)
        scored = await harness.score("short", within_s=0.055)
        assert (scored.logits, scored.failure, scored.is_overdue) == ((None,), None, True)


async def test_a_pair_that_never_started_is_not_overdue() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        harness.script.call_s = lambda: 0.02
        scored = await harness.score("a", "b", "c", within_s=0.022)
        assert (scored.pairs_scored, scored.is_overdue) == (1, False)


async def test_a_call_that_has_ended_does_not_run_though_nobody_knows_yet() -> None:
    call = Call(lambda _stop: 1, lambda _outcome: None)
    assert call.running_since_s is None
    call.note_assigned(3.0)
    assert call.running_since_s == 3.0
    call.run(StopSignal(), Watched().clock)
    assert call.running_since_s is None


async def test_long_memories_of_one_user_do_not_close_the_gate_to_the_others() -> None:
    async with running_system(System(), events=EventsSettings(breaker_failures=3)) as system:
        await system.store_text("ann", f"deploy key {WORDS_OF_A_LONG_PAIR}")
        await system.store_text("ben", "The deploy key lives in the vault")
        system.scorer_thread.call_s = lambda: 0.2
        for number in range(6):
            outcome = await system.recall("ann", f"grey copper valve station ledger signal deploy key {number}")
            assert outcome.degraded_reason is DegradedReason.SUB_BUDGET_EXCEEDED
        system.scorer_thread.call_s = lambda: 0.005
        outcome = await system.recall("ben", "where does the deploy key live?")
        assert outcome.degraded_reason is None
        assert outcome.gate.pairs_scored > 0
        health = await system.service.health(is_deep=False)
    assert health.breaker is BreakerState.CLOSED
