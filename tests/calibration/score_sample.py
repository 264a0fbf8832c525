"""Write into the shipped calibration record how the gate's scores are distributed on the data of its fit.

Run it with `make score-sample` after `make calibration`. Heads, thresholds and floors stay as they are; `recalld
doctor` and `recalld stats` compare the scores of live recalls with this sample.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
from fit_shipped import ENGLISH, SHIPPED, nominate_source
from labelling import Models

from recalld.daemon.calibrating import running_keys
from recalld.daemon.own_calibration.labelling import gate
from recalld.models.calibration.record import dump_calibration, load_calibration
from recalld.models.policy.drift.histogram import histogram_of
from recalld.models.policy.gate_verdict import judge


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--record", type=Path, default=SHIPPED)
    given = parser.parse_args()
    record = load_calibration(given.record.read_bytes())
    models = Models(given.model_dir)
    mismatches = record.mismatches(running_keys(models.settings))
    if mismatches:
        parser.error("; ".join(each.sentence for each in mismatches))
    model = record.relevance_model()
    scores: list[float] = []
    for name in ENGLISH:
        for turn in nominate_source(name, models):
            verdict = judge(gate(models, turn, model, floors=record.floors).candidates, model=model)
            judged = [each.relevance for each in (*verdict.passed, *verdict.dropped) if each.relevance is not None]
            scores += [max(judged)] if judged else []
    sample = histogram_of(scores)
    given.record.write_bytes(dump_calibration(msgspec.structs.replace(record, scores=sample)))
    print(
        f"{record.id}: {sample.n} turns with a judged candidate; deciles {', '.join(f'{e:.4f}' for e in sample.edges)}"
    )


if __name__ == "__main__":
    main()
