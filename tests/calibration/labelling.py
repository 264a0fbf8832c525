"""From records and turns to labelled turns: the product's own steps, without its actors, its store and its clock.

What the pipeline does with a recall is done here with the same functions: cosines of record, cues and asks, fusion,
floor, the gate's order, views, judging. All records are nominated; they have no age, and words nominate nothing, which
only matters where a store is larger than the gate looks at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.daemon.config import ModelsSettings, ServerSettings, Settings, StorageSettings
from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn
from recalld.models.domain.recall import Candidate
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.inference.loading import load_bi_encoder, load_cross_encoder
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.fusion import VectorHit, evidence_of, fused_score
from recalld.models.policy.gate_order import looking_order, with_shapes
from recalld.models.policy.gate_plan import CANDIDATES_MAX
from recalld.models.policy.gate_verdict import ScoreFault, merge_logits
from recalld.models.policy.relevance import RelevanceModel, bounds
from recalld.models.policy.views import chosen_views, plan_views

CONSIDERED_MAX = 40
"""As `actors.recall.gate` has it."""
Vector = NDArray[np.float32]
Row = TypeVar("Row", bound=msgspec.Struct)


class Record(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    text: str
    kind: MemoryKind = MemoryKind.FACT
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    query: str
    query_kind: str
    relevant: tuple[str, ...]
    nothing_relevant: bool
    disputed: bool = False


class Nominated(msgspec.Struct, frozen=True, kw_only=True):
    """A turn and its candidates, best first by fusion, none of them scored."""

    source: str
    conversation: str
    turn: Turn
    candidates: tuple[Candidate, ...]


class NeverStops:
    """A stop flag that nobody sets."""

    def is_set(self) -> bool:
        return False

    def on_set(self, callback: object) -> None:
        """Nothing will ever be called."""


class Models:
    """Both models, each text and each pair looked at once."""

    def __init__(self, model_dir: Path) -> None:
        self.settings = Settings(
            server=ServerSettings(socket_path=Path("/nonexistent/recalld.sock")),
            storage=StorageSettings(data_dir=Path("/nonexistent")),
            models=ModelsSettings(dir=model_dir),
        )
        embedder = load_bi_encoder(model_dir, self.settings.models.embedder)
        scorer = load_cross_encoder(model_dir, self.settings.models.cross_encoder)
        self.embed = cache(lambda text: embedder.embed(text, is_query=False))
        self.embed_query = cache(lambda text: embedder.embed(text, is_query=True))
        self.score = cache(lambda query, text: scorer.score(query, text, NeverStops()))

    def nominate(
        self, turn: Turn, memories: Sequence[Memory], floors: FloorValues, *, source: str, conversation: str
    ) -> Nominated:
        query, question = self.embed_query(turn.query), self.embed(turn.query)
        candidates = [self._candidate(memory, query, question, floors) for memory in memories]
        candidates.sort(key=lambda each: -each.fused)
        return Nominated(
            source=source, conversation=conversation, turn=turn, candidates=with_shapes(candidates, turn.query)
        )

    def _candidate(self, memory: Memory, query: Vector, question: Vector, floors: FloorValues) -> Candidate:
        cues = [float(self.embed(cue) @ query) for cue in memory.cues]
        asks = [float(self.embed(ask) @ question) for ask in memory.asks]
        evidence = evidence_of(
            VectorHit(
                memory_id=memory.id,
                cosine=float(self.embed(memory.text) @ query),
                cue_cosine=max(cues, default=None),
                ask_cosine=max(asks, default=None),
                ask_mean=float(np.mean(asks)) if asks else None,
            )
        )
        return Candidate(
            memory=memory,
            evidence=evidence,
            fused=fused_score(evidence, floors=floors, age_ms=0),
            best_cue=memory.cues[int(np.argmax(cues))] if cues else "",
        )

    def scored(self, query: str, candidate: Candidate) -> tuple[Candidate, int]:
        """The candidate with its logits, and how many pairs that took."""
        memory = candidate.memory
        views = chosen_views(query, memory.text, candidate.best_cue, has_asks=bool(memory.asks))
        logits = [self.score(view.query, view.text) for view in views]
        merged = merge_logits((candidate,), [memory.id] * len(views), logits, views=[view.name for view in views])
        if isinstance(merged, ScoreFault):
            message = f"{memory.id}: {merged.value}"
            raise TypeError(message)
        return merged[0], len(views)


def with_logit(candidate: Candidate, logit: float) -> Candidate:
    return msgspec.structs.replace(candidate, evidence=msgspec.structs.replace(candidate.evidence, logit=logit))


def memory_of(record: Record) -> Memory:
    return Memory(
        id=record.id,
        user="calibration",
        text=record.text,
        kind=record.kind,
        scope="",
        cues=record.cues[:3],
        asks=record.asks[:4],
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=1,
    )


def read_lines(path: Path, row: type[Row]) -> list[Row]:
    return [msgspec.json.decode(line, type=row) for line in path.read_bytes().splitlines()]


class Gated(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate would look at, in its order.

    Attributes:
        candidates: Those it scores, with their logits, and those that it need not score, without.
        pairs_scored: Pairs it takes.
        pairs_possible: Pairs that every view of the same number of candidates would take.
    """

    candidates: tuple[Candidate, ...]
    pairs_scored: int
    pairs_possible: int


def gate(
    models: Models, nominated: Nominated, model: RelevanceModel | None, *, floors: FloorValues | None = None
) -> Gated:
    """Score what the gate would score if it had all the time.

    Args:
        models: To score with.
        nominated: The turn.
        model: Orders the candidates and says which need no score; None: order of fusion, everything needs one.
        floors: What is below is left out; None: nothing is.
    """
    query = nominated.turn.query
    above = [
        each
        for each in nominated.candidates
        if floors is None or passes_floor(each.evidence, floors) is not FloorResult.BELOW
    ][:CONSIDERED_MAX]
    ordered = above if model is None else [each.candidate for each in looking_order(above, model)]
    looked_at: list[Candidate] = []
    undecided = pairs = 0
    for candidate in ordered:
        if model is not None and bounds(candidate.evidence, model).highest < model.threshold_of(candidate.memory.kind):
            looked_at.append(candidate)
            continue
        if undecided == CANDIDATES_MAX:
            continue
        undecided += 1
        scored, count = models.scored(query, candidate)
        looked_at.append(scored)
        pairs += count
    return Gated(
        candidates=tuple(looked_at),
        pairs_scored=pairs,
        pairs_possible=sum(
            len(plan_views(query, each.memory.text, each.best_cue)) for each in ordered[:CANDIDATES_MAX]
        ),
    )


def label(models: Models, nominated: Nominated, model: RelevanceModel | None) -> LabelledTurn:
    """The turn with the first `CANDIDATES_MAX` candidates in the gate's order, all of them scored."""
    ordered = (
        list(nominated.candidates[:CONSIDERED_MAX])
        if model is None
        else [each.candidate for each in looking_order(nominated.candidates[:CONSIDERED_MAX], model)]
    )
    scored = [models.scored(nominated.turn.query, each)[0] for each in ordered[:CANDIDATES_MAX]]
    return LabelledTurn(
        source=nominated.source,
        conversation=nominated.conversation,
        turn_id=nominated.turn.id,
        query_kind=nominated.turn.query_kind,
        is_answerable=not nominated.turn.nothing_relevant,
        candidates=tuple(
            LabelledCandidate(
                memory_id=each.memory.id,
                evidence=each.evidence,
                is_relevant=each.memory.id in nominated.turn.relevant,
                kind=each.memory.kind,
            )
            for each in scored
        ),
    )


def label_all(models: Models, turns: Iterable[Nominated], model: RelevanceModel | None) -> list[LabelledTurn]:
    return [label(models, turn, model) for turn in turns]
