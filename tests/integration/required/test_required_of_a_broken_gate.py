"""A gate that is broken costs the gate and never the work: the turn gets what no gate would hold back."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable

import pytest
from actor_system import System, rejecting, running_system

from recalld.models.domain.reasons import DegradedReason, RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import RecallOutcome

pytestmark = pytest.mark.anyio

QUERY = "where does the deploy key live?"
TEXTS = ("The deploy key live in the vault", "Every deploy needs the key", "A deploy key is rotated monthly")


def throws(system: System) -> None:
    def logit(_query: str, _memory: str) -> float:
        raise ZeroDivisionError

    system.scorer.logit = logit


def times_out(system: System) -> None:
    system.scorer_thread.call_s = lambda: 60.0


def answers_no_number(system: System) -> None:
    system.scorer.logit = lambda _query, _memory: math.nan


def answers_infinity(system: System) -> None:
    system.scorer.logit = lambda _query, _memory: math.inf


def works(_system: System) -> None:
    """The gate as it is, which would let nothing through."""


async def asked(break_it: Callable[[System], None]) -> tuple[RecallOutcome, str]:
    """One recall past a gate that rejects everything while it works, and the reason in its ledger row."""
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        for text in TEXTS:
            await system.store_text("ines", text)
        break_it(system)
        outcome = await system.recall("ines", QUERY)
        row = await system.service.explain("ines", outcome.recall_id)
    return outcome, row.degraded_reason


async def test_the_gate_of_these_tests_would_hold_everything_back() -> None:
    outcome, degraded = await asked(works)
    assert (outcome.items, outcome.reason, degraded) == ((), RecallReason.GATED, "")


@pytest.mark.parametrize(
    ("break_it", "reason"),
    [
        (throws, DegradedReason.SCORE_FAILED),
        (times_out, DegradedReason.SUB_BUDGET_EXCEEDED),
        (answers_no_number, DegradedReason.SCORE_FAILED),
        (answers_infinity, DegradedReason.SCORE_FAILED),
    ],
)
async def test_a_broken_gate_leaves_the_work_done_and_says_what_broke(
    break_it: Callable[[System], None], reason: DegradedReason
) -> None:
    outcome, degraded = await asked(break_it)
    assert outcome.decision is RecallDecision.INJECT
    assert outcome.mode is RecallMode.FLOOR_ONLY
    assert [item.memory.id for item in outcome.items] == list(outcome.floor_items) != []
    assert degraded == reason.value
    assert outcome.timings.deadline_left_ms > 0


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("Thanks!", RecallReason.ACKNOWLEDGEMENT),
        ("/help", RecallReason.SLASH_COMMAND),
        ("12 * 7 = ?", RecallReason.ARITHMETIC),
        ("?!", RecallReason.NO_SEARCHABLE_TERMS),
    ],
)
async def test_every_skip_is_in_the_ledger_with_its_reason(message: str, reason: RecallReason) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXTS[0])
        outcome = await system.recall("ines", message)
        row = await system.service.explain("ines", outcome.recall_id)
    assert outcome.decision is RecallDecision.SKIP
    assert (row.decision, row.reason) == (RecallDecision.SKIP.value, reason.value)


async def test_what_the_gate_dropped_and_what_it_scored_add_up() -> None:
    outcome, _ = await asked(works)
    dropped = Counter(each.reason.value for each in outcome.dropped)
    gate = outcome.gate
    assert gate.dropped_by_gate == dropped["below_threshold"] + dropped["behind_best"] == len(TEXTS)
    assert gate.pairs_scored + gate.pairs_cached >= len(TEXTS)
    assert gate.kept_back == len(outcome.floor_items)
