"""Whose word a memory is: what the user said outright is theirs, what a program guessed once is nobody's."""

from __future__ import annotations

import pytest
from hypothesis import given
from standing_cases import candidate, candidates

from recalld.models.domain.facts import Generator
from recalld.models.domain.outcomes import OutcomeTally
from recalld.models.domain.records import MemorySource
from recalld.models.domain.standing import StandingCandidate, StandingVerdict, StandingWord
from recalld.models.policy.standing.rank import StandingRules, rank
from recalld.models.policy.standing.word import is_users_word, word_of
from recalld.models.policy.standing.worth import INFERRED, STATED, is_proven, prior_of

G, S = Generator, MemorySource
RULES = StandingRules(value_min=1.0, error_cost_words=200.0)


@pytest.mark.parametrize(
    ("source", "found_by", "is_promoted", "word"),
    [
        (S.EXPLICIT, (), False, StandingWord.ASKED),
        (S.HEURISTIC, (G.RULE, G.EXPLICIT), False, StandingWord.ASKED),
        (S.CONFIRMED, (), False, StandingWord.CONFIRMED),
        (S.MODEL, (G.MODEL, G.CONFIRMED), False, StandingWord.CONFIRMED),
        (S.HEURISTIC, (G.RULE,), False, StandingWord.SAID),
        (S.MODEL, (G.MODEL, G.RULE), False, StandingWord.SAID),
        (S.MODEL, (G.MODEL,), True, StandingWord.REPEATED),
        (S.HEURISTIC, (G.JUDGE,), True, StandingWord.REPEATED),
        (S.HEURISTIC, (G.JUDGE,), False, StandingWord.NOBODY),
        (S.MODEL, (G.MODEL,), False, StandingWord.NOBODY),
        (S.IMPORTED, (), False, StandingWord.NOBODY),
        (S.IMPORTED, (G.RULE,), False, StandingWord.SAID),
    ],
)
def test_the_strongest_of_what_speaks_for_it_says_whose_word_it_is(
    source: MemorySource, found_by: tuple[Generator, ...], *, is_promoted: bool, word: StandingWord
) -> None:
    judged = candidate(source=source, found_by=frozenset(found_by), is_promoted=is_promoted)
    assert word_of(judged) is word
    (row,) = rank((judged,), RULES)
    is_nobodys = word is StandingWord.NOBODY
    assert row.verdict is (StandingVerdict.UNPROVEN if is_nobodys else StandingVerdict.SHOWN)
    assert prior_of(judged) == (INFERRED if is_nobodys else STATED)


@given(judged=candidates())
def test_what_is_the_users_word_needs_no_use_to_stand(judged: StandingCandidate) -> None:
    assert is_proven(judged) or not is_users_word(judged)
    is_bare = judged.choice is None and judged.tally == OutcomeTally()
    assert not is_bare or is_proven(judged) is is_users_word(judged)
