"""The drill command's work: every labelled row answered with the gates as they are, forced shut, and forced open.

Forced are the gates of the product's own recall, by the modes that an operator can set (`recall.mode`): nothing here
imitates them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import anyio
import msgspec

from recalld.daemon.evaluation.bench import BenchSettings, RecallBench
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.run import Progress, starting
from recalld.daemon.evaluation.sets import EvalRow, EvalSet
from recalld.models.domain.shadow import GateMode
from recalld.models.lab.drill import drill_set
from recalld.models.lab.drill_report import DrillSet
from recalld.models.lab.drill_rows import DrilledRow


class Drilled(msgspec.Struct, frozen=True, kw_only=True):
    """A set with what each arm handed over on every row, and the figures."""

    name: str
    rows: tuple[DrilledRow, ...]
    report: DrillSet


def drill(
    settings: BenchSettings, sets: Sequence[EvalSet], meter: Meter, rng: random.Random, on_progress: Progress
) -> list[Drilled]:
    """Answer all rows by all arms.

    Args:
        settings: How the product's recall is configured; in which mode it runs makes no difference.
        sets: On what.
        meter: The models.
        rng: Draws the random silence.
        on_progress: Told what is done.
    """
    drilled: list[Drilled] = []
    for each in sets:
        rows = anyio.run(_drill_rows, settings, each, meter, on_progress)
        meter.forget_logits()
        drilled.append(
            Drilled(name=each.name, rows=tuple(rows), report=drill_set(rows, disputed=each.disputed, rng=rng))
        )
    return drilled


async def _drill_rows(settings: BenchSettings, rows: EvalSet, meter: Meter, on_progress: Progress) -> list[DrilledRow]:
    answered: list[DrilledRow] = []
    bench: RecallBench | None = None
    shelf = ""
    async with anyio.create_task_group() as tasks:
        for done, row in enumerate(rows.rows, start=1):
            if bench is None or not row.shelf or row.shelf != shelf:
                bench = RecallBench(row.memories, meter, settings, spawn=starting(tasks))
                shelf = row.shelf
            answered.append(await _answer(bench, row))
            on_progress(rows.name, done, len(rows.rows))
    return answered


async def _answer(bench: RecallBench, row: EvalRow) -> DrilledRow:
    found = await bench.look(row.text, row.now_ms)
    shipped = await bench.hand_over(row.text, row.now_ms, GateMode.ENFORCE)
    again = await bench.hand_over(row.text, row.now_ms, GateMode.ENFORCE)
    shut = await bench.hand_over(row.text, row.now_ms, GateMode.SHADOW_SILENT)
    opened = await bench.hand_over(row.text, row.now_ms, GateMode.SHADOW_INJECT)
    return DrilledRow(
        label=row.label,
        is_found=any(each.memory.id in row.label.relevant for each in found.question.nominated),
        skip_reason=shipped.skip_reason,
        shipped=shipped.ids,
        again=again.ids,
        shut=shut.ids,
        opened=opened.ids,
        pairs_scored=shipped.pairs,
        elapsed_ms=shipped.elapsed_ms,
    )
