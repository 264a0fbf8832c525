from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.records import TextOrigin
from recalld.models.policy.text_origins import added_by_rules, joined, origins_after

G, R, M = TextOrigin.GIVEN, TextOrigin.RULE, TextOrigin.MODEL


@pytest.mark.parametrize(
    ("origins", "more", "by", "expected"),
    [
        ((G, R, R), ("x",), G, ("a", "b", "x")),
        ((G, R, R), ("x", "y"), G, ("a", "x", "y")),
        ((M, R, R), ("x", "y", "z"), G, ("x", "y", "z")),
        ((R, M, G), ("x",), G, ("b", "c", "x")),
        ((R, M, G), ("x", "y"), M, ("b", "c", "x", "y")),
        ((), ("x",), G, ("a", "b", "c", "x")),
        ((G, R, R), ("B",), G, ("a", "b", "c")),
    ],
)
def test_what_is_new_displaces_rules_before_models_and_never_what_was_given(
    origins: tuple[TextOrigin, ...], more: tuple[str, ...], by: TextOrigin, expected: tuple[str, ...]
) -> None:
    assert joined(("a", "b", "c"), origins, more, 3, by=by) == expected


def test_no_origins_say_that_all_were_given() -> None:
    assert added_by_rules(2, 0) == ()
    assert added_by_rules(3, 2) == (G, R, R)
    assert origins_after(("a", "b"), ("a",), (R,), G) == (R, G)
    assert origins_after(("b",), ("a",), (R,), G) == ()


@given(
    st.lists(st.tuples(st.text(alphabet="abcdef", min_size=1), st.sampled_from(TextOrigin)), max_size=4),
    st.lists(st.text(alphabet="ghij", min_size=1), max_size=4),
)
def test_given_texts_and_new_ones_are_always_kept(present: list[tuple[str, TextOrigin]], more: list[str]) -> None:
    distinct = dict(reversed(present))
    kept = joined(tuple(distinct), tuple(distinct.values()), more, 3, by=G)
    assert {text for text, origin in distinct.items() if origin is G} | set(more) <= set(kept)
