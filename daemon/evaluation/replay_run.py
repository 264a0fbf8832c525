"""The replay command's work: every gate on every conversation of every set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import anyio

from recalld.actors.recall.state import Spawn
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.replay_gates import STACKS, GateName, GateSettings, run_gate
from recalld.daemon.evaluation.replay_memo import JudgeMemo
from recalld.daemon.evaluation.replay_sources import ReplaySource
from recalld.daemon.evaluation.run import starting
from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_cases import UNDATED_MS, Case, SpokenTurn, Talk
from recalld.models.lab.replay_labels import TurnResult
from recalld.models.lab.replay_summary import SetResults

Progress = Callable[[str, int, int], None]
"""Called with the name of the set, its conversations that are done, and all of them."""
Results = dict[GateName, list[TurnResult]]
_WARM_UP: Final = "Remember that we deploy with Argo CD. I work at Acme, and my sister Mina lives in Graz."
"""Read once before anything is timed: the first turn loads the word lists and tables of all languages."""


def replay(
    given: GateSettings, sources: Sequence[ReplaySource], meter: Meter, on_progress: Progress
) -> list[SetResults]:
    """Replay all conversations through all gates.

    Args:
        given: What the gates are made of.
        sources: Which conversations.
        meter: The embedder.
        on_progress: Told what is done.
    """
    anyio.run(_warm_up, given, meter)
    return [anyio.run(_replay_source, given, each, meter, on_progress) for each in sources]


async def _replay_source(given: GateSettings, source: ReplaySource, meter: Meter, on_progress: Progress) -> SetResults:
    results: Results = {name: [] for name in given.names}
    again: list[TurnResult] = []
    async with anyio.create_task_group() as tasks:
        spawn = starting(tasks)
        for done, case in enumerate(source.cases, start=1):
            await _replay_case(given, case, meter, results, spawn)
            # The control asks the judge anew: one that changes its mind must show.
            again += await run_gate(GateName.STACK, case.talk, meter, given, spawn=spawn)
            on_progress(source.name, done, len(source.cases))
    return SetResults(
        name=source.name,
        is_weak=source.is_weak,
        cases=source.cases,
        excluded=source.excluded,
        results={name.value: tuple(found) for name, found in results.items()},
        again=tuple(again),
    )


async def _replay_case(given: GateSettings, case: Case, meter: Meter, results: Results, spawn: Spawn) -> None:
    memo = JudgeMemo()
    for name in given.names:
        if name is GateName.STACK:  # one of the positions has just been that
            count = len(case.labels)
            results[name] += results[STACKS[given.position]][-count:] if count else ()
        else:
            results[name] += await run_gate(name, case.talk, meter, given, spawn=spawn, memo=memo)


async def _warm_up(given: GateSettings, meter: Meter) -> None:
    turn = SpokenTurn(place=0, user="warm-up", speaker=Speaker.USER, text=_WARM_UP, at_ms=UNDATED_MS)
    async with anyio.create_task_group() as tasks:
        talk = Talk(row_id="", time_zone="", turns=(turn,))
        for name in given.names:
            await run_gate(name, talk, meter, given, spawn=starting(tasks))
