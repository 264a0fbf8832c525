"""Fit the numbers of the designs that `recalld eval` compares the gate with, on the sources the gate was fitted on.

    python tests/calibration/fit_comparators.py --model-dir DIR

Each threshold keeps the same share of servable turns as the gate's own does there. The heads of `features` are
logistic, as the gate's own, over everything but the cross-encoder; both learn from the same turns, the second without
asks.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
import numpy as np
from fit_shipped import ENGLISH, TARGET
from labelling import Models

from recalld.daemon.evaluation.bench import RecallBench, bench_settings
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.evaluation.run import starting
from recalld.daemon.evaluation.sets import EvalSet, builtin_sets
from recalld.models.calibration.logistic import fit_head
from recalld.models.lab.arms import ArmName, arm_of, feature_candidates
from recalld.models.lab.comparators import FEATURES_WITH_ASKS, FEATURES_WITHOUT_ASKS, Comparators
from recalld.models.lab.results import Label, Question
from recalld.models.policy.head_inputs import HeadInput, head_inputs
from recalld.models.policy.logistic_head import LogisticHead

OUT = Path(__file__).resolve().parents[2] / "models" / "lab" / "data" / "comparators.json"
ANY = 1e-9
"""A threshold that everything passes, while there is none."""
Asked = list[tuple[Label, Question]]


async def ask(sets: Sequence[EvalSet], models: Models, meter: Meter) -> Asked:
    """What the product's search finds for every row."""
    settings = bench_settings(models.settings)
    found: Asked = []
    async with anyio.create_task_group() as tasks:
        for each in sets:
            bench = RecallBench(each.rows[0].memories, meter, settings, spawn=starting(tasks))
            for row in each.rows:
                found.append((row.label, (await bench.look(row.text, row.now_ms)).question))
    return found


def fit_features(asked: Asked, inputs: tuple[HeadInput, ...]) -> LogisticHead:
    """A head over the candidates of all rows; each row counts the same."""
    features, labels, weights = [], [], []
    for label, question in asked:
        candidates = feature_candidates(question)
        for each in candidates:
            values = head_inputs(each.evidence, inputs)
            if values is not None:
                features.append(values)
                labels.append(float(each.memory.id in label.relevant))
                weights.append(1.0 / len(candidates))
    return fit_head(inputs, np.asarray(features), np.asarray(labels), np.asarray(weights))


def threshold_of(asked: Asked, name: ArmName, comparators: Comparators, meter: Meter) -> float:
    """The highest threshold that keeps the target of the rows with a relevant candidate."""
    arm = arm_of(name, comparators)
    best: list[float] = []
    for label, question in asked:
        judged = [each for each in arm(question, meter.score) if each.memory_id in label.relevant]
        if judged:
            best.append(max((each.score for each in judged if each.score is not None), default=ANY))
    ranked = sorted(best)
    return ranked[int((1.0 - TARGET) * len(ranked))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    models = Models(given.model_dir)
    meter = Meter(models)
    sets = [each for each in builtin_sets() if each.name in ENGLISH]
    asked = anyio.run(ask, sets, models, meter)
    unfitted = Comparators(
        provenance=f"Fitted by tests/calibration/fit_comparators.py on {len(asked)} turns of {len(sets)} English "
        "sources written for this project.",
        target_retention=TARGET,
        three_views=ANY,
        cues=ANY,
        best_ask=ANY,
        contrast_z=ANY,
        features=ANY,
        with_asks=fit_features(asked, FEATURES_WITH_ASKS),
        without_asks=fit_features(asked, FEATURES_WITHOUT_ASKS),
    )
    fitted = msgspec.structs.replace(
        unfitted,
        three_views=threshold_of(asked, ArmName.THREE_VIEWS, unfitted, meter),
        cues=threshold_of(asked, ArmName.CUES, unfitted, meter),
        best_ask=threshold_of(asked, ArmName.BEST_ASK, unfitted, meter),
        contrast_z=threshold_of(asked, ArmName.CONTRAST_Z, unfitted, meter),
        features=threshold_of(asked, ArmName.FEATURES, unfitted, meter),
    )
    given.out.write_bytes(msgspec.json.format(msgspec.json.encode(fitted), indent=2) + b"\n")
    print(given.out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
