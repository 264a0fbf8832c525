from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.views import REWRITE_CHARS_MAX, View, ViewName, plan_views


def names(views: tuple[View, ...]) -> list[str]:
    return [view.name.value for view in views]


@pytest.mark.parametrize(
    ("query", "text", "cue", "expected"),
    [
        ("k8s?", "Deploys to Kubernetes", "", ["as_given"]),
        ("k8s?", "Deploys to Kubernetes", "k8s", ["cue", "as_given"]),
        ("what do I like?", "The user likes tea", "", ["as_given", "query_third_person", "record_first_person"]),
        (
            "what do I like?",
            "The user likes tea",
            "drinks",
            ["cue", "as_given", "query_third_person", "record_first_person"],
        ),
        ("what do I like?", "Likes tea", "", ["as_given", "query_third_person"]),
        ("tea?", "The user likes tea", "", ["as_given", "record_first_person"]),
        ("tea?", "Drinks: tea", "drinks", ["as_given"]),
    ],
)
def test_a_view_is_planned_only_where_its_text_differs(query: str, text: str, cue: str, expected: list[str]) -> None:
    assert names(plan_views(query, text, cue)) == expected


def test_each_view_changes_one_side_of_the_pair() -> None:
    views = plan_views("what do I like?", "The user likes tea", "drinks")
    assert [(view.query, view.text) for view in views] == [
        ("what do I like?", "drinks: The user likes tea"),
        ("what do I like?", "The user likes tea"),
        ("what does the user like?", "The user likes tea"),
        ("what do I like?", "I like tea"),
    ]


def test_long_texts_are_scored_as_given_only() -> None:
    assert names(plan_views("I " * REWRITE_CHARS_MAX, "The user. " * REWRITE_CHARS_MAX)) == [ViewName.AS_GIVEN]


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=10))
def test_there_is_always_a_view_and_never_the_same_pair_twice(query: str, text: str, cue: str) -> None:
    views = plan_views(query, text, cue)
    assert len({(view.query, view.text) for view in views}) == len(views) >= 1
    assert any((view.query, view.text) == (query, text) for view in views)
