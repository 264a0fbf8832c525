from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.explicit_save import NotSaved, find_explicit_saves
from recalld.models.policy.terms import index_terms, query_terms
from recalld.models.policy.views import plan_views

APOSTROPHES = "'\u2018\u2019\u201b\u02bc\ua78c\uff07\u00b4\u2032\u02b9\u02ca\u055a\u07f4`"


@pytest.mark.parametrize("apostrophe", APOSTROPHES)
def test_every_apostrophe_inside_a_word_becomes_straight(apostrophe: str) -> None:
    name = f"O{apostrophe}Brien"
    assert straight_apostrophes(f"is {name} in?") == "is O'Brien in?"
    assert query_terms(f"{name} repo") == query_terms("O'Brien repo")
    assert index_terms(name) == index_terms("O'Brien")
    assert plan_views(f"where is {name}?", f"{name} is in Bern") == plan_views(
        "where is O'Brien?", "O'Brien is in Bern"
    )


@pytest.mark.parametrize("apostrophe", APOSTROPHES)
def test_a_refusal_is_understood_with_any_apostrophe(apostrophe: str) -> None:
    found = find_explicit_saves(f"don{apostrophe}t remember that I use vim")
    assert isinstance(found, NotSaved)
    assert found.reason == "refused_in_command"


def test_a_refusal_is_understood_through_invisible_characters() -> None:
    found = find_explicit_saves("do\u200bn't remem\u00adber that I use vim")
    assert isinstance(found, NotSaved)
    assert found.reason == "refused_in_command"


@pytest.mark.parametrize(
    "text", ["5\u2032 long", "\u00b4quoted\u00b4", "`code`", "a`b` c", "use `x`s", "`", "x` y", "\u02b9", "a`b `c"]
)
def test_what_is_no_apostrophe_stays(text: str) -> None:
    assert straight_apostrophes(text) == text


@given(st.text(st.one_of(st.sampled_from(APOSTROPHES + "ab \n5"), st.characters()), max_size=60))
def test_the_length_stays_and_a_second_time_changes_nothing(text: str) -> None:
    straight = straight_apostrophes(text)
    assert len(straight) == len(text)
    assert straight_apostrophes(straight) == straight
