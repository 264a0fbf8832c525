"""Fit the calibration that the package ships, on the sources written for this project, and print how it does.

Run it with `make calibration`. The German source is left out: the models read English, and the gate passes other
languages by the floor alone. The demo's data is left out, too, so that the demo shows turns the fit has not seen.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

import msgspec
import numpy as np

from recalld.actors.recall.floor_step import FloorStep
from recalld.actors.store.search_text import search_text
from recalld.daemon.calibrating import running_keys
from recalld.daemon.config import ModelsSettings, ServerSettings, Settings, StorageSettings
from recalld.models.calibration.fit import CalibrationInfo, fit_calibration
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn
from recalld.models.calibration.record import CalibrationRecord, dump_calibration
from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.loading import load_bi_encoder, load_cross_encoder
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.gate_plan import CANDIDATES_MAX
from recalld.models.policy.query_reading import read_query
from recalld.models.policy.views import chosen_views

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parent / "data" / "sources"
ENGLISH = ("backend-team", "corner-shop", "private-diary", "research-lab", "solo-developer")
GERMAN = "freiberufler"
DEGRADED_MAX = 3
SHIPPED = HERE.parents[1] / "models" / "calibration" / "data" / "default.json"
CUE_HANDICAP = 0.02
"""Cue and ask cosines lie a little above record cosines for equally good candidates; only the order sees it."""


class Record(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    text: str
    kind: str
    cues: tuple[str, ...]
    asks: tuple[str, ...]


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    query: str
    query_kind: str
    relevant: tuple[str, ...]
    nothing_relevant: bool
    disputed: bool = False


class NeverStops:
    """A stop flag that nobody sets."""

    def is_set(self) -> bool:
        return False

    def on_set(self, callback: object) -> None:
        """Nothing will ever be called."""


def read_source(name: str) -> tuple[list[Record], list[Turn]]:
    folder = SOURCES / name
    records = [msgspec.json.decode(line, type=Record) for line in (folder / "records.jsonl").read_bytes().splitlines()]
    turns = [msgspec.json.decode(line, type=Turn) for line in (folder / "turns.jsonl").read_bytes().splitlines()]
    return records, [turn for turn in turns if not turn.disputed]


def corpus_sha256(names: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for name in names:
        for file in ("records.jsonl", "turns.jsonl"):
            digest.update((SOURCES / name / file).read_bytes())
    return digest.hexdigest()


def label_source(name: str, embedder: BiEncoder, scorer: CrossEncoder) -> list[LabelledTurn]:
    records, turns = read_source(name)
    rows = [_vectors(record, embedder) for record in records]
    labelled: list[LabelledTurn] = []
    for turn in turns:
        query = embedder.embed(turn.query, is_query=True)
        question = embedder.embed(turn.query, is_query=False)
        found = [_evidence(row, query, question) for row in rows]
        order = sorted(range(len(records)), key=lambda place: -_nearness(found[place][0]))[:CANDIDATES_MAX]
        labelled.append(
            LabelledTurn(
                source=name,
                conversation=name,
                turn_id=turn.id,
                is_answerable=not turn.nothing_relevant,
                candidates=tuple(
                    LabelledCandidate(
                        memory_id=records[place].id,
                        evidence=msgspec.structs.replace(
                            found[place][0], logit=_best_logit(turn.query, records[place], found[place][1], scorer)
                        ),
                        is_relevant=records[place].id in turn.relevant,
                    )
                    for place in order
                ),
            )
        )
        if sys.stderr.isatty():
            print(f"\r{name}: {len(labelled)}/{len(turns)} turns", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return labelled


def _vectors(record: Record, embedder: BiEncoder) -> dict[str, list[np.ndarray]]:
    def embed(texts: tuple[str, ...]) -> list[np.ndarray]:
        return [embedder.embed(text, is_query=False) for text in texts]

    return {"record": embed((record.text,)), "cue": embed(record.cues), "ask": embed(record.asks)}


def _evidence(row: dict[str, list[np.ndarray]], query: np.ndarray, question: np.ndarray) -> tuple[Evidence, int | None]:
    cues = [float(vector @ query) for vector in row["cue"]]
    asks = [float(vector @ question) for vector in row["ask"]]
    evidence = Evidence(
        cosine=float(row["record"][0] @ query), cue_cosine=max(cues, default=None), ask_cosine=max(asks, default=None)
    )
    return evidence, int(np.argmax(cues)) if cues else None


def _nearness(evidence: Evidence) -> float:
    others = [cosine - CUE_HANDICAP for cosine in (evidence.cue_cosine, evidence.ask_cosine) if cosine is not None]
    return max(evidence.cosine or -1.0, *others, -1.0)


def _best_logit(query: str, record: Record, best_cue: int | None, scorer: CrossEncoder) -> float:
    cue = "" if best_cue is None else record.cues[best_cue]
    views = chosen_views(query, record.text, cue, has_asks=bool(record.asks))
    return max(scorer.score(view.query, view.text, NeverStops()) for view in views)


def report(record: CalibrationRecord, turns: list[LabelledTurn]) -> None:
    print(f"{record.id}: {record.n} turns, {record.positives} answerable, target retention {record.target_retention}")
    print(f"  threshold {record.threshold:.4f}, margin {record.margin}")
    print(f"  floors: record {record.floors.record:.3f}, cue {record.floors.cue:.3f}, ask {record.floors.ask:.3f}")
    for head in record.heads:
        weights = ", ".join(f"{name} {weight:.2f}" for name, weight in zip(head.inputs, head.weights, strict=True))
        print(f"  head: {weights}, intercept {head.intercept:.2f}")
    lost = sum(1 for turn in turns if turn.is_answerable and not turn.is_servable)
    print(f"  answerable turns without a relevant candidate among {CANDIDATES_MAX}: {lost}")
    print(f"  on the data of the fit: retention {show(record.retention)}, silence {show(record.silence)}")
    for source in record.held_out:
        print(f"  left out {source.source:<15} retention {show(source.retention)}, silence {show(source.silence)}")


def report_foreign(embedder: BiEncoder, floors: FloorValues) -> None:
    """What the two floors do on the German source, which no gate judges: items handed over are capped at three."""
    records, turns = read_source(GERMAN)
    rows = [_vectors(record, embedder) for record in records]
    memories = [_memory(record) for record in records]
    for name in ("English floors", "foreign floor"):
        kept = silent = 0
        for turn in turns:
            query, question = embedder.embed(turn.query, is_query=True), embedder.embed(turn.query, is_query=False)
            found = [
                Candidate(memory=memory, evidence=_evidence(row, query, question)[0], fused=0.0)
                for memory, row in zip(memories, rows, strict=True)
            ]
            nearest = sorted(found, key=lambda each: -_nearness(each.evidence))
            if name == "English floors":
                passed = [each for each in nearest if passes_floor(each.evidence, floors) is not FloorResult.BELOW]
            else:
                # The step looks below the ordinary floor only at what full-text search found; here at everything.
                reading = read_query(turn.query, is_search=True)
                step = FloorStep(floors, reading, stems_of=lambda memory: search_text(memory).stems, has_vectors=True)
                passed = list(step.split([_found_by_words(each) for each in nearest])[0])
            shown = {each.memory.id for each in passed[:DEGRADED_MAX]}
            kept += bool(shown & set(turn.relevant))
            silent += turn.nothing_relevant and not shown
        answerable = sum(not turn.nothing_relevant for turn in turns)
        print(
            f"  {GERMAN}, {name}: kept {show(wilson(kept, answerable))}, "
            f"silent {show(wilson(silent, len(turns) - answerable))}"
        )


def _memory(record: Record) -> Memory:
    return Memory(
        id=record.id,
        user="calibration",
        text=record.text,
        kind=MemoryKind(record.kind),
        scope="",
        cues=record.cues,
        asks=record.asks,
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=1,
    )


def _found_by_words(candidate: Candidate) -> Candidate:
    return msgspec.structs.replace(candidate, evidence=msgspec.structs.replace(candidate.evidence, lexical=0.0))


def show(share: Proportion) -> str:
    return f"{share.successes}/{share.n} = {share.value:.2f} [{share.low:.2f}, {share.high:.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", type=Path, required=True)
    parser.add_argument("--target", type=float, default=0.92, help="share of answerable turns to keep")
    parser.add_argument("--date", required=True, help="ISO date to write into the record")
    parser.add_argument("--out", type=Path, default=SHIPPED)
    options = parser.parse_args()
    settings = Settings(
        server=ServerSettings(socket_path=Path("/nonexistent/recalld.sock")),
        storage=StorageSettings(data_dir=Path("/nonexistent")),
        models=ModelsSettings(dir=options.model_dir),
    )
    embedder = load_bi_encoder(options.model_dir, settings.models.embedder)
    scorer = load_cross_encoder(options.model_dir, settings.models.cross_encoder)
    turns = [turn for name in ENGLISH for turn in label_source(name, embedder, scorer)]
    record = fit_calibration(
        turns,
        info=CalibrationInfo(
            id=f"shipped-{options.date}",
            date=options.date,
            provenance="Fitted by tests/calibration/fit_shipped.py on five English sources written for this project: "
            "records first, turns by another writer who saw the records' texts alone, labels read again by a third.",
            keys=running_keys(settings),
            corpus_id="+".join(ENGLISH),
            corpus_sha256=corpus_sha256(ENGLISH),
        ),
        target_retention=options.target,
    )
    options.out.write_bytes(dump_calibration(record))
    report(record, turns)
    report_foreign(embedder, record.floors)


if __name__ == "__main__":
    main()
