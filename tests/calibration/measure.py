"""Try fits on one's own data on conversations that they have not seen: silence, retention, precision and pairs.

    python tests/calibration/measure.py FILE… [--stores FILE] [--fit-half] [--leave-one-out] [--head KIND]… [--pool]
        --model-dir DIR

What the gate in force does on such rows, beside other designs, `recalld eval` prints; docs/measuring.md has the format
of a file. Disputed rows are left out and counted. Each variant is reported by itself. The part of `user` before a colon
is the conversation.

With `--fit-half` each half of the conversations is judged by what `models.calibration.fit_own` makes of the other, and
with `--leave-one-out` each conversation by what it makes of all the others. `--head trees` lets small trees correct the
logistic heads where they help on conversations left out of the fit; `--head` may be given twice.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from labelling import Models
from tables import Counted, Rates, print_rates, rates

from recalld.daemon.calibrating import shipped_calibration
from recalld.daemon.own_calibration.labelling import Gated, Nominated, Record, gate, label_all, memory_of
from recalld.daemon.own_calibration.rows import (
    RecallRow,
    StoredRecord,
    by_store,
    conversation_of,
    now_of,
    present_of,
    records_of,
)
from recalld.daemon.own_calibration.rows import read_rows as read_file
from recalld.models.calibration.fit import HeadKind
from recalld.models.calibration.fit_own import FLOOR_ITEMS, VOLUME_MIN, OwnFitOptions, fit_own
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.gate_verdict import judge
from recalld.models.policy.relevance import RelevanceModel

MAX_ITEMS = 5
"""As the daemon hands over by default."""
FIT_HALF = "fit_half"
LEAVE_ONE_OUT = "leave_one_out"
HALF_VOLUME_MIN = msgspec.structs.replace(VOLUME_MIN, turns=VOLUME_MIN.turns // 2)
"""A half may have half of the turns."""

_Arm = Callable[[Nominated], tuple[Gated, Sequence[str]]]
"""What the gate looked at for a turn, and the ids it hands over."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The rates of one arm on one set."""

    file: str
    variant: str
    arm: str
    turns: int
    rates: Rates


class Measurement:
    """The fits, over one set of turns."""

    def __init__(self, models: Models, fits: Sequence[OwnFitOptions], *, splits: Sequence[str]) -> None:
        self._models = models
        self._fits = fits
        self._splits = splits

    def arms(self, turns: Sequence[Nominated]) -> dict[str, _Arm]:
        """Each split with each fit, by name."""
        return {
            f"{split} {options.head}": self._fitted(turns, options, split)
            for split in self._splits
            for options in self._fits
        }

    def _gated(self, turn: Nominated, model: RelevanceModel) -> tuple[Gated, Sequence[str]]:
        gated = gate(self._models, turn, model)
        return gated, [item.memory.id for item in judge(gated.candidates, model=model).passed][:MAX_ITEMS]

    def _fitted(self, turns: Sequence[Nominated], options: OwnFitOptions, split: str) -> _Arm:
        """Each turn judged by a fit on others: on the other half, or on all other conversations."""
        names = sorted({turn.conversation for turn in turns})
        if len(names) < 3:
            message = f"a fit on other conversations needs three of them at least, got {names}; try --pool"
            raise SystemExit(message)
        tests = [set(names[::2]), set(names[1::2])] if split == FIT_HALF else [{name} for name in names]
        fitted: dict[str, RelevanceModel] = {}
        for test in tests:
            others = [turn for turn in turns if turn.conversation not in test]
            model = fit_own(label_all(self._models, others, None), options)
            fitted |= dict.fromkeys(test, model)
            print(f"  {split} without {', '.join(sorted(test))}: {model.candidates_max} candidates", file=sys.stderr)
        return lambda turn: self._gated(turn, fitted[turn.conversation])


def read_rows(
    file: Path, stores: dict[str, list[Record]], models: Models, floors: FloorValues, *, is_pooled: bool
) -> dict[str, list[Nominated]]:
    """The turns of a file by variant, each with its candidates."""
    by_variant: dict[str, list[Nominated]] = {}
    rows = read_file(file, RecallRow)
    present = present_of(rows, stores)
    print(f"{file.name}: {sum(row.disputed for row in rows)} disputed rows left out", file=sys.stderr)
    for row in rows:
        if row.disputed:
            continue
        memories = [memory_of(record) for record in records_of(row, stores)]
        conversation = conversation_of(row)
        nominated = models.nominate(
            row, memories, floors, source=row.variant, conversation=conversation, now_ms=now_of(row, present)
        )
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
        is_floor_served=any(each.memory.id in turn.turn.relevant for each in turn.candidates[:FLOOR_ITEMS]),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--stores", type=Path, help="the records of the stores that rows name")
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--fit-half", action="store_true", help="fit on each half and judge the other")
    parser.add_argument("--leave-one-out", action="store_true", help="judge each conversation by all the others")
    parser.add_argument("--candidates-max", type=int, help="candidates to judge; chosen by the fit if not given")
    parser.add_argument("--target", type=float, default=0.95, help="share of answerable turns to keep with --fit-half")
    parser.add_argument(
        "--head", type=HeadKind, action="append", help="heads of --fit-half, logistic if not given; may be repeated"
    )
    parser.add_argument("--pool", action="store_true", help="report all variants of a file together")
    parser.add_argument("--json", action="store_true", help="one JSON object per arm and variant")
    given = parser.parse_args()
    stores = by_store(read_file(given.stores, StoredRecord) if given.stores else [])
    if not (given.fit_half or given.leave_one_out):
        parser.error("give --fit-half, --leave-one-out, or both")
    floors = shipped_calibration().floors
    models = Models(given.model_dir)
    heads = given.head or [HeadKind.LOGISTIC]
    fits = [
        OwnFitOptions(
            target_retention=given.target, candidates_max=given.candidates_max, head=head, volume_min=HALF_VOLUME_MIN
        )
        for head in heads
    ]
    splits = [*([FIT_HALF] if given.fit_half else []), *([LEAVE_ONE_OUT] if given.leave_one_out else [])]
    measurement = Measurement(models, fits, splits=splits)
    for file in given.files:
        for variant, turns in read_rows(file, stores, models, floors, is_pooled=given.pool).items():
            for name, arm in measurement.arms(turns).items():
                found = rates([count(turn, arm) for turn in turns])
                if given.json:
                    report = Report(file=file.name, variant=variant, arm=name, turns=len(turns), rates=found)
                    print(msgspec.json.encode(report).decode())
                else:
                    print_rates(f"{file.name} {variant}, {len(turns)} turns, {name}", found)


if __name__ == "__main__":
    main()
