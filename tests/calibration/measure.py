"""Measure the gate on labelled rows from elsewhere: silence, retention, precision and pairs, by kind of turn.

    python tests/calibration/measure.py FILE… [--stores FILE] [--fit-half [--head KIND]…] [--pool] --model-dir DIR

Each line of a FILE is a JSON object with `id, user, query, query_kind, nothing_relevant, relevant[ids]` and either
`memories[{id, text, kind?, cues?, asks?}]` or the name of a `store`, whose records `{store, id, text, …}` are the lines
of the file given with --stores; `exclude[ids]`, `variant` and `disputed` are optional, and disputed rows are left out.
Each variant is reported by itself. The part of `user` before a colon is the conversation: halves of `--fit-half` are
made of whole conversations, and each is judged by heads and threshold that were fitted on the other; the threshold is
the one that keeps the target on scores from heads that have not seen the conversation. `--head trees` lets small trees
correct the logistic heads where they help on conversations left out of the fit; `--head` may be given twice.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from labelling import Gated, Models, Nominated, Record, Turn, gate, label_all, memory_of, read_lines, with_logit
from tables import Counted, Rates, print_rates, rates

from recalld.daemon.calibrating import shipped_calibration
from recalld.models.calibration.fit import OWN_BYSTANDER_WEIGHT, OWN_HEADS, FitOptions, HeadKind, fit_model
from recalld.models.calibration.record import CalibrationRecord, load_calibration
from recalld.models.domain.recall import Candidate
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.gate_verdict import judge
from recalld.models.policy.relevance import RelevanceModel, uncalibrated

MAX_ITEMS = 5
"""As the daemon hands over by default."""
DEGRADED_MAX = 3
ONE_VIEW_THRESHOLD = 0.02
NO_FLOOR = None

_Arm = Callable[[Nominated], tuple[Gated, Sequence[str]]]
"""What the gate looked at for a turn, and the ids it hands over."""


class StoredRecord(Record, frozen=True, kw_only=True):
    store: str


class RecallRow(Turn, frozen=True, kw_only=True):
    user: str
    variant: str = ""
    store: str | None = None
    exclude: tuple[str, ...] = ()
    memories: tuple[Record, ...] = ()


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one arm on one set."""

    file: str
    variant: str
    arm: str
    turns: int
    rates: Rates


class Measurement:
    """The arms, over one set of turns."""

    def __init__(self, models: Models, record: CalibrationRecord, fits: Sequence[FitOptions]) -> None:
        self._models = models
        self._fits = fits
        self._floors = record.floors
        self._model = record.relevance_model()

    def arms(self, turns: Sequence[Nominated]) -> dict[str, _Arm]:
        """Each arm by name; also those that are fitted on the other half."""
        arms: dict[str, _Arm] = {
            "floor_only": self._floor_only,
            "one_view_0.02": self._one_view,
            "gate": lambda turn: self._gated(turn, self._model, self._floors),
        }
        arms |= {f"gate_fit_half {options.head}": self._fit_half(turns, options) for options in self._fits}
        return arms

    def _floor_only(self, turn: Nominated) -> tuple[Gated, Sequence[str]]:
        above = tuple(each for each in turn.candidates if _is_above(each, self._floors))[:DEGRADED_MAX]
        return Gated(candidates=above, pairs_scored=0, pairs_possible=0), [each.memory.id for each in above]

    def _one_view(self, turn: Nominated) -> tuple[Gated, Sequence[str]]:
        above = [each for each in turn.candidates if _is_above(each, self._floors)][:DEGRADED_MAX]
        score = self._models.score
        scored = tuple(with_logit(each, score(turn.turn.query, each.memory.text)) for each in above)
        verdict = judge(scored, model=uncalibrated(ONE_VIEW_THRESHOLD))
        gated = Gated(candidates=scored, pairs_scored=len(scored), pairs_possible=len(scored))
        return gated, [item.memory.id for item in verdict.passed]

    def _gated(self, turn: Nominated, model: RelevanceModel, floors: FloorValues | None) -> tuple[Gated, Sequence[str]]:
        gated = gate(self._models, turn, model, floors=floors)
        return gated, [item.memory.id for item in judge(gated.candidates, model=model).passed][:MAX_ITEMS]

    def _fit_half(self, turns: Sequence[Nominated], options: FitOptions) -> _Arm:
        conversations = sorted({turn.conversation for turn in turns})
        if len(conversations) < 2:
            message = f"--fit-half needs rows of two conversations at least, got {conversations}; try --pool"
            raise SystemExit(message)
        halves = (set(conversations[::2]), set(conversations[1::2]))
        fitted: list[RelevanceModel] = []
        for half in halves:
            mine = [turn for turn in turns if turn.conversation in half]
            first = fit_model(label_all(self._models, mine, None), options)
            fitted.append(fit_model(label_all(self._models, mine, first), options))

        def other(turn: Nominated) -> RelevanceModel:
            return fitted[1] if turn.conversation in halves[0] else fitted[0]

        return lambda turn: self._gated(turn, other(turn), NO_FLOOR)


def own_options(target: float, head: HeadKind) -> FitOptions:
    """How a calibration on one's own data is fitted."""
    return FitOptions(
        target_retention=target,
        heads=OWN_HEADS,
        head=head,
        bystander_weight=OWN_BYSTANDER_WEIGHT,
        has_held_out_threshold=True,
    )


def read_rows(
    file: Path, stores: dict[str, list[StoredRecord]], models: Models, floors: FloorValues, *, is_pooled: bool
) -> dict[str, list[Nominated]]:
    """The turns of a file by variant, each with its candidates."""
    by_variant: dict[str, list[Nominated]] = {}
    for row in read_lines(file, RecallRow):
        if row.disputed:
            continue
        records: Sequence[Record] = row.memories or stores[row.store or ""]
        memories = [memory_of(record) for record in records if record.id not in row.exclude]
        nominated = models.nominate(row, memories, floors, source=row.variant, conversation=row.user.partition(":")[0])
        by_variant.setdefault("all variants" if is_pooled else row.variant, []).append(nominated)
    return by_variant


def count(turn: Nominated, arm: _Arm) -> Counted:
    gated, passed = arm(turn)
    return Counted(
        query_kind=turn.turn.query_kind,
        is_answerable=not turn.turn.nothing_relevant,
        is_servable=any(each.memory.id in turn.turn.relevant for each in gated.candidates),
        injected=len(passed),
        relevant=len(set(passed) & set(turn.turn.relevant)),
        pairs_scored=gated.pairs_scored,
        pairs_possible=gated.pairs_possible,
    )


def _is_above(candidate: Candidate, floors: FloorValues) -> bool:
    return passes_floor(candidate.evidence, floors) is not FloorResult.BELOW


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--stores", type=Path, help="the records of the stores that rows name")
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--calibration", type=Path, help="a calibration record; the shipped one if not given")
    parser.add_argument("--fit-half", action="store_true", help="also fit on each half and judge the other")
    parser.add_argument("--target", type=float, default=0.95, help="share of answerable turns to keep with --fit-half")
    parser.add_argument(
        "--head", type=HeadKind, action="append", help="heads of --fit-half, logistic if not given; may be repeated"
    )
    parser.add_argument("--pool", action="store_true", help="report all variants of a file together")
    parser.add_argument("--json", action="store_true", help="one JSON object per arm and variant")
    given = parser.parse_args()
    stores: dict[str, list[StoredRecord]] = {}
    for record in read_lines(given.stores, StoredRecord) if given.stores else ():
        stores.setdefault(record.store, []).append(record)
    calibration = load_calibration(given.calibration.read_bytes()) if given.calibration else shipped_calibration()
    models = Models(given.model_dir)
    heads = given.head or [HeadKind.LOGISTIC]
    measurement = Measurement(
        models, calibration, [own_options(given.target, head) for head in heads] if given.fit_half else []
    )
    for file in given.files:
        for variant, turns in read_rows(file, stores, models, calibration.floors, is_pooled=given.pool).items():
            for name, arm in measurement.arms(turns).items():
                found = rates([count(turn, arm) for turn in turns])
                if given.json:
                    report = Report(file=file.name, variant=variant, arm=name, turns=len(turns), rates=found)
                    print(msgspec.json.encode(report).decode())
                else:
                    print_rates(f"{file.name} {variant}, {len(turns)} turns, {name}", found)


if __name__ == "__main__":
    main()
