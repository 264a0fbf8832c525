"""What a relevance head may look at: raw evidence of one candidate, as numbers.

Cost: a few comparisons. Fails: typed; what is missing or not a number is None, and then another head judges.

Most inputs speak for relevance, and relevance may never fall when one of them rises. The shape of the query speaks for
nothing by itself: it only says how much the others mean, so its weights may have either sign. Nor do names that only
the record has, or a question mark in it: what they mean differs from store to store.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Final

from recalld.models.domain.recall import Evidence, PairShape, TextShape

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
    OTHER_NAMES = "other_names"
    """Names in the record that the query lacks: somebody else's affairs, or the answer, which only data can tell."""
    NAMES_HELD = "names_held"
    """1 for a record that has every name of the query, -1 for one that lacks one, 0 for a query without names."""
    RECORD_ASKS = "record_asks"
    """1 for a record with a question mark, else 0: raw turns are full of questions, which answer nothing."""
    TIME_FIT = "time_fit"
    """1 for a record of a time that the query speaks of, -1 for one of another, 0 for a query that speaks of none."""


SHAPE_INPUTS: Final = frozenset(
    {
        HeadInput.QUERY_LENGTH,
        HeadInput.IS_QUESTION,
        HeadInput.IS_OPEN_QUESTION,
        HeadInput.IS_PERSONAL,
        HeadInput.OTHER_NAMES,
        HeadInput.RECORD_ASKS,
    }
)
"""The inputs whose weight may be negative, and along which relevance may fall."""
PAIR_INPUTS: Final = frozenset({HeadInput.OTHER_NAMES, HeadInput.NAMES_HELD, HeadInput.RECORD_ASKS})
"""The inputs that need `Evidence.pair`, which nobody works out unless a head looks at one of them."""


class InputReader:
    """Reads what one head looks at, candidate after candidate; whatever is no logit is read once for all logits.

    Args:
        inputs: What to look at.
    """

    def __init__(self, inputs: tuple[HeadInput, ...]) -> None:
        self._count = len(inputs)
        self._fixed = tuple((place, _FIXED[name]) for place, name in enumerate(inputs) if name in _FIXED)
        self._logits = tuple((place, name) for place, name in enumerate(inputs) if name not in _FIXED)

    def fixed(self, evidence: Evidence) -> tuple[float, ...] | None:
        """The values with 0 for each logit; None if one of the others is unknown or not a number.

        Args:
            evidence: Of one candidate.
        """
        values = [0.0] * self._count
        for place, read in self._fixed:
            value = read(evidence)
            if value is None or not math.isfinite(value):
                return None
            values[place] = value
        return tuple(values)

    def logits_at(self, logit: float) -> tuple[tuple[int, float], ...]:
        """Place and value, clipped, of each input that is a logit, with one logit in place of all.

        Args:
            logit: A number, not NaN.
        """
        return tuple((place, _of_logit(logit, name)) for place, name in self._logits)

    def known(self, fixed: tuple[float, ...], evidence: Evidence) -> tuple[float, ...] | None:
        """The values with the evidence's own logits, clipped; None if one is unknown or not a number.

        Args:
            fixed: From `fixed`, of this evidence.
            evidence: Of one candidate.
        """
        values = list(fixed)
        for place, name in self._logits:
            logit = _view_logit(evidence, name)
            if logit is None or math.isnan(logit):
                return None
            values[place] = _of_logit(logit, name)
        return tuple(values)


def with_logits(fixed: tuple[float, ...], logits: tuple[tuple[int, float], ...]) -> tuple[float, ...]:
    """The values a head looks at.

    Args:
        fixed: From `InputReader.fixed`.
        logits: From `InputReader.logits_at`, of the same reader.
    """
    values = list(fixed)
    for place, value in logits:
        values[place] = value
    return tuple(values)


def head_inputs(evidence: Evidence, inputs: tuple[HeadInput, ...]) -> tuple[float, ...] | None:
    """The values a head looks at, logits clipped; None if one of them is unknown or not a number.

    Args:
        evidence: Of one candidate.
        inputs: What to look at.
    """
    reader = InputReader(inputs)
    fixed = reader.fixed(evidence)
    return None if fixed is None else reader.known(fixed, evidence)


def _view_logit(evidence: Evidence, name: HeadInput) -> float | None:
    """The logit that an input is about, or the best one where that view was not scored."""
    views = evidence.views
    own: float | None = None
    if views is not None and name is HeadInput.LOGIT_AS_GIVEN:
        own = views.as_given
    elif views is not None and name is HeadInput.LOGIT_REWRITTEN:
        own = views.rewritten
    return evidence.logit if own is None else own


def _of_logit(logit: float, name: HeadInput) -> float:
    clipped = min(max(logit, LOGIT_MIN), LOGIT_MAX)
    return max(0.0, clipped) if name is HeadInput.LOGIT_ABOVE_ZERO else clipped


def _cue_cosine(evidence: Evidence) -> float | None:
    return evidence.cosine if evidence.cue_cosine is None else evidence.cue_cosine


def _of_pair(read: Callable[[PairShape], float]) -> Callable[[Evidence], float | None]:
    return lambda evidence: None if evidence.pair is None else read(evidence.pair)


def _time_fit(evidence: Evidence) -> float:
    return 0.0 if evidence.is_in_interval is None else 1.0 if evidence.is_in_interval else -1.0


def _of_shape(read: Callable[[TextShape], float]) -> Callable[[Evidence], float | None]:
    return lambda evidence: None if evidence.shape is None else read(evidence.shape)


_FIXED: Final[Mapping[HeadInput, Callable[[Evidence], float | None]]] = MappingProxyType(
    {
        HeadInput.COSINE: attrgetter("cosine"),
        HeadInput.CUE_COSINE: _cue_cosine,
        HeadInput.ASK_COSINE: attrgetter("ask_cosine"),
        HeadInput.ASK_MEAN: attrgetter("ask_mean"),
        HeadInput.QUERY_LENGTH: _of_shape(lambda shape: min(math.log1p(shape.words), LOG_WORDS_MAX)),
        HeadInput.IS_QUESTION: _of_shape(lambda shape: float(shape.is_question)),
        HeadInput.IS_OPEN_QUESTION: _of_shape(lambda shape: float(shape.is_open_question)),
        HeadInput.IS_PERSONAL: _of_shape(lambda shape: float(shape.is_personal)),
        HeadInput.OTHER_NAMES: _of_pair(lambda pair: float(pair.other_names)),
        HeadInput.NAMES_HELD: _of_pair(lambda pair: float(pair.names_held)),
        HeadInput.RECORD_ASKS: _of_pair(lambda pair: float(pair.is_record_asking)),
        HeadInput.TIME_FIT: _time_fit,
    }
)
"""How each input that is no logit is read. A table, because dozens of candidates are read in each recall."""
