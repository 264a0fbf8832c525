from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Evidence
from recalld.models.policy.foreign_floor import FOREIGN_COSINE_MIN, passes_foreign_floor

COSINES = st.floats(-1, 1) | st.none() | st.just(float("nan"))


def test_a_shared_word_is_enough_whatever_the_cosine() -> None:
    assert passes_foreign_floor(Evidence(cosine=0.1), shares_words=True)
    assert passes_foreign_floor(Evidence(), shares_words=True)


@pytest.mark.parametrize("field", ["cosine", "cue_cosine", "ask_cosine"])
def test_without_a_shared_word_any_one_cosine_must_be_very_near(field: str) -> None:
    assert passes_foreign_floor(Evidence(**{field: FOREIGN_COSINE_MIN}), shares_words=False)
    assert not passes_foreign_floor(Evidence(**{field: FOREIGN_COSINE_MIN - 1e-6}), shares_words=False)


def test_what_cannot_be_measured_and_shares_no_word_does_not_pass() -> None:
    assert not passes_foreign_floor(Evidence(), shares_words=False)
    assert not passes_foreign_floor(Evidence(cosine=float("nan")), shares_words=False)


@given(COSINES, COSINES, COSINES)
def test_more_evidence_never_makes_it_fail(record: float | None, cue: float | None, ask: float | None) -> None:
    evidence = Evidence(cosine=record, cue_cosine=cue, ask_cosine=ask)
    if passes_foreign_floor(evidence, shares_words=False):
        assert passes_foreign_floor(evidence, shares_words=True)
