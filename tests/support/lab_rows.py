"""Hand-made results, questions and models for the evaluation's tests."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.lab.results import Judged, Label, Question, RowResult


def judged(memory_id: str, *, injected: bool, score: float | None = None, kind: MemoryKind = MemoryKind.FACT) -> Judged:
    return Judged(memory_id=memory_id, kind=kind, score=score, is_injected=injected)


def result(
    row_id: str,
    *candidates: Judged,
    relevant: Sequence[str] = (),
    is_answerable: bool | None = None,
    kind: str = "made_up",
    source: str = "notes",
    pairs: int = 0,
    ms: float = 0.0,
) -> RowResult:
    label = Label(
        row_id=row_id,
        source=source,
        query_kind=kind,
        is_answerable=bool(relevant) if is_answerable is None else is_answerable,
        relevant=frozenset(relevant),
    )
    return RowResult(label=label, judged=candidates, pairs_scored=pairs, elapsed_ms=ms)


def candidate(
    memory_id: str, text: str, *, cosine: float | None = 0.5, ask: float | None = None, cue: str = ""
) -> Candidate:
    memory = Memory(
        id=memory_id,
        user="calibration",
        text=text,
        kind=MemoryKind.FACT,
        scope="",
        cues=(cue,) if cue else (),
        asks=("Which?",) if ask is not None else (),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=1,
    )
    evidence = Evidence(cosine=cosine, cue_cosine=cosine, ask_cosine=ask, ask_mean=ask)
    return Candidate(memory=memory, evidence=evidence, fused=cosine or 0.0, best_cue=cue)


def question(*above: Candidate, below: Sequence[Candidate] = (), query: str = "What about bread?") -> Question:
    return Question(
        query=query,
        above_floor=above,
        nominated=(*above, *below),
        floor_items=tuple(each.memory.id for each in above[:3]),
    )
