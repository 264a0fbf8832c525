from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Candidate, RecallQuery
from recalld.models.domain.records import Memory, MemoryStatus
from recalld.models.policy.duplicates import fold
from recalld.models.policy.exclusions import ExclusionRules, apply_exclusions, exclusion_reason, exclusion_rules

RULES = ExclusionRules(
    visible=frozenset({"mem_seen"}), excluded=frozenset({"mem_not"}), own_text="i like tea", scope="work", now_ms=1000
)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, None),
        ({"scope": "work"}, None),
        ({"scope": "home"}, DropReason.WRONG_SCOPE),
        ({"id": "mem_seen"}, DropReason.ALREADY_VISIBLE),
        ({"id": "mem_not"}, DropReason.EXCLUDED_BY_CALLER),
        ({"text": "I like tea!"}, DropReason.OWN_TEXT),
        ({"text": "I like tea too"}, None),
        ({"status": MemoryStatus.SUPERSEDED}, DropReason.NOT_LIVE),
        ({"status": MemoryStatus.FORGOTTEN}, DropReason.NOT_LIVE),
        ({"expires_at_ms": 1000}, DropReason.NOT_LIVE),
        ({"expires_at_ms": 1001}, None),
        ({"id": "mem_seen", "scope": "home"}, DropReason.WRONG_SCOPE),
    ],
)
def test_a_memory_is_left_out_for_this_reason(
    make_memory: Callable[..., Memory], fields: dict[str, str], expected: DropReason | None
) -> None:
    assert exclusion_reason(make_memory(**fields), RULES) is expected


def test_without_a_scope_every_scope_is_searched(make_memory: Callable[..., Memory]) -> None:
    rules = ExclusionRules(visible=frozenset(), excluded=frozenset(), own_text="", scope=None, now_ms=0)
    assert exclusion_reason(make_memory(scope="anything"), rules) is None


def test_a_query_that_folds_to_nothing_is_nobodys_own_text(make_memory: Callable[..., Memory]) -> None:
    query = RecallQuery(user="ines", session="s", text="...", exclude=("mem_x",), scope="work", deadline_s=1.0)
    rules = exclusion_rules(query, visible=frozenset({"mem_y"}), now_ms=5)
    assert (rules.own_text, rules.excluded, rules.visible) == ("", {"mem_x"}, {"mem_y"})
    assert exclusion_reason(make_memory(text="!"), rules) is None


def test_candidates_are_split_with_reasons_and_order_kept(make_candidate: Callable[..., Candidate]) -> None:
    first, seen, second = make_candidate("mem_1"), make_candidate("mem_seen", cosine=0.4), make_candidate("mem_2")
    split = apply_exclusions([first, seen, second], RULES)
    assert split.kept == (first, second)
    assert [(item.memory_id, item.reason, item.evidence.cosine) for item in split.dropped] == [
        ("mem_seen", DropReason.ALREADY_VISIBLE, 0.4)
    ]


@given(
    text=st.text("aBcß éÉ'\"\t\n.!0-`\u2019", min_size=1, max_size=8),
    front=st.text(" \t\n\x0b\x1c\"'", max_size=3),
)
def test_whatever_folds_to_the_query_is_the_askers_own_text(
    make_memory: Callable[..., Memory], text: str, front: str
) -> None:
    rules = msgspec.structs.replace(RULES, own_text=fold(text))
    for variant in (text, front + text, front + text.upper()):
        is_own = fold(variant) == rules.own_text != ""
        assert (exclusion_reason(make_memory(text=variant), rules) is DropReason.OWN_TEXT) is is_own
