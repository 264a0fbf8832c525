"""Both errors, each on its own: turns that plainly need memory, and turns that plainly do not.

Fifteen turns of each sort were written by hand for ten records, and none of them was used to fit anything. They go
through the real models, the shipped calibration and every gate of a recall.
"""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from recalld.daemon.evaluation.bench import BenchSettings
from recalld.daemon.evaluation.drill import Drilled, drill
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.run import EvalInput, evaluate
from recalld.daemon.evaluation.sets import EvalSet, read_sets
from recalld.models.lab.arms import ArmName
from recalld.models.lab.comparators import shipped_comparators
from recalld.models.lab.drill_report import DrillArm, DrillVerdict
from recalld.models.lab.report import CompoundRates
from recalld.models.policy.relevance import uncalibrated

MISSED_MAX = 1
"""Of fifteen turns that plainly need memory."""
DISTURBED_MAX = 1
"""Of fifteen turns that plainly need none."""


def silent(_name: str, _done: int, _total: int) -> None:
    """Nobody looks."""


@pytest.fixture(scope="module")
def sets(plain_turns: Path) -> list[EvalSet]:
    return read_sets([plain_turns], [plain_turns.with_name("plain_records.jsonl")])


@pytest.fixture(scope="module")
def drilled(sets: list[EvalSet], shipped: BenchSettings, meter: Meter) -> Drilled:
    (made,) = drill(shipped, sets, meter, random.Random(1), silent)
    return made


def missed(drilled: Drilled, arm: DrillArm = DrillArm.SHIPPED) -> list[str]:
    rows = [row for row in drilled.rows if row.label.is_answerable]
    return [row.label.row_id for row in rows if not row.helps(row.handed(arm))]


def disturbed(drilled: Drilled, arm: DrillArm = DrillArm.SHIPPED) -> list[str]:
    return [row.label.row_id for row in drilled.rows if not row.label.is_answerable and row.handed(arm)]


def test_turns_that_plainly_need_memory_get_it(drilled: Drilled) -> None:
    assert len(missed(drilled)) <= MISSED_MAX, missed(drilled)


def test_turns_that_plainly_need_no_memory_are_left_alone(drilled: Drilled) -> None:
    assert len(disturbed(drilled)) <= DISTURBED_MAX, disturbed(drilled)


def test_neither_error_rate_is_met_by_a_gate_that_always_says_the_same(drilled: Drilled) -> None:
    assert len(missed(drilled, DrillArm.FORCED_SHUT)) > MISSED_MAX
    assert len(disturbed(drilled, DrillArm.FORCED_OPEN)) > DISTURBED_MAX


def test_forced_shut_the_gates_are_detectably_missed(drilled: Drilled) -> None:
    assert drilled.report.verdict is DrillVerdict.EARNS_ITS_PLACE
    assert drilled.report.against_shipped[DrillArm.FORCED_SHUT.value].retention.is_worse
    assert drilled.report.control.differences == 0


def test_random_silence_of_the_same_rate_is_worse_than_the_gates(drilled: Drilled) -> None:
    assert drilled.report.random_skip.p_value < 0.01


def test_a_gate_that_is_stuck_shut_is_found_by_the_drill(
    sets: list[EvalSet], shipped: BenchSettings, meter: Meter
) -> None:
    stuck = msgspec.structs.replace(
        shipped, calibration=msgspec.structs.replace(shipped.calibration, model=uncalibrated(1.0 - 1e-12))
    )
    (made,) = drill(stuck, sets, meter, random.Random(1), silent)
    assert made.report.verdict is DrillVerdict.DOES_NOT_EARN_ITS_PLACE


@pytest.fixture(scope="module")
def compound(sets: list[EvalSet], shipped: BenchSettings, meter: Meter) -> CompoundRates:
    given = EvalInput(arms=(ArmName.GATE,), bench=shipped, comparators=shipped_comparators(), has_compound=True)
    (made,) = evaluate(given, sets, meter, silent)
    assert isinstance(made.report.compound, CompoundRates)
    return made.report.compound


def test_composed_gates_are_measured_together_and_not_multiplied(compound: CompoundRates, drilled: Drilled) -> None:
    parts = (compound.turn, compound.floor, compound.relevance, compound.pack)
    assert compound.joint.n == compound.turn.n == 15
    assert compound.joint.k <= min(part.k for part in parts)
    assert compound.joint.k == 15 - len(missed(drilled))
    product = 1.0
    for part in parts:
        product *= part.rate
    assert compound.product == pytest.approx(product)


def test_the_gates_own_cost_reconciles_with_the_work_that_was_spared(drilled: Drilled) -> None:
    cost, rows = drilled.report.cost, drilled.rows
    assert cost.pairs_scored == sum(row.pairs_scored for row in rows) > 0
    assert cost.spared.k == sum(cost.skips.values()) == sum(bool(row.skip_reason) for row in rows)
    assert cost.spared.k > 0
    assert all(row.pairs_scored == 0 and not row.shipped for row in rows if row.skip_reason)


def test_every_skip_names_its_reason_and_none_of_them_costs_help(drilled: Drilled) -> None:
    skipped = {row.label.row_id: row.skip_reason for row in drilled.rows if row.skip_reason}
    assert skipped["needs-none-2"] == "acknowledgement"
    assert not [row_id for row_id in skipped if not row_id.startswith("needs-none")]
