"""What a sentence's form says about it: who speaks, when, how surely, and what stands around it.

An embedding knows what a sentence is about and hardly how it is meant: "we use BigQuery", "do we use BigQuery" and "we
used BigQuery" lie side by side. Flags tell them apart.
Cost: one pass over the words of a turn of bounded length. Fails: towards flags that are not set; a language without
lists is read with the English ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from recalld.models.policy.gazetteer import gazetteer
from recalld.models.policy.judge.flag_words import WordFlag, word_flags, words_of
from recalld.models.policy.judge.segments import Segment
from recalld.models.policy.protected_spans import MASK
from recalld.models.policy.save_turn import QUESTION_MARKS, SaveTurn
from recalld.models.policy.stop_words import DEFAULT_LANGUAGE, LANGUAGES, vote_language
from recalld.models.policy.term_text import fold_word

_SHAPES: Final = (
    "question_mark",
    "exclamation_mark",
    "ends_in_colon",
    "follows_colon",
    "number",
    "clock_or_date",
    "known_name",
    "capital_inside",
    "code_or_quote",
    "log_words",
    "log_turn_words",
    "is_first",
    "is_last",
    "is_alone",
    "before_question",
    "after_question",
    "turn_has_question",
    "turn_has_code_or_quote",
    "turn_has_link",
    "starts_lower",
    "many_lines",
)
_FOREIGN: Final = tuple(language for language in LANGUAGES if language != DEFAULT_LANGUAGE)

FLAG_NAMES: Final = (
    *WordFlag,
    *(f"turn_{flag}" for flag in WordFlag),
    *(f"before_{flag}" for flag in WordFlag),
    *_SHAPES,
    *(f"language_{language}" for language in _FOREIGN),
)
"""What `read_flags` tells of a segment, in order: lists that occur in it, elsewhere in its turn and right before it;
its shape and its turn's; the turn's language."""

_NUMBER = re.compile(r"\d")
_CLOCK_OR_DATE = re.compile(
    r"\b\d{1,2}[:.h]\d{2}\b|\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\b(?:19|20)\d{2}\b"
)
_CAPITAL_INSIDE = re.compile(r"(?<=[\w,] )[A-Z]\w{2,}")
_LINK = re.compile(r"https?://|www\.")
_LINES_MANY = 4
_HEAD_CHARS = 2_000
"""Characters of a turn by which its language is told."""


def turn_language(turn: SaveTurn) -> str:
    """The language whose stop words the turn has most of; English when none wins."""
    return vote_language(fold_word(word).replace("'", "") for word in words_of(turn.masked[:_HEAD_CHARS]))


def read_flags(turn: SaveTurn, segments: Sequence[Segment]) -> tuple[tuple[float, ...], ...]:
    """The flags of each segment: one value for each of `FLAG_NAMES`."""
    language = turn_language(turn)
    words = [words_of(segment.masked) for segment in segments]
    found = [word_flags(each, language) for each in words]
    is_question = [segment.closing in QUESTION_MARKS and segment.closing != "" for segment in segments]
    last = len(segments) - 1
    of_turn = (
        math.log1p(sum(map(len, words))),
        float(any(is_question)),
        float(MASK in turn.masked),
        float(_LINK.search(turn.masked) is not None),
        float(turn.text.count("\n") >= _LINES_MANY),
    )
    language_flags = tuple(float(language == each) for each in _FOREIGN)
    return tuple(
        (
            *_lists(found[place]),
            *_lists(_merged([*found[:place], *found[place + 1 :]])),
            *_lists(found[place - 1] if place else {}),
            *_shape(segment, len(words[place]), of_turn, place, last, is_question, segments),
            *language_flags,
        )
        for place, segment in enumerate(segments)
    )


def _lists(found: Mapping[WordFlag, int]) -> tuple[float, ...]:
    return tuple(float(flag in found) for flag in WordFlag)


def _merged(found: Sequence[Mapping[WordFlag, int]]) -> dict[WordFlag, int]:
    return {flag: count for each in found for flag, count in each.items()}


def _shape(
    segment: Segment,
    words: int,
    of_turn: tuple[float, ...],
    place: int,
    last: int,
    is_question: Sequence[bool],
    segments: Sequence[Segment],
) -> tuple[float, ...]:
    log_turn_words, has_question, has_code, has_link, has_lines = of_turn
    text = segment.masked
    return (
        float(is_question[place]),
        float(segment.closing == "!"),
        float(segment.closing == ":"),
        float(place > 0 and segments[place - 1].closing == ":"),
        float(_NUMBER.search(text) is not None),
        float(_CLOCK_OR_DATE.search(text) is not None),
        float(bool(gazetteer().find(segment.text))),
        float(_CAPITAL_INSIDE.search(text) is not None),
        text.count(MASK) / len(text),
        math.log1p(words),
        log_turn_words,
        float(place == 0),
        float(place == last),
        float(last == 0),
        float(place < last and is_question[place + 1]),
        float(place > 0 and is_question[place - 1]),
        has_question,
        has_code,
        has_link,
        float(text[:1].islower()),
        has_lines,
    )
