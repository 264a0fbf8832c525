"""Print what mentions and added cues and asks do to retention and silence on the sources written for this project.

Run it as `python tests/calibration/mentions.py --model-dir DIR`. Each turn is judged by the shipped calibration against
its eight nearest records, once by relevance alone and once with the mention rule; the records are taken as their author
wrote them, and with what the shipped rules add to them. The German source is left out: no gate judges it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.daemon.calibrating import shipped_calibration
from recalld.daemon.own_calibration.labelling import Record, Turn, memory_of
from recalld.models.calibration.intervals import Proportion, wilson
from recalld.models.calibration.record import CalibrationRecord
from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory
from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.loading import load_bi_encoder, load_cross_encoder
from recalld.models.inference.manifest import BGE_SMALL, MS_MARCO_L12
from recalld.models.inference.onnx_session import NeverStop
from recalld.models.policy.enrichment import enrich
from recalld.models.policy.floor import FloorResult, passes_floor
from recalld.models.policy.gate_order import looking_order, with_shapes
from recalld.models.policy.gate_plan import CANDIDATES_MAX
from recalld.models.policy.gate_verdict import judge
from recalld.models.policy.mentions import MentionRule, mentions
from recalld.models.policy.subjects import QueryWords, subjects_of
from recalld.models.policy.views import chosen_views

SOURCES = Path(__file__).resolve().parents[2] / "models" / "calibration" / "data" / "sources"
GERMAN = "freiberufler"
NOMINATED_MAX = 40
"""Nearest records whose subjects are compared: about what a recall nominates."""

Vector = NDArray[np.float32]


class Embedded(msgspec.Struct, frozen=True, kw_only=True):
    memory: Memory
    record: Vector
    cues: tuple[Vector, ...]
    asks: tuple[Vector, ...]


class Counted(msgspec.Struct):
    kept: int = 0
    answerable: int = 0
    silent: int = 0
    unanswerable: int = 0

    def add(self, turn: Turn, shown: set[str]) -> None:
        if turn.nothing_relevant:
            self.unanswerable += 1
            self.silent += not shown
        else:
            self.answerable += 1
            self.kept += bool(shown & set(turn.relevant))


def memory_of_either(record: Record, *, is_enriched: bool) -> Memory:
    """The memory as its author wrote it, or with what the shipped rules add."""
    if is_enriched:
        enrichment = enrich(record.text, record.kind, record.cues, record.asks)
        record = msgspec.structs.replace(record, cues=enrichment.cues, asks=enrichment.asks)
    return memory_of(record)


def embedded(memory: Memory, embedder: BiEncoder) -> Embedded:
    return Embedded(
        memory=memory,
        record=embedder.embed(memory.text, is_query=False),
        cues=tuple(embedder.embed(cue, is_query=False) for cue in memory.cues),
        asks=tuple(embedder.embed(ask, is_query=False) for ask in memory.asks),
    )


def candidate_of(row: Embedded, query: Vector, question: Vector) -> Candidate:
    cues = [float(vector @ query) for vector in row.cues]
    asks = [float(vector @ question) for vector in row.asks]
    evidence = Evidence(
        cosine=float(row.record @ query),
        cue_cosine=max(cues, default=None),
        ask_cosine=max(asks, default=None),
        ask_mean=float(np.mean(asks)) if asks else None,
    )
    nearest = max(each for each in (evidence.cosine, evidence.cue_cosine, evidence.ask_cosine) if each is not None)
    best_cue = row.memory.cues[int(np.argmax(cues))] if cues else ""
    return Candidate(memory=row.memory, evidence=evidence, fused=nearest, best_cue=best_cue)


def scored(candidate: Candidate, text: str, scorer: CrossEncoder) -> Candidate:
    memory = candidate.memory
    views = chosen_views(text, memory.text, candidate.best_cue, has_asks=bool(memory.asks))
    logit = max(scorer.score(view.query, view.text, NeverStop()) for view in views)
    return msgspec.structs.replace(candidate, evidence=msgspec.structs.replace(candidate.evidence, logit=logit))


def count_source(
    rows: Sequence[Embedded],
    turns: Sequence[Turn],
    models: tuple[BiEncoder, CrossEncoder],
    calibration: CalibrationRecord,
    counted: dict[str, Counted],
) -> None:
    """Judge every turn of one source, without and with the rule."""
    embedder, scorer = models
    model = calibration.relevance_model()
    for turn in turns:
        query, question = (embedder.embed(turn.query, is_query=is_query) for is_query in (True, False))
        found = sorted((candidate_of(row, query, question) for row in rows), key=lambda each: -each.fused)
        nominated = with_shapes(found[:NOMINATED_MAX], turn.query)
        named = mentions(QueryWords(turn.query), {each.memory.id: subjects_of(each.memory) for each in nominated})
        above = [
            msgspec.structs.replace(
                each, evidence=msgspec.structs.replace(each.evidence, mention=named[each.memory.id])
            )
            for each in nominated
            if passes_floor(each.evidence, calibration.floors) is FloorResult.PASSED
        ]
        first = [each.candidate for each in looking_order(above, model)[:CANDIDATES_MAX]]
        judged = [scored(each, turn.query, scorer) for each in first]
        rule = MentionRule(calibration.floors, turn.query)
        for name, mention in (("relevance alone", None), ("with mentions", rule)):
            verdict = judge(judged, model=model, mention=mention)
            counted.setdefault(name, Counted()).add(turn, {item.memory.id for item in verdict.passed})


def show(share: Proportion) -> str:
    return f"{share.successes}/{share.n} = {share.value:.3f} [{share.low:.3f}, {share.high:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model-dir", type=Path, required=True)
    options = parser.parse_args()
    models = load_bi_encoder(options.model_dir, BGE_SMALL.id), load_cross_encoder(options.model_dir, MS_MARCO_L12.id)
    calibration = shipped_calibration()
    for is_enriched in (False, True):
        counted: dict[str, Counted] = {}
        for folder in sorted(path for path in SOURCES.iterdir() if path.is_dir() and path.name != GERMAN):
            lines = {name: (folder / f"{name}.jsonl").read_bytes().splitlines() for name in ("records", "turns")}
            records = [msgspec.json.decode(line, type=Record) for line in lines["records"]]
            turns = [msgspec.json.decode(line, type=Turn) for line in lines["turns"]]
            rows = [embedded(memory_of_either(record, is_enriched=is_enriched), models[0]) for record in records]
            count_source(rows, [turn for turn in turns if not turn.disputed], models, calibration, counted)
        print("records with what the rules add" if is_enriched else "records as written")
        for name, counts in counted.items():
            print(f"  {name:<16} retention {show(wilson(counts.kept, counts.answerable))}")
            print(f"  {'':<16} silence   {show(wilson(counts.silent, counts.unanswerable))}")


if __name__ == "__main__":
    main()
