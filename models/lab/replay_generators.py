"""Generators with nothing behind them: what each would write if nobody ruled on it.

They are what the policy has to be compared with, and what it cannot bring back where they find nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from recalld.models.domain.facts import FactCandidate
from recalld.models.lab.replay_labels import WrittenRecord
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.collapse import named
from recalld.models.policy.judge.flag_words import WordFlag, word_flags, words_of
from recalld.models.policy.judge.flags import turn_language
from recalld.models.policy.judge.segments import Segment, split_segments
from recalld.models.policy.save_turn import QUESTION_MARKS, SaveTurn, prepare_turn
from recalld.models.policy.statements.find import find_stated

FIRST_PERSON_RULE: Final = "comparator:first_person"
_OF_THE_USER: Final = frozenset({WordFlag.FIRST_PERSON, WordFlag.FIRST_PLURAL, WordFlag.POSSESSIVE})


def prepared(text: str) -> SaveTurn:
    """The user's own words of a turn as generators read them, secrets taken out first."""
    return prepare_turn(redact(text).text)


def first_person(turn: SaveTurn) -> tuple[WrittenRecord, ...]:
    """Every sentence in which the user speaks of themselves and asks nothing: crude, and it misses little."""
    spans = {(each.whole.start, each.whole.end): None for each in _own_statements(turn)}
    quotes = [turn.text[start:end] for start, end in spans]
    return tuple(WrittenRecord(statement=quote, quote=quote, rule=FIRST_PERSON_RULE) for quote in quotes)


def by_rules(turn: SaveTurn) -> tuple[WrittenRecord, ...]:
    """What the rules find."""
    return tuple(map(written, find_stated(turn))) if turn.text else ()


def written(candidate: FactCandidate) -> WrittenRecord:
    """A candidate as if it were a record."""
    return WrittenRecord(statement=candidate.statement, quote=candidate.quote, rule=named(candidate))


def _own_statements(turn: SaveTurn) -> Iterator[Segment]:
    language = turn_language(turn)
    for segment in split_segments(turn):
        is_question = segment.closing in QUESTION_MARKS and segment.closing != ""
        if not is_question and not _OF_THE_USER.isdisjoint(word_flags(words_of(segment.masked), language)):
            yield segment
