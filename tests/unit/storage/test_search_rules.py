from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.actors.store.bm25 import QUERY_TERMS_MAX, inverse_document_frequency, length_factor
from recalld.actors.store.search_text import query_stems, search_text
from recalld.actors.store.stems import stem
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus


@pytest.mark.parametrize(
    ("word", "expected"),
    # Worked examples of Porter's paper, step by step.
    [
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("caress", "caress"),
        ("cats", "cat"),
        ("feed", "feed"),
        ("agreed", "agre"),
        ("plastered", "plaster"),
        ("bled", "bled"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflat"),
        ("troubled", "troubl"),
        ("sized", "size"),
        ("hopping", "hop"),
        ("tanned", "tan"),
        ("falling", "fall"),
        ("hissing", "hiss"),
        ("fizzed", "fizz"),
        ("failing", "fail"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "ski"),
        ("relational", "relat"),
        ("conditional", "condit"),
        ("rational", "ration"),
        ("digitizer", "digit"),
        ("vietnamization", "vietnam"),
        ("triplicate", "triplic"),
        ("hopeful", "hope"),
        ("goodness", "good"),
        ("revival", "reviv"),
        ("allowance", "allow"),
        ("replacement", "replac"),
        ("adjustment", "adjust"),
        ("adoption", "adopt"),
        ("region", "region"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("cease", "ceas"),
        ("controll", "control"),
        ("roll", "roll"),
        ("toy", "toy"),
        ("syzygy", "syzygi"),
    ],
)
def test_words_stem_as_in_porters_paper(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    "family",
    [
        ("deploy", "deploys", "deployed", "deploying", "deployment"),
        ("run", "runs", "running"),
        ("preference", "preferences"),
        ("cry", "cries", "cried", "crying"),
        ("connect", "connected", "connecting", "connection", "connections"),
        ("migrate", "migrates", "migrated", "migrating", "migration"),
    ],
)
def test_inflections_share_a_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    "word", ["", "is", "auth_token", "c++", "bench-100821", "k8s", "größe", "项目", "x" * 65, "Cats"]
)
def test_whatever_is_no_plain_word_stays_as_it_is(word: str) -> None:
    assert stem(word) == word


@given(st.text(alphabet="aeiouybcdlnstxz", max_size=64))
def test_a_stem_is_never_empty_and_never_longer_than_its_word_and_an_e(word: str) -> None:
    stemmed = stem(word)
    assert bool(stemmed) == bool(word)
    assert len(stemmed) <= len(word)


def memory(text: str, cues: tuple[str, ...] = (), asks: tuple[str, ...] = ()) -> Memory:
    return Memory(
        id="mem-1",
        user="ines",
        text=text,
        kind=MemoryKind.FACT,
        scope="",
        cues=cues,
        asks=asks,
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=0,
        updated_at_ms=0,
        expires_at_ms=None,
        revision=1,
    )


def test_extras_hold_only_what_the_text_lacks_and_both_are_distinct() -> None:
    found_by = search_text(memory("Runs, running tests", cues=("test runs daily",), asks=("Which daily tests run?",)))
    assert len(set(found_by.main)) == len(found_by.main)
    assert {"run", "test"} <= set(found_by.main)
    assert set(found_by.extras).isdisjoint(found_by.main)
    assert "daili" in found_by.extras


def test_query_stems_are_distinct_capped_and_whole_words() -> None:
    assert query_stems(["running", "runs", "", "two words", "nul\0l", "tea"]) == ("run", "tea")
    assert len(query_stems([f"term{number}x" for number in range(100)])) == QUERY_TERMS_MAX


@given(memories=st.integers(1, 10_000), share=st.floats(0, 1))
def test_a_rarer_term_weighs_more_and_none_weighs_nothing(memories: int, share: float) -> None:
    having = max(1, int(memories * share))
    weight = inverse_document_frequency(memories, having)
    assert weight > 0
    assert having == memories or inverse_document_frequency(memories, having + 1) < weight


@given(lengths=st.lists(st.integers(0, 500), min_size=2), mean=st.floats(0, 500))
def test_a_match_in_a_longer_memory_is_worth_less(lengths: list[int], mean: float) -> None:
    factors = [length_factor(length, mean) for length in sorted(set(lengths))]
    assert all(shorter > longer > 0 for shorter, longer in itertools.pairwise(factors))


def test_a_memory_of_mean_length_keeps_its_weight() -> None:
    assert length_factor(7, 7.0) == pytest.approx(1.0)
