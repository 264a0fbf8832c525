"""The arms of an evaluation: the gate's simpler and its rejected relatives, each a pure function of one question.

| arm | looks at | passes |
|---|---|---|
| `floor_only` | what the product hands over without a gate | all of it |
| `one_view_0.02` | the first three above the floor, as given | sigmoid of the logit from 0.02, the model's own cut |
| `three_views` | the same three, also with the grammatical person changed | the largest logit, fitted threshold |
| `cues` | the first eight above the floor, also with a heading in front | the largest logit, fitted threshold |
| `best_ask` | every candidate above the floor that has asks | the nearest ask's cosine, fitted threshold |
| `contrast_z` | the first three of the list | cosine against the list's mean and deviation, fitted threshold |
| `features` | the first eight above the floor, no cross-encoder | a head over cosines, length and names, fitted |
| `offender_priors` | as `floor_only` | unless it was mostly handed over in vain before |
| `no_floor_0.02` | the first eight, whatever their cosine, as given | sigmoid of the logit from 0.02 |

The gate itself is no arm of this module: it is the product's own recall.
"""

from __future__ import annotations

import enum
import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from statistics import fmean, pstdev
from typing import Final

from recalld.models.domain.recall import Candidate
from recalld.models.lab.comparators import Comparators
from recalld.models.lab.results import Judged, Question
from recalld.models.policy.gate_order import with_shapes
from recalld.models.policy.gate_plan import CANDIDATES_MAX
from recalld.models.policy.head_inputs import head_inputs
from recalld.models.policy.pair_shape import with_pair_shapes
from recalld.models.policy.passages import judged_text
from recalld.models.policy.sigmoid import sigmoid
from recalld.models.policy.views import View, ViewName, plan_views

ITEMS_MAX: Final = 5
"""As the daemon hands over by default."""
FLOOR_ITEMS: Final = 3
"""As the daemon hands over by default where no gate judges."""
DOCUMENTED_CUT: Final = 0.02
"""The cut at which the cross-encoder is used where nobody has calibrated it."""
OFFENCE_MAX: Final = 0.75
"""Share of vain hand-overs, with one of each kind assumed beforehand, from which on a memory is held back."""

Score = Callable[[str, str], float]
"""The logit of a query and a text."""
Arm = Callable[[Question, Score], tuple[Judged, ...]]


class ArmName(enum.StrEnum):
    """What can be compared."""

    FLOOR_ONLY = "floor_only"
    ONE_VIEW = "one_view_0.02"
    THREE_VIEWS = "three_views"
    CUES = "cues"
    BEST_ASK = "best_ask"
    GATE = "gate"
    TURN_GATE = "gate_and_turn_gate"
    CONTRAST_Z = "contrast_z"
    FEATURES = "features"
    OFFENDER_PRIORS = "offender_priors"
    NO_FLOOR = "no_floor_0.02"


OF_THE_PRODUCT: Final = frozenset({ArmName.GATE, ArmName.TURN_GATE})
"""Arms that are the product's own recall."""


class OffenderPriors:
    """What was handed over in vain before is held back; the only arm that learns, from the rows before, in order."""

    def __init__(self) -> None:
        self._shown: Counter[str] = Counter()
        self._in_vain: Counter[str] = Counter()

    def __call__(self, question: Question, _score: Score) -> tuple[Judged, ...]:
        """Judge with what has been learned so far."""
        return tuple(
            Judged(
                memory_id=each.memory.id,
                kind=each.memory.kind,
                score=1.0 - self.offence(each.memory.id),
                is_injected=self.offence(each.memory.id) < OFFENCE_MAX,
            )
            for each in _floor_list(question)
        )

    def offence(self, memory_id: str) -> float:
        """The expected share of vain hand-overs: the mean of a beta distribution that starts from one of each."""
        return (self._in_vain[memory_id] + 1) / (self._shown[memory_id] + 2)

    def learn(self, judged: Sequence[Judged], relevant: Collection[str]) -> None:
        """Take note of what became of a row.

        Args:
            judged: What this arm made of it.
            relevant: Ids of what was relevant.
        """
        for each in judged:
            if each.is_injected:
                self._shown[each.memory_id] += 1
                self._in_vain[each.memory_id] += each.memory_id not in relevant


def arm_of(name: ArmName, comparators: Comparators) -> Arm:
    """The arm of a name, new for each set.

    Args:
        name: None of the product's own.
        comparators: Fitted numbers.

    Raises:
        ValueError: It is one of the product's own.
    """
    cut = DOCUMENTED_CUT
    arms: dict[ArmName, Arm] = {
        ArmName.FLOOR_ONLY: _floor_only,
        ArmName.ONE_VIEW: lambda question, score: _by_logit(question.above_floor[:FLOOR_ITEMS], question, score, cut),
        ArmName.THREE_VIEWS: lambda question, score: _by_logit(
            question.above_floor[:FLOOR_ITEMS], question, score, comparators.three_views, views=_without_cue
        ),
        ArmName.CUES: lambda question, score: _by_logit(
            question.above_floor[:CANDIDATES_MAX], question, score, comparators.cues, views=plan_views
        ),
        ArmName.BEST_ASK: lambda question, _score: _by_ask(question, comparators.best_ask),
        ArmName.CONTRAST_Z: lambda question, _score: _by_contrast(question, comparators.contrast_z),
        ArmName.FEATURES: lambda question, _score: _by_features(question, comparators),
        ArmName.OFFENDER_PRIORS: OffenderPriors(),
        ArmName.NO_FLOOR: lambda question, score: _by_logit(question.nominated[:CANDIDATES_MAX], question, score, cut),
    }
    if name not in arms:
        message = f"{name.value} is the product's own recall, and no arm to be made here"
        raise ValueError(message)
    return arms[name]


def held_against(scored: Sequence[tuple[Candidate, float | None]], threshold: float) -> tuple[Judged, ...]:
    """The candidates, of which the best `ITEMS_MAX` that reach the threshold are handed over.

    Args:
        scored: Each with its score; None never passes. Ties keep their order.
        threshold: What equals it passes.
    """
    passing = [(each, score) for each, score in scored if score is not None and score >= threshold]
    passing.sort(key=lambda pair: -pair[1])
    injected = {each.memory.id for each, _ in passing[:ITEMS_MAX]}
    return tuple(
        Judged(
            memory_id=each.memory.id,
            kind=each.memory.kind,
            score=score,
            is_injected=each.memory.id in injected,
        )
        for each, score in scored
    )


def feature_candidates(question: Question) -> tuple[Candidate, ...]:
    """What `features` judges, with all that its heads look at."""
    shaped = with_shapes(question.above_floor[:CANDIDATES_MAX], question.query)
    return with_pair_shapes(shaped, question.query)


def _floor_only(question: Question, _score: Score) -> tuple[Judged, ...]:
    return tuple(
        Judged(memory_id=each.memory.id, kind=each.memory.kind, score=each.fused, is_injected=True)
        for each in _floor_list(question)
    )


def _floor_list(question: Question) -> list[Candidate]:
    by_id = {each.memory.id: each for each in question.nominated}
    return [by_id[memory_id] for memory_id in question.floor_items if memory_id in by_id]


def _as_given(query: str, text: str, _cue: str) -> tuple[View, ...]:
    return tuple(view for view in plan_views(query, text) if view.name is ViewName.AS_GIVEN)


def _without_cue(query: str, text: str, _cue: str) -> tuple[View, ...]:
    return plan_views(query, text)


def _by_logit(
    candidates: Sequence[Candidate],
    question: Question,
    score: Score,
    threshold: float,
    *,
    views: Callable[[str, str, str], tuple[View, ...]] = _as_given,
) -> tuple[Judged, ...]:
    """By the sigmoid of the largest logit over the views."""
    scored: list[tuple[Candidate, float | None]] = []
    for each in candidates:
        text = judged_text(each.memory.text, each.passage)
        wanted = views(each.query or question.query, text, each.best_cue)
        scored.append((each, sigmoid(max(score(view.query, view.text) for view in wanted))))
    return held_against(scored, threshold)


def _by_ask(question: Question, threshold: float) -> tuple[Judged, ...]:
    return held_against([(each, each.evidence.ask_cosine) for each in question.above_floor], threshold)


def _by_contrast(question: Question, threshold: float) -> tuple[Judged, ...]:
    """By how far a cosine stands out of all cosines of the list, in standard deviations."""
    cosines = [each.evidence.cosine for each in question.nominated if each.evidence.cosine is not None]
    mean, deviation = (fmean(cosines), pstdev(cosines)) if cosines else (0.0, 0.0)
    scored = [(each, _standing_out(each.evidence.cosine, mean, deviation)) for each in question.nominated[:FLOOR_ITEMS]]
    return held_against(scored, threshold)


def _standing_out(cosine: float | None, mean: float, deviation: float) -> float | None:
    if cosine is None:
        return None
    return (cosine - mean) / deviation if deviation > 0.0 and math.isfinite(deviation) else 0.0


def _by_features(question: Question, comparators: Comparators) -> tuple[Judged, ...]:
    scored: list[tuple[Candidate, float | None]] = []
    for each in feature_candidates(question):
        relevance: float | None = None
        for head in (comparators.with_asks, comparators.without_asks):
            values = head_inputs(each.evidence, head.inputs)
            if values is not None:
                relevance = head.relevance(values)
                break
        scored.append((each, relevance))
    return held_against(scored, comparators.features)
