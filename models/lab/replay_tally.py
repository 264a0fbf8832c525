"""From what a gate made of labelled turns to its figures.

Two units, told apart by name. A record is right when it states a labelled fact of its own turn, and wrong otherwise; a
fact is found when a record of its turn states it. A turn is wrong when any record of it is, and served when any is
right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from recalld.models.calibration.intervals import wilson
from recalld.models.lab.replay_labels import LabelledTurn, StatedFact, TurnResult, WrittenRecord
from recalld.models.lab.replay_match import is_right, matched
from recalld.models.lab.replay_report import Detectable, GateReport, WrongRecord
from recalld.models.lab.report import Control, Rate, rate_of
from recalld.models.lab.tally import percentile, smallest_difference


def gate_report(turns: Sequence[LabelledTurn], results: Sequence[TurnResult]) -> GateReport:
    """The figures of one gate.

    Args:
        turns: Either all weak, and then there is no precision, or none.
        results: What it made of each of them, in the same order.
    """
    pairs = list(zip(turns, results, strict=True))
    is_weak = any(turn.is_weak for turn in turns)
    writes = sum(len(result.records) for result in results)
    wrong = sum(len(wrong_records(turn, result)) for turn, result in pairs)
    written = [pair for pair in pairs if pair[1].records]
    spoilt = sum(bool(wrong_records(turn, result)) for turn, result in written)
    stating = [pair for pair in pairs if pair[0].facts]
    found = [found_facts(turn, result) for turn, result in stating]
    times = sorted(result.elapsed_ms for result in results)
    return GateReport(
        turns=len(turns),
        writes=writes,
        write_rate=writes / len(turns) if turns else 0.0,
        precision=None if is_weak else _rate(writes - wrong, writes),
        recall=_rate(sum(map(len, found)), sum(len(turn.facts) for turn, _ in stating)),
        wrong_per_1000=None if is_weak else 1000.0 * wrong / len(turns) if turns else 0.0,
        ms_p50=percentile(times, 0.5),
        ms_p95=percentile(times, 0.95),
        turn_precision=None if is_weak else _rate(len(written) - spoilt, len(written)),
        turn_recall=_rate(sum(map(bool, found)), len(stating)),
        observed=sum(result.observed for result in results),
        proposed=sum(result.proposed for result in results),
    )


def wrong_records(turn: LabelledTurn, result: TurnResult) -> tuple[WrittenRecord, ...]:
    """The records of a turn that state no labelled fact of it."""
    return tuple(record for record in result.records if not is_right(record, turn))


def found_facts(turn: LabelledTurn, result: TurnResult) -> frozenset[int]:
    """The facts of a turn, by their places, that are stored since."""
    kept = (*result.records, *result.restated)
    return frozenset(place for record in kept for place in matched(record, turn))


def listed_wrong(name: str, turns: Sequence[LabelledTurn], results: Sequence[TurnResult]) -> Iterator[WrongRecord]:
    """Every wrong record, with what let it in.

    Args:
        name: Of the set.
        turns: None of them weak.
        results: As for `gate_report`.
    """
    for turn, result in zip(turns, results, strict=True):
        for record in wrong_records(turn, result):
            yield WrongRecord(
                row=turn.row_id,
                turn=turn.place,
                statement=record.statement,
                rule=record.rule,
                also=record.also,
                set=name,
                reason=turn.reason,
            )


def without_unmet_ends(turn: LabelledTurn, results: Sequence[TurnResult]) -> LabelledTurn:
    """A turn without the facts that end what its store never held: nothing can close them in an empty store.

    Args:
        turn: As labelled.
        results: What the stacks made of it. What any of them stored all the same is kept.
    """
    ended = frozenset(place for result in results for end in result.unmet for place in matched(end, turn))
    ended -= frozenset(place for result in results for place in found_facts(turn, result))
    if not ended:
        return turn
    kept: tuple[StatedFact, ...] = tuple(fact for place, fact in enumerate(turn.facts) if place not in ended)
    moved = tuple(turn.facts[place] for place in sorted(ended))
    return msgspec.structs.replace(turn, facts=kept, also_right=(*turn.also_right, *moved))


def identity(gate: str, once: Sequence[TurnResult], again: Sequence[TurnResult]) -> Control:
    """On how many turns the same gate did something else the second time: anything but its time counts.

    Args:
        gate: Its name.
        once: What it made of each turn.
        again: The same turns, in the same order, once more.
    """
    pairs = zip(map(_untimed, once), map(_untimed, again), strict=True)
    return Control(arm=gate, rows=len(once), differences=sum(one != other for one, other in pairs))


def detectable_in(report: GateReport) -> Detectable:
    """What differences so many records and facts can tell from chance; see `tally.smallest_difference`."""
    return Detectable(
        precision=1.0 if report.precision is None else smallest_difference(report.precision.n),
        recall=smallest_difference(report.recall.n),
    )


def _untimed(result: TurnResult) -> TurnResult:
    return msgspec.structs.replace(result, elapsed_ms=0.0)


def _rate(k: int, n: int) -> Rate:
    return rate_of(wilson(k, n))
