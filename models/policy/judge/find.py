"""The local judge as a generator of facts: the sentence of a turn that most likely states one.

Guards: facts said in no canonical way, which no rule knows. Cost: the vectors, which the caller brings, and under a
millisecond. Fails: towards nothing. Its error rates are part of its calibration record and printed by
`recalld calibrate --admission`.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.models.domain.facts import FactCandidate, Generator
from recalld.models.domain.records import MemoryKind
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.judge.antecedent import with_antecedent
from recalld.models.policy.judge.flag_words import WordFlag, word_flags, words_of
from recalld.models.policy.judge.flags import read_flags, turn_language
from recalld.models.policy.judge.model import Judge
from recalld.models.policy.judge.phrases import read_phrases
from recalld.models.policy.judge.segments import Segment, split_segments
from recalld.models.policy.judge.wording import is_aside, statement_of
from recalld.models.policy.save_turn import SaveTurn

TURN_CHARS_EMBEDDED_MAX = 1_000
"""Characters of a turn whose vector stands for all of it."""
FINDS_MAX = 1
"""Facts found per turn. What stands beside a fact is mostly about it ("… every time you forgot"): taking the second
best as well brings more such neighbours than further facts."""
_INSTRUCTIONS = frozenset({WordFlag.STANDING, WordFlag.PREFERENCE, WordFlag.OPENER_IMPERATIVE})


class JudgeThresholds(msgspec.Struct, frozen=True, kw_only=True):
    """Log-odds from which a find counts.

    Attributes:
        balanced: From here on it is worth observing.
        strict: From here on it may become a record at once.
    """

    balanced: float
    strict: float

    def __post_init__(self) -> None:
        if self.strict < self.balanced:
            message = f"thresholds.strict must not lie below thresholds.balanced: {self.strict}, {self.balanced}"
            raise ValueError(message)


class JudgeTexts(msgspec.Struct, frozen=True, kw_only=True):
    """What of a turn has to be embedded, without the query prefix.

    Attributes:
        segments: What is judged, in text order; empty: there is nothing to judge.
        turn: The turn, or its head.
    """

    segments: tuple[Segment, ...]
    turn: str

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts: every segment's, then the turn's."""
        return (*(straight_apostrophes(segment.text) for segment in self.segments), self.turn) if self.segments else ()


def judge_texts(turn: SaveTurn) -> JudgeTexts:
    """What of a turn has to be embedded before it can be judged."""
    return JudgeTexts(segments=split_segments(turn), turn=straight_apostrophes(turn.text[:TURN_CHARS_EMBEDDED_MAX]))


def score_segments(
    turn: SaveTurn, segments: Sequence[Segment], vectors: Sequence[NDArray[np.float32]], judge: Judge
) -> tuple[float, ...]:
    """The log-odds of each segment.

    Args:
        turn: The turn.
        segments: Of the turn, at least one.
        vectors: Of `JudgeTexts.texts`, in order.
        judge: The model.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    flags = np.asarray(read_flags(turn, segments), dtype=np.float64)
    phrases = read_phrases(turn, segments)
    return tuple(map(float, judge.log_odds(rows[:-1], rows[-1], flags, phrases, turn_language(turn))))


def judge_sentences(
    turn: SaveTurn,
    vectors: Sequence[NDArray[np.float32]],
    judge: Judge,
    thresholds: JudgeThresholds,
    *,
    texts: JudgeTexts | None = None,
    rule: str = "judge",
) -> tuple[FactCandidate, ...]:
    """The facts that a turn seems to state, in text order, at most `FINDS_MAX`.

    Args:
        turn: The turn.
        vectors: Of `judge_texts(turn).texts`, in order.
        judge: The model.
        thresholds: What counts as a find.
        texts: What was embedded, where it is at hand.
        rule: The id of the calibration record.
    """
    segments = (texts or judge_texts(turn)).segments
    if not segments:
        return ()
    return found_facts(turn, segments, score_segments(turn, segments, vectors, judge), thresholds.balanced, rule=rule)


def found_facts(
    turn: SaveTurn, segments: Sequence[Segment], scores: Sequence[float], threshold: float, *, rule: str = "judge"
) -> tuple[FactCandidate, ...]:
    """The facts that scored segments of a turn stand for: see `judge_sentences`."""
    language = turn_language(turn)
    lasting = [
        (segment, score)
        for segment, score in zip(segments, scores, strict=True)
        if not is_aside(turn.text[segment.whole.start : segment.whole.end])
    ]
    places = found_places([score for _, score in lasting], threshold)
    return tuple(_candidate(turn, *lasting[place], language, rule) for place in places)


def found_places(scores: Sequence[float], threshold: float) -> tuple[int, ...]:
    """Which segments count as finds, in text order."""
    ranked = sorted(range(len(scores)), key=lambda place: -scores[place])
    return tuple(sorted(place for place in ranked[:FINDS_MAX] if scores[place] >= threshold))


def _candidate(turn: SaveTurn, segment: Segment, score: float, language: str, rule: str) -> FactCandidate:
    span = with_antecedent(turn, segment.whole)
    quote = turn.text[span.start : span.end]
    return FactCandidate(
        statement=statement_of(quote, language),
        kind=kind_of(segment, language),
        quote=quote,
        span=span,
        generator=Generator.JUDGE,
        rule=rule,
        score=score,
    )


def kind_of(segment: Segment, language: str) -> MemoryKind:
    """A guess by the words of the segment; a wrong one costs order in listings, never recall."""
    found = word_flags(words_of(segment.masked), language)
    if not _INSTRUCTIONS.isdisjoint(found) and WordFlag.FIRST_PLURAL not in found:
        return MemoryKind.PREFERENCE
    if WordFlag.FIRST_PLURAL in found and WordFlag.FIRST_PERSON not in found:
        return MemoryKind.CONVENTION
    return MemoryKind.ENTITY if WordFlag.KIN in found and WordFlag.POSSESSIVE in found else MemoryKind.FACT
