"""What a relevance head may look at: raw evidence of one candidate, as numbers.

Cost: a few comparisons. Fails: typed; what is missing or not a number is None, and then another head judges.

Most inputs speak for relevance, and relevance may never fall when one of them rises. The shape of the query speaks for
nothing by itself: it only says how much the others mean, so its weights may have either sign.
"""

from __future__ import annotations

import enum
import math
from typing import Final, Literal, assert_never

from recalld.models.domain.recall import Evidence, TextShape

LOGIT_MIN, LOGIT_MAX = -12.0, 12.0
"""The range of the cross-encoders in use: measured logits lie within [-11.6, 11.2]."""
LOG_WORDS_MAX: Final = 3.0
"""Where the query's length stops counting: ln(1 + 19 words). Longer messages are several sentences, of which the one
that asks decides; unbounded, a pasted text would pass by its length alone."""


class HeadInput(enum.StrEnum):
    """What a head may look at."""

    LOGIT = "logit"
    LOGIT_AS_GIVEN = "logit_as_given"
    """Of the view that changes nothing; the best logit stands in for it where only other views were scored."""
    LOGIT_REWRITTEN = "logit_rewritten"
    """The best of the other views; the best logit stands in for it where there is none or none was scored."""
    LOGIT_ABOVE_ZERO = "logit_above_zero"
    """max(0, logit). Below zero a logit says that the pair is unlike a question and its answer, which most relevant
    memories are; above, it says far more per unit."""
    COSINE = "cosine"
    CUE_COSINE = "cue_cosine"
    """The record's own cosine stands in for it when the record has no cue: its text is then its only heading."""
    ASK_COSINE = "ask_cosine"
    ASK_MEAN = "ask_mean"
    """Mean over the record's asks: one near ask among far ones is often near for its form alone."""
    QUERY_LENGTH = "query_length"
    """ln(1 + words of the query), at most `LOG_WORDS_MAX`: short queries have larger cosines with everything."""
    IS_QUESTION = "is_question"
    """1 for a query with a question mark, else 0."""
    IS_OPEN_QUESTION = "is_open_question"
    """1 for a query that opens with a question word, else 0: asks open so too, and are near to it for that alone."""
    IS_PERSONAL = "is_personal"
    """1 for a query that speaks of the user or of a group of theirs, else 0."""


SHAPE_INPUTS: Final = frozenset(
    {
        HeadInput.QUERY_LENGTH,
        HeadInput.IS_QUESTION,
        HeadInput.IS_OPEN_QUESTION,
        HeadInput.IS_PERSONAL,
    }
)
"""The inputs whose weight may be negative, and along which relevance may fall."""


def head_inputs(
    evidence: Evidence, inputs: tuple[HeadInput, ...], *, logit: float | None = None
) -> tuple[float, ...] | None:
    """The values a head looks at, logits clipped; None if one of them is unknown or not a number.

    Args:
        evidence: Of one candidate.
        inputs: What to look at.
        logit: To look at in place of every logit of the evidence; None: its own.
    """
    known: list[float] = []
    for name in inputs:
        value = _input(evidence, name, logit)
        if value is None or not math.isfinite(value):
            return None
        known.append(value)
    return tuple(known)


def _input(evidence: Evidence, name: HeadInput, assumed: float | None) -> float | None:
    match name:
        case HeadInput.LOGIT | HeadInput.LOGIT_ABOVE_ZERO | HeadInput.LOGIT_AS_GIVEN | HeadInput.LOGIT_REWRITTEN:
            return _of_logit(_view_logit(evidence, name) if assumed is None else assumed, name)
        case HeadInput.COSINE:
            return evidence.cosine
        case HeadInput.CUE_COSINE:
            return evidence.cosine if evidence.cue_cosine is None else evidence.cue_cosine
        case HeadInput.ASK_COSINE:
            return evidence.ask_cosine
        case HeadInput.ASK_MEAN:
            return evidence.ask_mean
        case _:
            return None if evidence.shape is None else _of_shape(evidence.shape, name)


def _view_logit(evidence: Evidence, name: HeadInput) -> float | None:
    """The logit that an input is about, or the best one where that view was not scored."""
    views = evidence.views
    own: float | None = None
    if views is not None and name is HeadInput.LOGIT_AS_GIVEN:
        own = views.as_given
    elif views is not None and name is HeadInput.LOGIT_REWRITTEN:
        own = views.rewritten
    return evidence.logit if own is None else own


def _of_logit(logit: float | None, name: HeadInput) -> float | None:
    if logit is None or math.isnan(logit):
        return None
    clipped = min(max(logit, LOGIT_MIN), LOGIT_MAX)
    return max(0.0, clipped) if name is HeadInput.LOGIT_ABOVE_ZERO else clipped


_ShapeInput = Literal[
    HeadInput.QUERY_LENGTH,
    HeadInput.IS_QUESTION,
    HeadInput.IS_OPEN_QUESTION,
    HeadInput.IS_PERSONAL,
]


def _of_shape(shape: TextShape, name: _ShapeInput) -> float:
    match name:
        case HeadInput.QUERY_LENGTH:
            return min(math.log1p(shape.words), LOG_WORDS_MAX)
        case HeadInput.IS_QUESTION:
            return float(shape.is_question)
        case HeadInput.IS_OPEN_QUESTION:
            return float(shape.is_open_question)
        case HeadInput.IS_PERSONAL:
            return float(shape.is_personal)
        case _:
            assert_never(name)
