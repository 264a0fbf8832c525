from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import partial

import anyio
import pytest
from actor_system import System, rejecting, running_system, shared_words

from recalld.actors.kernel import Actor, ActorContext, ActorSpec
from recalld.actors.recall.gate import RelevanceGate
from recalld.actors.scorer import PairsScored, ScorePairs, ScorerMessage
from recalld.daemon.config.settings import EventsSettings, RecallSettings
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.health import BreakerState
from recalld.models.domain.reasons import DegradedReason, DropReason, RecallMode, RecallReason
from recalld.models.domain.recall import RecallOutcome
from recalld.models.policy.query_reading import read_query

pytestmark = pytest.mark.anyio

QUERY = "where does the deploy key live?"
TEXT = "The deploy key lives in the vault"


def ids(outcome: RecallOutcome) -> list[str]:
    return [item.memory.id for item in outcome.items]


async def test_what_a_session_sees_is_not_handed_over_again_until_it_is_compacted() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        assert ids(await system.recall("ines", QUERY, session="one")) == [wanted]
        again = await system.recall("ines", QUERY, session="one")
        assert (ids(again), again.reason) == ([], RecallReason.EXCLUDED)
        assert [drop.reason for drop in again.dropped] == [DropReason.ALREADY_VISIBLE]
        assert ids(await system.recall("ines", QUERY, session="two")) == [wanted]
        await system.service.session("ines", "one", SessionEvent.COMPACTED)
        assert ids(await system.recall("ines", QUERY, session="one")) == [wanted]
        assert ids(await system.recall("ines", QUERY, session="two")) == []


async def test_without_a_session_nothing_is_remembered_as_seen() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        for _ in range(2):
            assert ids(await system.recall("ines", QUERY)) == [wanted]


async def test_an_answer_that_nobody_took_hides_nothing() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        system.reading.slow_s["memories"] = 0.05
        with anyio.move_on_after(0.02):
            await system.recall("ines", QUERY, session="one")
        await anyio.sleep(0.5)
        assert ids(await system.recall("ines", QUERY, session="one")) == [wanted]


async def test_what_is_visible_already_never_takes_the_place_of_what_is_not() -> None:
    limits = RecallSettings(lexical_limit=2, vector_limit=2, max_items=20, candidates_max=20)
    async with running_system(System(), recall=limits) as system:
        seen = tuple([await system.store_text("ines", f"deploy key note number{number}") for number in range(6)])
        system.embedder_thread.call_s = lambda: 60.0
        pending = await system.store_text("ines", "much longer deploy key text that ranks last of all by its words")
        system.embedder_thread.call_s = lambda: 0.001
        await system.store_text("ines", "The key of the deploy box is old")
        outcome = await system.recall("ines", "deploy key note", exclude=seen)
    assert pending in ids(outcome)
    assert len(outcome.items) == 2


async def test_a_slow_recall_does_not_hold_up_the_same_users_next() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        answers: list[tuple[str, float]] = []

        async def ask(name: str, text: str) -> None:
            await system.recall("ines", text, envelope_s=1.0)
            answers.append((name, system.now_s()))

        async with anyio.create_task_group() as tasks:
            system.reading.slow_s["memories"] = 0.7
            tasks.start_soon(ask, "slow", f"{QUERY} now")
            await anyio.sleep(0.05)
            system.reading.slow_s.clear()
            started_s = system.now_s()
            tasks.start_soon(ask, "quick", QUERY)
        assert [name for name, _ in answers] == ["quick", "slow"]
        assert answers[0][1] - started_s < 0.1
        assert ids(await system.recall("ines", QUERY)) == [wanted]


async def test_a_write_is_visible_to_every_recall_after_its_acknowledgement() -> None:
    async with running_system(System()) as system:
        for number in range(5):
            wanted = await system.store_text("ines", f"The deploy key number{number} lives in the vault")
            assert wanted in ids(await system.recall("ines", f"deploy key number{number}", session=f"s{number}"))
            await system.forget("ines", wanted)
            assert ids(await system.recall("ines", f"deploy key number{number}", session="other")) == []


async def test_a_write_during_the_loading_of_the_index_is_not_missed() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "Ines prefers green tea")
        system.reading.slow_s["index_delta"] = 0.1
        outcomes: list[RecallOutcome] = []

        async def ask() -> None:
            outcomes.append(await system.recall("ines", QUERY, envelope_s=2.0))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.05)
            wanted = await system.store_text("ines", TEXT)
            tasks.start_soon(ask)
        assert wanted in ids(outcomes[-1])


async def test_a_search_demotes_where_a_turn_drops() -> None:
    async with running_system(System()) as system:
        good = await system.store_text("ines", TEXT)
        weak = await system.store_text("ines", "live key")
        system.scorer.logit = lambda _query, memory: 6.0 if "vault" in memory else -9.0
        assert ids(await system.recall("ines", QUERY)) == [good]
        assert ids(await system.recall("ines", QUERY, is_search=True)) == [good, weak]


async def test_the_same_memory_gets_the_same_relevance_alone_and_in_company() -> None:  # R14
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        alone = await system.recall("ines", QUERY)
        await system.store_text("ines", "Ines prefers green tea")
        await system.store_text("ines", "The office closes at seven")
        company = await system.recall("ines", QUERY)
    assert ids(alone) == ids(company) == [wanted]
    assert alone.items[0].relevance == company.items[0].relevance


async def test_a_logit_becomes_a_probability_exactly_once() -> None:  # R15
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        await system.store_text("ines", "deploy a key")
        system.scorer.logit = lambda _query, memory: 7.0 if "vault" in memory else -7.0
        outcome = await system.recall("ines", QUERY)
    relevant = outcome.items[0].relevance
    irrelevant = outcome.dropped[0].relevance
    assert relevant is not None
    assert irrelevant is not None
    assert relevant - irrelevant > 0.9
    assert irrelevant < outcome.gate.threshold < relevant  # type: ignore[operator]
    assert relevant == pytest.approx(1 / (1 + math.exp(-7)))


SLOW: list[tuple[str, Callable[[System], None]]] = [
    ("scorer", lambda system: setattr(system.scorer_thread, "call_s", lambda: 60.0)),
    ("deaf scorer", lambda system: setattr(system.scorer_thread, "call_s", lambda: None)),
    ("embedder", lambda system: setattr(system.embedder_thread, "call_s", lambda: 60.0)),
    ("deaf embedder", lambda system: setattr(system.embedder_thread, "call_s", lambda: None)),
    ("index", lambda system: system.reading.slow_s.update(index_delta=60.0)),
    ("words", lambda system: system.reading.slow_s.update(lexical=60.0)),
    ("memories", lambda system: system.reading.slow_s.update(memories=60.0)),
    ("everything", lambda system: setattr(system.reading, "delay_s", 0.04)),
]


@pytest.mark.parametrize(("name", "slow"), SLOW)
@pytest.mark.parametrize("envelope_s", [0.02, 0.05, 0.1, 0.3, 2.0])
async def test_whatever_is_slow_the_answer_leaves_before_the_envelope_ends(
    name: str, slow: Callable[[System], None], envelope_s: float
) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        slow(system)
        for number in range(4):
            started_s = system.now_s()
            outcome = await system.recall("ines", f"{QUERY} {number}", envelope_s=envelope_s)
            assert system.now_s() - started_s < envelope_s
            assert outcome.timings.deadline_left_ms > 0
            if "scorer" in name:
                assert len(outcome.items) == 1
            await anyio.sleep(1.1)  # a deaf lane costs the model its thread meanwhile


async def test_a_scorer_that_is_being_restarted_never_costs_a_short_envelope_its_reserve() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        system.scorer_thread.is_dead = True
        await anyio.sleep(5.1)  # the heartbeat finds out, and the actor waits before it starts anew
        assert system.watched.restarts[-1] == ("scorer", "ThreadLostError")
        started_s = system.now_s()
        outcome = await system.recall("ines", QUERY, envelope_s=0.02)
        assert system.now_s() - started_s < 0.02
    assert len(outcome.items) == 1


async def test_a_remembered_score_does_not_make_a_hanging_scorer_look_well() -> None:
    events = EventsSettings(breaker_failures=2, breaker_open_s=5.0)
    async with running_system(System(), events=events) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        system.scorer_thread.call_s = lambda: 60.0
        for number in range(2):
            assert (await system.recall("ines", QUERY)).mode is RecallMode.GATED  # from the cache
            await system.recall("ines", f"{QUERY} {number}")
        assert (await system.recall("ines", QUERY)).degraded_reason is DegradedReason.BREAKER_OPEN
        await anyio.sleep(5.0)
        await system.recall("ines", QUERY)
        assert (await system.service.health(is_deep=False)).breaker is BreakerState.HALF_OPEN


async def test_neither_events_nor_ledger_rows_hold_what_was_asked_or_remembered() -> None:
    secret_query, secret_text = "where is zanzibar quokka?", "zanzibar quokka lives behind the pagoda"
    async with running_system(System()) as system:
        await system.store_text("ines", secret_text, cues=("pagoda",), asks=("where is zanzibar quokka?",))
        system.scorer.logit = rejecting
        rows = [await system.recall("ines", secret_query)]
        system.scorer.logit = shared_words
        rows.append(await system.recall("ines", f"{secret_query} again"))
        system.scorer_thread.call_s = lambda: 60.0
        rows.append(await system.recall("ines", f"{secret_query} slow"))
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        rows.append(await system.recall("ines", f"{secret_query} broken"))
        system.reading.code = None
        told = [str(await system.service.explain("ines", row.recall_id)) for row in rows]
        told += [str(event) for event, _ in system.published]
    assert [row.reason for row in rows] == [
        RecallReason.GATED,
        RecallReason.RELEVANT,
        RecallReason.PASSED_FLOOR,
        RecallReason.STORE_UNREADABLE,
    ]
    for word in ("zanzibar", "quokka", "pagoda"):
        assert not [line for line in told if word in line]


class AnsweringActor(Actor[ScorerMessage]):
    """A scorer whose answer is whatever the test says."""

    def __init__(self, answer: PairsScored) -> None:
        self._answer = answer

    async def handle(self, message: ScorerMessage, ctx: ActorContext[ScorerMessage]) -> None:
        assert isinstance(message, ScorePairs)
        message.reply.send(self._answer)


@pytest.mark.parametrize(
    ("answer", "reason", "detail"),
    [
        (PairsScored(logits=(1.0, 2.0, 3.0)), DegradedReason.SCORE_FAILED, "wrong_length"),
        (PairsScored(logits=()), DegradedReason.SCORE_FAILED, "wrong_length"),
        (PairsScored(logits=(math.nan,)), DegradedReason.SCORE_FAILED, "not_finite"),
        (PairsScored(logits=(math.inf,)), DegradedReason.SCORE_FAILED, "not_finite"),
        (PairsScored(logits=(None,)), DegradedReason.SUB_BUDGET_EXCEEDED, ""),
    ],
)
async def test_scores_that_do_not_fit_their_pairs_are_never_shifted_to_a_neighbour(
    answer: PairsScored, reason: DegradedReason, detail: str
) -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", "deploy key")
        recalled = await system.recall("ines", "deploy key", is_search=True)
        odd = system.supervisor.start(ActorSpec(name="odd", build=lambda: AnsweringActor(answer), mailbox_max=8))
        build = system.running.directory._build_recall
        assert isinstance(build, partial)
        gate = RelevanceGate("ines", dataclasses.replace(build.args[0], scorer=odd))
        candidate = (await _candidates(system))[0]
        run = await gate.run(
            read_query("deploy key", is_search=True),
            [candidate],
            envelope_deadline_s=system.now_s() + 0.3,
            max_items=5,
            is_search=False,
        )
    assert len(recalled.items) == 1
    assert run.trouble is not None
    assert (run.trouble.reason, run.trouble.detail) == (reason, detail)
    assert run.passed == ()


async def _candidates(system: System) -> list:  # type: ignore[type-arg]
    from recalld.actors.recall import RecallState
    from recalld.actors.recall.candidates import CandidateFinder

    build = system.running.directory._build_recall
    assert isinstance(build, partial)
    async with anyio.create_task_group() as tasks:
        found = await CandidateFinder("ines", RecallState(), build.args[0]).find(
            system.query("ines", "deploy key"),
            read_query("deploy key", is_search=True),
            now_ms=system.clock.now_ms(),
            spawn=tasks.start_soon,
        )
    return list(found.candidates)
