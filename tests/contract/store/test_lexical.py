from __future__ import annotations

import pytest
from store_commands import DrivenStore

from recalld.models.domain.records import MemoryKind
from recalld.models.domain.store import FoundByWords
from recalld.models.policy.terms import query_terms

pytestmark = pytest.mark.anyio

ODD_QUERIES = [
    "GB/s",
    "O'Brien's repo?",
    "grammar::fa",
    "C++ or C#",
    'say "hello',
    "a ^ b",
    "blah=",
    "col:value",
    "( ( (",
    "*",
    '""',
    "AND",
    "NEAR me",
    "cats OR",
    "NOT",
    "main : tea",
    "{main extras} : tea",
    "1:tea",
    "tea*",
    "-tea",
    "^tea",
    "\x00tea\x1f",
]


@pytest.mark.parametrize("query", ["pre-edit", "BENCH-100821", "-100821", "the pre-edit check"])
async def test_hyphens_are_part_of_words_and_never_syntax(store: DrivenStore, query: str) -> None:
    # R06
    await store.remember("Run the pre-edit check before pushing; ticket BENCH-100821")
    assert await store.found(query) == ["mem-0001"]


@pytest.mark.parametrize("query", ODD_QUERIES)
async def test_no_query_is_ever_parsed_as_syntax(store: DrivenStore, query: str) -> None:
    # R07: neither policy's terms nor the raw query itself may fail.
    await store.remember("Prefers tea, at 3 GB/s, says O'Brien about grammar::fa")
    await store.found(query)
    await store.reader.lexical("ines", [query], now_ms=store.now_ms, limit=5, scope=None)


async def test_odd_words_are_found_literally(store: DrivenStore) -> None:
    await store.remember("The link does 3 GB/s")
    await store.remember("Written in C++")
    await store.remember("The letter C stands for carbon")
    assert await store.found("GB/s") == ["mem-0001"]
    assert await store.found("C++") == ["mem-0002"]


@pytest.mark.parametrize("query", ["DO NOT USE FIND /", "do not use find /"])
async def test_upper_case_words_are_no_operators(store: DrivenStore, query: str) -> None:
    # R08
    await store.remember("Never search the whole disk from root, avoid find /")
    await store.remember("Tea is at five")
    assert await store.found(query) == ["mem-0001"]


async def test_a_word_the_store_lacks_does_not_empty_the_result(store: DrivenStore) -> None:
    # R09
    await store.remember("The user's name is Ines")
    assert await store.found("user identity name") == ["mem-0001"]


@pytest.mark.parametrize("query", ["pnpm", "管理", "东京"])
async def test_words_glued_to_unspaced_scripts_are_found(store: DrivenStore, query: str) -> None:
    # R10
    await store.remember("项目用pnpm管理，部署在东京")  # noqa: RUF001 - the comma of that script
    assert await store.found(query) == ["mem-0001"]


async def test_combining_marks_do_not_cut_words(store: DrivenStore) -> None:
    await store.remember("हिन्दी में लिखें")
    assert await store.found("हिन्दी") == ["mem-0001"]


@pytest.mark.parametrize("query", ["deploy", "deploys", "deployed", "deploying", "deployment pipeline"])
async def test_inflections_of_a_word_find_each_other(store: DrivenStore, query: str) -> None:
    await store.remember("Deploying happens on Fridays through the pipelines")
    assert await store.found(query) == ["mem-0001"]


async def test_many_rare_words_beat_one_common_word(store: DrivenStore) -> None:
    # R11: bm25 the right way round, and no constant score.
    await store.remember("The quarterly zebra audit needs violet ink stamps")
    for number in range(10):
        await store.remember(f"Audit note number {number} about something {'very ' * number}else")
    terms = query_terms("zebra quarterly audit violet ink stamps")
    hits = await store.reader.lexical("ines", terms, now_ms=store.now_ms, limit=20, scope=None)
    scores = [hit.score for hit in hits]
    assert hits[0].memory_id == "mem-0001"
    assert len(hits) == 11
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 5 * scores[1] > 0
    assert len(set(scores)) > 1


async def test_a_single_memory_scores_above_zero(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    hits = await store.reader.lexical("ines", ["tea"], now_ms=store.now_ms, limit=5, scope=None)
    assert hits[0].score > 0.1


async def test_text_counts_more_than_cues_and_asks(store: DrivenStore) -> None:
    await store.remember("Drinks only water", asks=("Does the user like tea?",))
    await store.remember("Likes tea in cups")
    assert await store.found("tea") == ["mem-0002", "mem-0001"]


async def test_neighbours_neither_hide_nor_influence_what_is_found(store: DrivenStore) -> None:
    await store.remember("Prefers tea in the morning")
    await store.remember("Prefers coffee after lunch")
    alone = await store.reader.lexical("ines", ["tea", "prefers"], now_ms=store.now_ms, limit=1, scope=None)
    for number in range(60):
        await store.remember(f"Prefers tea number {number} with much more text than that", user="neighbour")
    beside = await store.reader.lexical("ines", ["tea", "prefers"], now_ms=store.now_ms, limit=1, scope=None)
    assert beside == alone
    assert [hit.memory_id for hit in alone] == ["mem-0001"]


async def test_a_user_whose_number_begins_another_number_is_another_user(store: DrivenStore) -> None:
    for number in range(12):
        await store.remember("Prefers tea", user=f"user-{number}")
    assert [await store.found("tea", user=f"user-{number}") for number in range(12)] == [
        [f"mem-{number + 1:04}"] for number in range(12)
    ]


async def test_a_scope_is_searched_together_with_the_global_one(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    await store.remember("Prefers tea at work", scope="work")
    await store.remember("Prefers tea at home", scope="home")
    assert sorted(await store.found("tea", scope="work")) == ["mem-0001", "mem-0002"]
    assert await store.found("tea", scope="") == ["mem-0001"]
    assert len(await store.found("tea")) == 3


async def test_equal_scores_come_newest_first_and_the_limit_holds(store: DrivenStore) -> None:
    for number in range(4):
        await store.remember(f"Prefers tea {'abcd'[number]}1")
    assert await store.found("tea", limit=3) == ["mem-0004", "mem-0003", "mem-0002"]
    assert await store.found("tea", limit=0) == []


async def test_of_equal_scores_and_ages_the_last_ids_come_first(store: DrivenStore) -> None:
    for number in range(6):
        store.now_ms -= 1_000  # which the next command adds
        await store.remember(f"Prefers tea {'abcdef'[number]}1")
    assert await store.found("tea", limit=4) == ["mem-0006", "mem-0005", "mem-0004", "mem-0003"]


async def test_what_expired_or_is_out_of_scope_takes_no_place_among_the_best(store: DrivenStore) -> None:
    await store.remember("Prefers tea in the garden with a long description")
    for number in range(5):
        await store.remember(f"Tea {number}", expires_at_ms=store.now_ms + 60_000)
        await store.remember(f"Tea {number}", scope="work")
    store.now_ms += 120_000
    assert await store.found("tea", limit=1, scope="home") == ["mem-0001"]
    await store.expire()
    assert await store.found("tea", limit=1, scope="home") == ["mem-0001"]
    assert len(await store.found("tea", scope="work")) == 6


@pytest.fixture
def few_are_common(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few memories are looked at in one turn, so that a test needs no thousands of them."""
    monkeypatch.setattr("recalld.actors.store.lexical_rank.POSTINGS_MAX", 3)


@pytest.mark.usefixtures("few_are_common")
async def test_common_words_nominate_nothing_beside_a_rarer_one_but_count_in_its_score(store: DrivenStore) -> None:
    await store.remember("Prefers zebra")
    await store.remember("Drinks zebra")
    for number in range(4):
        await store.remember(f"Prefers tea{number}x")
    # Both words together have more than three memories.
    assert await store.found("prefers zebra") == ["mem-0001", "mem-0002"]
    alone = await store.reader.lexical("ines", ["zebra"], now_ms=store.now_ms, limit=5, scope=None)
    beside = await store.reader.lexical("ines", query_terms("prefers zebra"), now_ms=store.now_ms, limit=5, scope=None)
    scores = [{hit.memory_id: hit.score for hit in hits} for hits in (alone, beside)]
    assert scores[1]["mem-0001"] > scores[0]["mem-0001"]
    assert scores[1]["mem-0002"] == scores[0]["mem-0002"]


@pytest.mark.usefixtures("few_are_common")
async def test_common_words_nominate_when_no_rarer_one_finds_anything(store: DrivenStore) -> None:
    await store.remember("Prefers zebra", expires_at_ms=store.now_ms + 60_000)
    await store.remember("Prefers okapi", scope="work")
    for number in range(4):
        await store.remember(f"Prefers tea{number}x")
    store.now_ms += 120_000
    common = ["mem-0006", "mem-0005", "mem-0004", "mem-0003"]
    assert await store.found("prefers", scope="home") == common
    assert await store.found("prefers absent", scope="home") == common
    # What is expired, or not in scope, is no finding.
    assert await store.found("prefers zebra", scope="home") == common
    assert await store.found("prefers okapi", scope="home") == common
    assert await store.found("prefers okapi") == ["mem-0002"]


@pytest.mark.parametrize(("having", "is_common"), [(2, False), (3, True)])
@pytest.mark.usefixtures("few_are_common")
async def test_a_word_nominates_beside_rarer_ones_up_to_the_limit_and_not_beyond_it(
    store: DrivenStore, having: int, *, is_common: bool
) -> None:
    await store.remember("Drinks zebra")
    for number in range(having):
        await store.remember(f"Drink {number}", user="omar")
        await store.remember(f"Prefers tea{number}x")
    assert len(await store.found("prefers zebra")) == (1 if is_common else 1 + having)


@pytest.fixture
def one_is_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recalld.actors.store.lexical_rank.FINALISTS_MAX", 1)


@pytest.mark.usefixtures("few_are_common", "one_is_scored")
async def test_of_many_the_newest_that_match_best_by_the_nominating_words_are_scored(store: DrivenStore) -> None:
    await store.remember("Zebra prefers")
    await store.remember("Zebra one two three four five")
    for number in range(4):
        await store.remember(f"Prefers tea{number}x")
    assert await store.found("prefers zebra", limit=1) == ["mem-0002"]
    assert await store.found("prefers zebra", limit=2) == ["mem-0001", "mem-0002"]


@pytest.mark.usefixtures("few_are_common", "one_is_scored")
async def test_of_a_word_beyond_reading_the_newest_that_may_be_shown_are_scored(store: DrivenStore) -> None:
    for number in range(5):
        await store.remember(f"Prefers tea{number}x", scope="" if number < 3 else "work")
    assert await store.found("prefers", limit=1, scope="home") == ["mem-0003"]
    assert await store.found("prefers", limit=2, scope="home") == ["mem-0003", "mem-0002"]


@pytest.mark.usefixtures("one_is_scored")
async def test_what_may_not_be_shown_takes_no_place_among_the_scored(store: DrivenStore) -> None:
    await store.remember("Prefers tea")
    for number in range(3):
        await store.remember(f"Prefers tea{number}x", scope="work")
    assert await store.found("prefers", limit=1, scope="home") == ["mem-0001"]


@pytest.mark.parametrize("terms", [[], [""], ["absent"], ["tea"] * 500])
async def test_no_terms_repeated_terms_and_absent_terms_are_fine(store: DrivenStore, terms: list[str]) -> None:
    await store.remember("Prefers tea")
    hits = await store.reader.lexical("ines", terms, now_ms=store.now_ms, limit=5, scope=None)
    assert len(hits) == (1 if "tea" in terms else 0)


async def test_five_hundred_different_terms_cost_no_error(store: DrivenStore) -> None:
    await store.remember("Prefers term3x")
    terms = [f"term{number}x" for number in range(500)]
    hits = await store.reader.lexical("ines", terms, now_ms=store.now_ms, limit=5, scope=None)
    assert [hit.memory_id for hit in hits] == ["mem-0001"]


async def test_words_are_looked_up_with_the_memories_behind_them_in_one_look(store: DrivenStore) -> None:
    for number in range(4):
        await store.remember(f"Prefers tea number {number}", user="ines" if number else "neighbour")
    terms = query_terms("tea number 2")
    hits = await store.reader.lexical("ines", terms, now_ms=store.now_ms, limit=2, scope=None)
    found = await store.reader.found_by_words("ines", terms, now_ms=store.now_ms, limit=2, scope=None)
    assert found.hits == tuple(hits)
    assert len(found.hits) == 2
    assert found.memories == await store.reader.memories("ines", [hit.memory_id for hit in hits])
    assert list(found.memories) == [hit.memory_id for hit in hits]
    for user, words in (("ines", ["coffee"]), ("nobody", ["tea"])):
        nothing = await store.reader.found_by_words(user, words, now_ms=store.now_ms, limit=2, scope=None)
        assert nothing == FoundByWords()


async def test_of_what_words_find_only_the_wanted_kinds_are_read(store: DrivenStore) -> None:
    await store.remember("Tea is bought at Marrow", kind=MemoryKind.FACT)
    await store.remember("Marrow: the tea shop", kind=MemoryKind.ENTITY)
    found = await store.reader.found_by_words(
        "ines", ["tea"], now_ms=store.now_ms, limit=5, scope=None, kinds={MemoryKind.ENTITY, MemoryKind.CONVENTION}
    )
    assert {hit.memory_id for hit in found.hits} == {"mem-0001", "mem-0002"}
    assert list(found.memories) == ["mem-0002"]
