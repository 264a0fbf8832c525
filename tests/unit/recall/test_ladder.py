from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import anyio
import pytest
from actor_system import ENVELOPE_S, System, rejecting, running_system

from recalld.actors.kernel import AskError
from recalld.actors.recall.candidates import INDEX_LOADING
from recalld.actors.scorer import Pair, ScorePairs
from recalld.daemon.config.settings import EventsSettings, RecallSettings
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.reasons import (
    DegradedReason,
    DropReason,
    RecallDecision,
    RecallMode,
    RecallReason,
)
from recalld.models.domain.recall import RecallOutcome

pytestmark = pytest.mark.anyio

QUERY = "where does the deploy key live?"
TEXTS = (
    "The deploy key live in the vault",
    "Every deploy needs the key",
    "A deploy key is rotated monthly",
    "The key of the deploy box",
    "Where the deploy logs live",
)


def ids(outcome: RecallOutcome) -> list[str]:
    return [item.memory.id for item in outcome.items]


def raising(_query: str, _memory: str) -> float:
    raise ZeroDivisionError


def not_a_number(_query: str, _memory: str) -> float:
    return math.nan


def hang() -> float:
    return 60.0


async def test_a_relevant_memory_is_handed_over_and_an_irrelevant_one_is_not() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", "The deploy key lives in the vault")
        await system.store_text("ines", "Ines prefers green tea")
        outcome = await system.recall("ines", QUERY)
    assert ids(outcome) == [wanted]
    assert outcome.decision is RecallDecision.INJECT
    assert outcome.mode is RecallMode.GATED
    assert outcome.reason is RecallReason.RELEVANT
    assert outcome.degraded_reason is None
    assert outcome.items[0].relevance == pytest.approx(1 / (1 + math.exp(-6)))


def scorer_hangs(system: System) -> None:
    system.scorer_thread.call_s = hang


def scorer_raises(system: System) -> None:
    system.scorer.logit = raising


def scorer_answers_nan(system: System) -> None:
    system.scorer.logit = not_a_number


def scorer_missing(system: System) -> None:
    system.missing.add("scorer")


def nothing_broken(system: System) -> None:
    pass


GATE_FAULTS: list[tuple[str, Callable[[System], None], DegradedReason, str]] = [
    ("off", nothing_broken, DegradedReason.GATE_DISABLED_BY_CONFIG, ""),
    ("on", scorer_missing, DegradedReason.SCORER_UNAVAILABLE, ""),
    ("on", scorer_hangs, DegradedReason.SUB_BUDGET_EXCEEDED, ""),
    ("on", scorer_raises, DegradedReason.SCORE_FAILED, "ZeroDivisionError"),
    ("on", scorer_answers_nan, DegradedReason.SCORE_FAILED, "NonFiniteLogitError"),
]


@pytest.mark.parametrize(("gate", "break_it", "reason", "detail"), GATE_FAULTS)
async def test_a_failing_gate_returns_exactly_the_floors_own_list(
    gate: str, break_it: Callable[[System], None], reason: DegradedReason, detail: str
) -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting  # a gate that works would let nothing through
        for text in TEXTS:
            await system.store_text("ines", text)
        await system.store_text("ines", "Ines prefers green tea")
        healthy = await system.recall("ines", QUERY)
        uncapped = await system.recall("ines", QUERY, is_search=True, max_items=20)
    assert (ids(healthy), healthy.reason) == ([], RecallReason.GATED)
    assert len(uncapped.items) == len(TEXTS)

    broken = System(store=system.store, ids=system.ids)
    broken.scorer.logit = rejecting
    if reason is DegradedReason.SCORER_UNAVAILABLE:
        break_it(broken)
    settings = RecallSettings(gate="off" if gate == "off" else "on", degraded_max_items=3)
    async with running_system(broken, recall=settings):
        break_it(broken)
        outcome = await broken.recall("ines", QUERY)
    assert ids(outcome) == list(healthy.floor_items)
    assert 2 <= len(outcome.items) <= 3
    assert outcome.floor_items == healthy.floor_items
    assert outcome.mode is RecallMode.FLOOR_ONLY
    assert outcome.reason is RecallReason.PASSED_FLOOR
    assert (outcome.degraded_reason, outcome.degraded_detail) == (reason, detail)
    assert all(item.relevance is None for item in outcome.items)
    held = {DropReason.OVER_MAX_ITEMS, DropReason.BEHIND_BEST}
    assert len({drop.memory_id for drop in outcome.dropped if drop.reason in held}) == len(TEXTS) - len(outcome.items)
    assert outcome.timings.deadline_left_ms > 0


async def test_the_breaker_opens_after_lone_time_outs_and_then_nobody_waits_for_the_scorer() -> None:
    async with running_system(System(), events=EventsSettings(breaker_failures=3)) as system:
        await system.store_text("ines", TEXTS[0])
        system.scorer_thread.call_s = hang
        for _ in range(3):
            outcome = await system.recall("ines", QUERY)
            assert outcome.degraded_reason is DegradedReason.SUB_BUDGET_EXCEEDED
            assert outcome.timings.gate_ms == pytest.approx(60, abs=6)
        outcome = await system.recall("ines", QUERY)
    assert outcome.degraded_reason is DegradedReason.BREAKER_OPEN
    assert outcome.timings.gate_ms == 0
    assert len(outcome.items) == 1


async def test_a_hung_scorer_within_a_short_envelope_is_the_envelopes_doing() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXTS[0])
        await system.recall("ines", QUERY)
        system.scorer_thread.call_s = hang
        for number in range(5):
            outcome = await system.recall("ines", f"{QUERY} {number}", envelope_s=0.05)
            assert outcome.degraded_reason is DegradedReason.ENVELOPE_EXCEEDED
            assert len(outcome.items) == 1


async def test_a_full_scorer_is_told_apart_from_a_broken_one() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXTS[0])
        system.scorer_thread.call_s = hang

        async def ask(number: int) -> None:
            pairs = (Pair(query="q", memory_text=str(number), key=str(number)),)
            until_s = system.now_s() + 1.0
            try:
                await system.running.scorer.ask(
                    lambda reply: ScorePairs(pairs=pairs, deadline_s=until_s, reply=reply), deadline_s=until_s
                )
            except AskError:
                return

        async with anyio.create_task_group() as tasks:
            for number in range(200):
                tasks.start_soon(ask, number)
            await anyio.sleep(0.01)
            for number in range(200, 256):
                tasks.start_soon(ask, number)
            await anyio.sleep(0.01)
            outcome = await system.recall("ines", QUERY)
    assert outcome.degraded_reason is DegradedReason.QUEUE_FULL
    assert len(outcome.items) == 1


async def test_a_question_in_a_language_the_model_cannot_read_passes_by_the_floor_and_is_marked() -> None:
    async with running_system(System()) as system:
        system.scorer.logit = rejecting
        kept = await system.store_text("ines", "Das Passwort ist im Tresor und nicht auf der Platte")
        outcome = await system.recall("ines", "Wo ist das Passwort und nicht der Tresor?")
        assert system.scorer.scored == []
    assert ids(outcome) == [kept]
    assert outcome.degraded_reason is DegradedReason.OUT_OF_DOMAIN
    assert outcome.mode is RecallMode.FLOOR_ONLY


async def test_a_memory_the_model_cannot_read_is_never_dropped_by_it() -> None:
    async with running_system(System(), recall=RecallSettings(degraded_max_items=1)) as system:
        system.scorer.logit = rejecting
        foreign = [
            await system.store_text("ines", "Der deploy key ist im Tresor und nicht auf der Platte"),
            await system.store_text("ines", "Der deploy key ist alt und das ist nicht gut"),
        ]
        english = await system.store_text("ines", "The deploy key lives here")
        outcome = await system.recall("ines", "deploy key tresor alt")
    assert len(outcome.items) == 1
    assert outcome.items[0].memory.id in foreign
    assert outcome.items[0].relevance is None
    assert outcome.mode is RecallMode.GATED
    assert {drop.memory_id: drop.reason for drop in outcome.dropped} == {
        english: DropReason.BELOW_THRESHOLD,
        next(each for each in foreign if each != outcome.items[0].memory.id): DropReason.OVER_MAX_ITEMS,
    }


def embedder_missing(system: System) -> None:
    system.missing.add("embedder")


def embedder_hangs(system: System) -> None:
    system.embedder_thread.call_s = hang


def embedder_raises(system: System) -> None:
    def fail(_text: str, _is_query: bool) -> None:  # noqa: FBT001
        raise MemoryError

    system.embedder.vector = fail  # type: ignore[assignment]


EMBEDDER_FAULTS = [
    (embedder_missing, DegradedReason.EMBEDDER_UNAVAILABLE, ""),
    (embedder_hangs, DegradedReason.EMBED_TIMEOUT, ""),
    (embedder_raises, DegradedReason.EMBED_FAILED, "MemoryError"),
]


@pytest.mark.parametrize(("break_it", "reason", "detail"), EMBEDDER_FAULTS)
async def test_without_the_embedder_words_alone_nominate_and_the_gate_still_judges(
    break_it: Callable[[System], None], reason: DegradedReason, detail: str
) -> None:
    system = System()
    if reason is DegradedReason.EMBEDDER_UNAVAILABLE:
        break_it(system)
    async with running_system(system):
        break_it(system)
        wanted = await system.store_text("ines", "The deploy key lives in the vault")
        await system.store_text("ines", "Where is the tea?")
        outcome = await system.recall("ines", QUERY)
        silent = await system.recall("ines", "anything about cooking rice?")
    assert ids(outcome) == [wanted]
    assert outcome.mode is RecallMode.LEXICAL_ONLY
    assert (outcome.degraded_reason, outcome.degraded_detail) == (reason, detail)
    assert silent.mode is RecallMode.LEXICAL_ONLY
    assert silent.degraded_reason is reason
    assert silent.coverage.discovered == 2


async def test_without_any_model_inflected_words_are_enough_and_one_common_word_is_not() -> None:
    system = System(missing={"scorer", "embedder"})
    async with running_system(system):
        wanted = await system.store_text("ines", "We deploy releases on Fridays")
        await system.store_text("ines", "Releases of pressure help")
        outcome = await system.recall("ines", "When are our deployments of a release on a Friday planned?")
    assert ids(outcome) == [wanted]
    assert outcome.mode is RecallMode.LEXICAL_ONLY
    assert outcome.gate.filtered_by_floor == 1


async def test_a_full_embedder_costs_the_vectors_only() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXTS[0])
        system.embedder_thread.call_s = hang
        system.scorer_thread.call_s = lambda: 0.0001
        async with anyio.create_task_group() as tasks:
            for number in range(100):
                tasks.start_soon(partial(system.recall, f"user{number}", f"{QUERY} {number}", envelope_s=2.0))
            await anyio.sleep(0.2)
            outcome = await system.recall("ines", QUERY)
    assert outcome.degraded_reason is DegradedReason.QUEUE_FULL
    assert ids(outcome) == [wanted]


async def test_an_unreadable_store_is_an_error_and_never_a_healthy_silence() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXTS[0])
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        outcome = await system.recall("ines", QUERY)
    assert outcome.decision is RecallDecision.ERROR
    assert outcome.mode is RecallMode.EMPTY
    assert outcome.reason is RecallReason.STORE_UNREADABLE


async def test_a_store_that_does_not_answer_is_an_error_that_still_leaves_in_time() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXTS[0])
        system.reading.delay_s = 60.0
        started_s = system.now_s()
        outcome = await system.recall("ines", QUERY)
        assert system.now_s() - started_s < ENVELOPE_S
    assert outcome.decision is RecallDecision.ERROR
    assert outcome.reason is RecallReason.ENVELOPE_EXCEEDED
    assert outcome.degraded_reason is DegradedReason.ENVELOPE_EXCEEDED


async def test_an_index_that_takes_longer_than_a_recall_is_loaded_all_the_same() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXTS[0])
        system.reading.slow_s["index_delta"] = 0.5
        first = await system.recall("ines", QUERY)
        assert first.mode is RecallMode.LEXICAL_ONLY
        assert (first.degraded_reason, first.degraded_detail) == (DegradedReason.ENVELOPE_EXCEEDED, INDEX_LOADING)
        assert ids(first) == [wanted]
        await system.recall("ines", QUERY)
        await anyio.sleep(0.1)
        assert (await system.recall("ines", QUERY)).mode is RecallMode.GATED
        assert system.reading.calls["index_delta"] == 1


async def test_what_was_let_through_but_does_not_fit_is_not_called_irrelevant() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXTS[0])
        outcome = await system.recall("ines", QUERY, max_chars=5)
    assert (outcome.decision, outcome.reason) == (RecallDecision.SILENT, RecallReason.OVER_LIMITS)
    assert [drop.reason for drop in outcome.dropped] == [DropReason.OVER_MAX_CHARS]


async def test_a_cap_of_nothing_makes_a_failing_gate_silent_but_never_names_the_gate() -> None:
    system = System(missing={"scorer"})
    async with running_system(system, recall=RecallSettings(degraded_max_items=0)):
        await system.store_text("ines", TEXTS[0])
        outcome = await system.recall("ines", QUERY)
    assert (outcome.decision, outcome.reason) == (RecallDecision.SILENT, RecallReason.OVER_LIMITS)
    assert outcome.degraded_reason is DegradedReason.SCORER_UNAVAILABLE
