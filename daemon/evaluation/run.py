"""The eval command's work: every arm on every row of every set, and the figures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import anyio
import msgspec
from anyio.abc import TaskGroup

from recalld.actors.recall.state import Spawn
from recalld.daemon.evaluation.bench import BenchSettings, Found, RecallBench
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.sets import EvalRow, EvalSet
from recalld.models.lab.arms import OF_THE_PRODUCT, Arm, ArmName, OffenderPriors, arm_of
from recalld.models.lab.comparators import Comparators
from recalld.models.lab.compound import RelevantPassed, compound_rates
from recalld.models.lab.report import RowCounts, SetReport
from recalld.models.lab.results import Judged, RowResult
from recalld.models.lab.tally import arm_report, breakdown, control, detectable

Progress = Callable[[str, int, int], None]
"""Called with the name of the set, its rows that are done, and all of them."""
Results = dict[ArmName, list[RowResult]]


class EvalInput(msgspec.Struct, frozen=True, kw_only=True):
    """What to compare.

    Attributes:
        arms: In the order of the report.
        bench: How the product's recall is configured.
        comparators: Numbers of the other designs.
        has_compound: Whether to tell the gates of the product apart as well.
    """

    arms: tuple[ArmName, ...]
    bench: BenchSettings
    comparators: Comparators
    has_compound: bool = False


class JudgedSet(msgspec.Struct, frozen=True, kw_only=True):
    """What became of every row of a set.

    Attributes:
        results: By arm.
        again: What the arm that matters most made of every row once more.
        apart: What became of every relevant memory, where that was asked for.
    """

    results: Results
    again: list[RowResult]
    apart: list[RelevantPassed]


class Evaluated(msgspec.Struct, frozen=True, kw_only=True):
    """A set with what every arm made of every row, and the figures."""

    name: str
    results: Results
    report: SetReport


def evaluate(given: EvalInput, sets: Sequence[EvalSet], meter: Meter, on_progress: Progress) -> list[Evaluated]:
    """Judge all rows by all arms.

    Args:
        given: What to compare.
        sets: On what.
        meter: The models.
        on_progress: Told what is done.
    """
    evaluated: list[Evaluated] = []
    for each in sets:
        judged = anyio.run(_judge_set, given, each, meter, on_progress)
        meter.forget_logits()
        evaluated.append(Evaluated(name=each.name, results=judged.results, report=_report(given, each, judged)))
    return evaluated


async def _judge_set(given: EvalInput, rows: EvalSet, meter: Meter, on_progress: Progress) -> JudgedSet:
    """What every arm makes of every row, and what the one that matters most makes of it once more."""
    results: Results = {name: [] for name in given.arms}
    again: list[RowResult] = []
    apart: list[RelevantPassed] = []
    arms = {name: arm_of(name, given.comparators) for name in given.arms if name not in OF_THE_PRODUCT}
    main = _main_of(given)
    repeated = {} if main in OF_THE_PRODUCT else {main: arm_of(main, given.comparators)}
    bench: RecallBench | None = None
    shelf = ""
    async with anyio.create_task_group() as tasks:
        for done, row in enumerate(rows.rows, start=1):
            if bench is None or not row.shelf or row.shelf != shelf:
                bench = RecallBench(row.memories, meter, given.bench, spawn=starting(tasks))
                shelf = row.shelf
            found = await bench.look(row.text, row.now_ms)
            for name in given.arms:
                results[name].append(await _judge(name, row, found, bench, meter, arms))
            refound = await bench.look(row.text, row.now_ms)
            again.append(await _judge(main, row, refound, bench, meter, repeated))
            if given.has_compound and row.label.is_answerable:
                apart += await bench.look_apart(found.question, row.label.relevant, row.now_ms, row.text)
            on_progress(rows.name, done, len(rows.rows))
    return JudgedSet(results=results, again=again, apart=apart)


async def _judge(
    name: ArmName, row: EvalRow, found: Found, bench: RecallBench, meter: Meter, arms: dict[ArmName, Arm]
) -> RowResult:
    if name is ArmName.GATE:
        return _result(row, found.judged, found.gate_pairs, found.gate_ms)
    if name is ArmName.TURN_GATE:
        return _result(row, *await bench.look_with_turn_gate(row.text, row.now_ms))
    arm = arms[name]
    meter.begin()
    judged = arm(found.question, meter.score)
    elapsed_ms = found.search_ms + meter.elapsed_ms
    if isinstance(arm, OffenderPriors):
        arm.learn(judged, row.label.relevant)
    return _result(row, judged, meter.pairs, elapsed_ms)


def _result(row: EvalRow, judged: tuple[Judged, ...], pairs: int, elapsed_ms: float) -> RowResult:
    return RowResult(label=row.label, judged=judged, pairs_scored=pairs, elapsed_ms=elapsed_ms)


def _report(given: EvalInput, rows: EvalSet, judged: JudgedSet) -> SetReport:
    results = judged.results
    arms = {name.value: arm_report(results[name]) for name in given.arms}
    main = _main_of(given)
    answerable = sum(row.label.is_answerable for row in rows.rows)
    return SetReport(
        arms=arms,
        candidates=arms[main.value].candidates,
        rows=RowCounts(
            total=len(rows.rows) + rows.disputed,
            disputed=rows.disputed,
            answerable=answerable,
            nothing_relevant=len(rows.rows) - answerable,
        ),
        detectable=detectable(results[main]),
        control=control(main.value, results[main], judged.again),
        breakdown={name.value: breakdown(results[name]) for name in given.arms},
        compound=compound_rates(judged.apart) if given.has_compound else msgspec.UNSET,
    )


def _main_of(given: EvalInput) -> ArmName:
    """The gate, or the first arm where the gate was not asked for."""
    return ArmName.GATE if ArmName.GATE in given.arms else given.arms[0]


def starting(tasks: TaskGroup) -> Spawn:
    """Starts what a recall lets go on beside it among the tasks of the set."""

    def start(work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        tasks.start_soon(run)

    return start
