"""Labelled turns as the judge sees them: cut, embedded, their flags and phrases read, their segments labelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.calibration.admission_data import AdmissionRow
from recalld.models.domain.facts import Span
from recalld.models.policy.judge.features import FLAG_COUNT, Matrix
from recalld.models.policy.judge.find import JudgeTexts, judge_texts
from recalld.models.policy.judge.flags import read_flags, turn_language
from recalld.models.policy.judge.phrases import Phrases, read_phrases
from recalld.models.policy.save_turn import SaveTurn, prepare_turn

Embed = Callable[[str], NDArray[np.float32]]
"""Embeds one text without the query prefix: shape (dims,)."""

OVERLAP_MIN = 0.5
"""Share of either, segment or quote, that has to be common to both, for the segment to state the fact."""


class JudgedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled turn as the judge sees it.

    Attributes:
        vectors: Shape (segments + 1, dims): of the segments and of the turn.
        flags: Shape (segments, flags).
        phrases: Those of each segment.
        facts: Where facts are stated.
        labels: For each segment, whether it states one.
        is_right: For each segment, whether what is stored of it states one.
    """

    row: AdmissionRow
    turn: SaveTurn
    texts: JudgeTexts
    vectors: Matrix
    flags: Matrix
    phrases: tuple[Phrases, ...]
    language: str
    facts: tuple[Span, ...]
    labels: tuple[bool, ...]
    is_right: tuple[bool, ...]


def prepare_row(row: AdmissionRow, embed: Embed) -> JudgedTurn:
    """Cut a turn, embed its pieces, read its flags and label them."""
    turn = prepare_turn(row.text)
    texts = judge_texts(turn)
    facts = row.quoted(turn.text)
    return JudgedTurn(
        row=row,
        turn=turn,
        texts=texts,
        vectors=np.asarray([embed(text) for text in texts.texts], dtype=np.float64),
        flags=np.asarray(read_flags(turn, texts.segments), dtype=np.float64).reshape(len(texts.segments), FLAG_COUNT),
        phrases=read_phrases(turn, texts.segments),
        language=turn_language(turn),
        facts=facts,
        labels=tuple(states_any(segment.span, facts) for segment in texts.segments),
        is_right=tuple(states_any(segment.whole, facts) for segment in texts.segments),
    )


def states_any(span: Span, facts: Sequence[Span]) -> bool:
    """Whether a part of a turn overlaps a stated fact by more than `OVERLAP_MIN` of either."""
    for fact in facts:
        common = min(span.end, fact.end) - max(span.start, fact.start)
        if common > OVERLAP_MIN * min(span.end - span.start, fact.end - fact.start):
            return True
    return False
