"""Gates apart and together: the joint share is counted, and no product of the parts stands in for it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.domain.recall import Candidate, Evidence
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.lab.compound import RelevantPassed, compound_rates, passed_of_row
from recalld.models.lab.results import Question


def memory(name: str) -> RelevantPassed:
    """One relevant memory, by the letters of the gates that let it through: s, t, f, r, p and j for all together."""
    return RelevantPassed(
        search="s" in name,
        turn="t" in name,
        floor="f" in name,
        relevance="r" in name,
        pack="p" in name,
        joint="j" in name,
    )


def test_gates_that_err_on_the_same_memories_pass_more_together_than_their_product() -> None:
    rates = compound_rates([memory("strfpj"), memory("strfpj"), memory("st"), memory("st")])
    assert (rates.turn.rate, rates.floor.rate, rates.relevance.rate, rates.pack.rate) == (1.0, 0.5, 0.5, 0.5)
    assert (rates.joint.k, rates.joint.n, rates.joint.rate) == (2, 4, 0.5)
    assert rates.product == 0.125


def test_gates_that_err_on_different_memories_pass_fewer_together() -> None:
    rates = compound_rates([memory("stfp"), memory("strp")])
    assert (rates.joint.rate, rates.product) == (0.0, 0.25)


def test_what_the_search_did_not_nominate_counts_against_the_whole_and_against_no_gate() -> None:
    rates = compound_rates([memory("strfpj"), memory("tp")])
    assert (rates.search.k, rates.search.n) == (1, 2)
    assert (rates.joint.k, rates.joint.n) == (1, 1)
    assert (rates.injected.k, rates.injected.n) == (1, 2)


def test_of_no_memory_nothing_is_said() -> None:
    rates = compound_rates([])
    assert (rates.joint.n, rates.joint.low, rates.joint.high) == (0, 0.0, 1.0)


@given(st.lists(st.builds(memory, st.text(alphabet="stfrpj", max_size=6))))
def test_every_rate_of_a_gate_is_of_what_the_search_nominated(memories: list[RelevantPassed]) -> None:
    rates = compound_rates(memories)
    nominated = sum(each.search for each in memories)
    assert {each.n for each in (rates.turn, rates.floor, rates.relevance, rates.pack, rates.joint)} == {nominated}
    assert 0.0 <= rates.product <= 1.0


def candidate(memory_id: str, chars: int = 10) -> Candidate:
    kept = Memory(
        id=memory_id,
        user="u",
        text="x" * chars,
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        expires_at_ms=None,
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        revision=1,
    )
    return Candidate(memory=kept, evidence=Evidence(cosine=0.5), fused=1.0)


@pytest.mark.parametrize(("max_items", "max_chars", "packed"), [(1, 100, ["a"]), (3, 25, ["a", "c"]), (3, 100, ["a"])])
def test_each_gate_of_a_row_is_looked_at_alone(max_items: int, max_chars: int, packed: list[str]) -> None:
    a, b, c = candidate("a"), candidate("b", 90), candidate("c")
    question = Question(query="q", above_floor=(a, b), nominated=(a, b, c), floor_items=("a",))
    passed = passed_of_row(
        question,
        {"a", "c", "elsewhere"},
        is_turn_run=False,
        unfloored={"c"},
        injected={"a"},
        max_items=max_items,
        max_chars=max_chars,
    )
    assert [each.search for each in passed] == [True, True, False]
    assert [each.turn for each in passed] == [False, False, False]
    assert [each.floor for each in passed] == [True, False, False]
    assert [each.relevance for each in passed] == [False, True, False]
    assert [each.joint for each in passed] == [True, False, False]
    assert [name for name, each in zip("ac", passed[:2], strict=True) if each.pack] == packed
