"""From records and turns to labelled turns: the product's own steps, without its actors, its store and its clock.

What the pipeline does with a recall is done here with the same functions: reading the turn's times, cosines of record,
cues and asks, fusion, floor, the gate's order, views, judging. All records are nominated; they have no age, and words
nominate nothing, which only matters where a store is larger than the gate looks at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.labelled import LabelledCandidate, LabelledTurn
from recalld.models.domain.recall import Candidate
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy.floor import FloorResult, FloorValues, passes_floor
from recalld.models.policy.fusion import VectorHit, evidence_of, fused_score
from recalld.models.policy.gate_order import looking_order, with_shapes
from recalld.models.policy.gate_plan import CANDIDATES_MAX
from recalld.models.policy.gate_verdict import ScoreFault, merge_logits
from recalld.models.policy.pair_shape import with_pair_shapes
from recalld.models.policy.preselection import CONSIDERED_MAX
from recalld.models.policy.query_reading import read_verdict
from recalld.models.policy.relevance import RelevanceModel, bounds
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.temporal.query_times import NO_TIMES, QueryTimes, without_times
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, TurnInput
from recalld.models.policy.turn_gate import decide
from recalld.models.policy.views import chosen_views, plan_views

_UTC: Final = ZoneInfo("UTC")
Vector = NDArray[np.float32]
Embed = Callable[[str], Vector]
Score = Callable[[str, str], float]


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A memory of the labelled data. `ts`: when it was made, in ISO 8601; empty: not known.

    Raises:
        ValueError: `id` or `text` is empty, or `ts` is not in ISO 8601.
    """

    id: str
    text: str
    kind: MemoryKind = MemoryKind.FACT
    cues: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    ts: str = ""

    def __post_init__(self) -> None:
        if not self.id or not self.text.strip():
            message = "id and text of a memory must not be empty; fill them in, or leave the memory out"
            raise ValueError(message)
        try:
            moment_ms(self.ts)
        except ValueError as error:
            message = f"ts: {error}; write it as 2026-11-30T12:00:00Z"
            raise ValueError(message) from error


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled message of the user. `relevant`: ids of the records that help with it."""

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
    times: QueryTimes = NO_TIMES


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


class PairModels:
    """Both models, each text and each pair looked at once.

    Args:
        embed: The vector of a record, a cue or an ask.
        embed_query: The vector of a query.
        score: The logit of a query and a text.
    """

    def __init__(self, embed: Embed, embed_query: Embed, score: Score) -> None:
        self.embed = cache(embed)
        self.embed_query = cache(embed_query)
        self.score = cache(score)

    def nominate(
        self,
        turn: Turn,
        memories: Sequence[Memory],
        floors: FloorValues,
        *,
        source: str,
        conversation: str,
        now_ms: int | None = None,
    ) -> Nominated:
        """The turn with all memories as candidates.

        Args:
            turn: The turn.
            memories: All that could be nominated.
            floors: Where fusion puts the middle of its scale.
            source: Where the turn comes from.
            conversation: The group that may not be split.
            now_ms: When it was said, Unix epoch milliseconds; None: not known, and then it speaks of no time.
        """
        query, question = self.embed_query(turn.query), self.embed(turn.query)
        times = NO_TIMES if now_ms is None else _times(turn.query, now_ms)
        found = [self._candidate(memory, query, question, floors, times) for memory in memories]
        found.sort(key=lambda each: -each.fused)
        shaped = with_pair_shapes(with_shapes(found, turn.query), turn.query)
        return Nominated(source=source, conversation=conversation, turn=turn, candidates=shaped, times=times)

    def scored(self, nominated: Nominated, candidate: Candidate) -> tuple[Candidate, int]:
        """The candidate with its logits, and how many pairs that took."""
        memory, query = candidate.memory, nominated.turn.query
        if candidate.evidence.is_in_interval:
            query = without_times(query, nominated.times)
        views = chosen_views(query, memory.text, candidate.best_cue, has_asks=bool(memory.asks))
        logits = [self.score(view.query, view.text) for view in views]
        merged = merge_logits((candidate,), [memory.id] * len(views), logits, views=[view.name for view in views])
        if isinstance(merged, ScoreFault):
            message = f"{memory.id}: {merged.value}"
            raise TypeError(message)
        return merged[0], len(views)

    def _candidate(
        self, memory: Memory, query: Vector, question: Vector, floors: FloorValues, times: QueryTimes
    ) -> Candidate:
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
        fused = fused_score(evidence, floors=floors, age_ms=0)
        if times.spans and memory.created_at_ms:
            evidence = msgspec.structs.replace(evidence, is_in_interval=times.holds(memory.created_at_ms))
            fused *= times.boost(memory.created_at_ms)
        return Candidate(
            memory=memory,
            evidence=evidence,
            fused=fused,
            best_cue=memory.cues[int(np.argmax(cues))] if cues else "",
        )


def memory_of(record: Record) -> Memory:
    """The record as the store would have it; without a time of its own, made at 0."""
    made_ms = moment_ms(record.ts) or 0
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
        created_at_ms=made_ms,
        updated_at_ms=made_ms,
        expires_at_ms=None,
        revision=1,
    )


def moment_ms(ts: str) -> int | None:
    """Unix epoch milliseconds of an ISO 8601 time, in UTC where it has no offset; None when it is empty.

    Raises:
        ValueError: It is no such time.
    """
    if not ts:
        return None
    at = datetime.fromisoformat(ts)
    return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


def gate(
    models: PairModels, nominated: Nominated, model: RelevanceModel | None, *, floors: FloorValues | None = None
) -> Gated:
    """Score what the gate would score if it had all the time.

    Args:
        models: To score with.
        nominated: The turn.
        model: Orders the candidates and says which need no score; None: order of fusion, everything needs one.
        floors: What is below is left out; None: nothing is.
    """
    above = [
        each
        for each in nominated.candidates
        if floors is None or passes_floor(each.evidence, floors) is not FloorResult.BELOW
    ][:CONSIDERED_MAX]
    ordered = above if model is None else [each.candidate for each in looking_order(above, model)]
    judged_max = min(CANDIDATES_MAX, (model.candidates_max if model else None) or CANDIDATES_MAX)
    looked_at: list[Candidate] = []
    undecided = pairs = 0
    for candidate in ordered:
        if model is not None and bounds(candidate.evidence, model).highest < model.threshold_of(candidate.memory.kind):
            looked_at.append(candidate)
            continue
        if undecided == judged_max:
            continue
        undecided += 1
        scored, count = models.scored(nominated, candidate)
        looked_at.append(scored)
        pairs += count
    query = nominated.turn.query
    return Gated(
        candidates=tuple(looked_at),
        pairs_scored=pairs,
        pairs_possible=sum(len(plan_views(query, each.memory.text, each.best_cue)) for each in ordered[:judged_max]),
    )


def label(models: PairModels, nominated: Nominated, model: RelevanceModel | None) -> LabelledTurn:
    """The turn with the first `CANDIDATES_MAX` candidates in the gate's order, all of them scored.

    Args:
        models: To score with.
        nominated: The turn.
        model: Orders the candidates; None: the order of fusion.
    """
    considered = nominated.candidates[:CONSIDERED_MAX]
    ordered = considered if model is None else [each.candidate for each in looking_order(considered, model)]
    return labelled(nominated, [models.scored(nominated, each)[0] for each in ordered[:CANDIDATES_MAX]])


def labelled(nominated: Nominated, candidates: Sequence[Candidate]) -> LabelledTurn:
    """The turn with some of its candidates, as they are.

    Args:
        nominated: The turn.
        candidates: Some of its own, scored or not, in the order in which a gate looks at them.
    """
    places = {each.memory.id: place for place, each in enumerate(nominated.candidates)}
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
                place=places[each.memory.id],
            )
            for each in candidates
        ),
    )


def label_all(models: PairModels, turns: Iterable[Nominated], model: RelevanceModel | None) -> list[LabelledTurn]:
    """As `label`, for each of the turns."""
    return [label(models, turn, model) for turn in turns]


def _times(query: str, now_ms: int) -> QueryTimes:
    """The expressions of time that the turn gate would find, read in UTC."""
    turn = TurnInput(
        parts=(MessagePart(text=query),),
        recent=NOT_SUPPLIED,
        now=datetime.fromtimestamp(now_ms / 1000, tz=UTC),
        zone=_UTC,
    )
    return read_verdict(decide(turn, find_times=find_intervals), query, is_unconditional=True, is_search=False).times
