from __future__ import annotations

import math
from functools import partial

import anyio
import pytest
from model_harness import ScorerHarness

from recalld.actors.kernel import AskError, AskFailure, StopReason
from recalld.actors.scorer import PairsScored, ScoreFailure
from recalld.models.domain.reasons import DegradedReason

pytestmark = pytest.mark.anyio


async def test_logits_come_back_in_the_order_of_the_pairs() -> None:
    harness = ScorerHarness()
    async with harness.running():
        scored = await harness.score("aaaa", "a", "aaaaaaa", "aa")
    assert scored.logits == (4.0, 1.0, 7.0, 2.0)
    assert scored.pairs_scored == 4
    assert scored.pairs_cached == 0
    assert scored.failure is None


async def test_no_pairs_are_answered_at_once() -> None:
    harness = ScorerHarness()
    async with harness.running():
        scored = await harness.score()
    assert scored == PairsScored(logits=())


async def test_a_pair_is_never_scored_twice_while_it_is_remembered() -> None:
    harness = ScorerHarness()
    async with harness.running():
        await harness.score("a", "bb")
        again = await harness.score("bb", "ccc", "a")
        assert again.logits == (2.0, 3.0, 1.0)
        assert (again.pairs_scored, again.pairs_cached) == (1, 2)
        cached = await harness.score("a", "bb", "ccc")
        assert (cached.pairs_scored, cached.pairs_cached, cached.queue_ms) == (0, 3, 0.0)
    assert len(harness.scorer.scored) == 3


async def test_another_query_another_memory_or_another_model_is_another_pair() -> None:
    harness = ScorerHarness()
    async with harness.running():
        await harness.score("a")
        assert (await harness.score("a", query="other")).pairs_cached == 0
        assert (await harness.score("b")).pairs_cached == 0
        harness.scorer.model_key = "other-model"
        assert (await harness.score("a")).pairs_cached == 0


async def test_the_cache_is_bounded_and_forgets_what_was_used_longest_ago() -> None:
    harness = ScorerHarness(cache_entries_max=2)
    async with harness.running():
        await harness.score("a")
        await harness.score("b")
        await harness.score("a")
        await harness.score("c")
        assert (await harness.score("a")).pairs_cached == 1
        assert (await harness.score("b")).pairs_cached == 0


async def test_at_the_deadline_a_job_is_answered_with_what_is_there() -> None:
    harness = ScorerHarness(lanes=1)
    harness.cost.observe(chars=1, tokens=1, elapsed_ms=1.0)
    async with harness.running():
        harness.script.call_s = lambda: 0.3
        started_s = harness.now_s()
        scored = await harness.score("a", "b", "c", "d", within_s=1.0)
        assert harness.now_s() - started_s == pytest.approx(1.0, abs=0.005)
    assert scored.logits == (1.0, 1.0, 1.0, None)
    assert scored.failure is None
    assert scored.pairs_scored == 3


async def test_what_runs_at_the_deadline_is_abandoned_and_the_next_job_finds_free_lanes() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        harness.script.call_s = lambda: 60.0
        assert (await harness.score("a", "b", within_s=0.2)).logits == (None, None)
        harness.script.call_s = lambda: 0.01
        scored = await harness.score("c", within_s=0.2)
    assert scored.logits == (1.0,)
    assert scored.queue_ms < 50
    assert ("q", "b") not in harness.scorer.scored


async def test_a_job_whose_asker_has_gone_is_dropped_unscored() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        harness.script.call_s = lambda: 1.0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: harness.score("first", within_s=1.5))
            await anyio.sleep(0.1)
            with anyio.move_on_after(0.2):
                await harness.score("gone1", "gone2", within_s=50.0)
            await anyio.sleep(0.1)
            assert (await harness.health()).queue_depth == 1
        assert (await harness.score("last", within_s=5.0)).logits == (4.0,)
    assert [memory for _, memory in harness.scorer.scored] == ["first", "last"]


async def test_after_a_burst_of_time_outs_the_next_lone_job_is_scored() -> None:
    harness = ScorerHarness(lanes=2)
    async with harness.running():
        harness.script.call_s = lambda: 5.0
        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(partial(harness.score, f"burst{number}", within_s=0.1))
        harness.script.call_s = lambda: 0.01
        assert (await harness.score("lone", within_s=0.1)).logits == (4.0,)


async def test_the_burst_of_one_user_does_not_starve_another() -> None:
    harness = ScorerHarness(lanes=1)
    answers: list[PairsScored] = []
    async with harness.running():
        harness.script.call_s = lambda: 0.1
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(partial(harness.score, f"{number}a", f"{number}b", within_s=60.0, owner="ann"))
            await anyio.sleep(0.05)
            answers.append(await harness.score("lone", within_s=0.3, owner="ben"))
    assert answers[0].logits == (4.0,)


async def test_pairs_run_on_all_lanes_and_never_on_more() -> None:
    harness = ScorerHarness(lanes=3)
    async with harness.running():
        await harness.score(*(f"memory {number}" for number in range(9)), within_s=5.0)
    assert harness.script.running_most == 3


async def test_long_pairs_start_first_when_all_fit() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        await harness.score("a" * 10, "a" * 400, "a" * 100, within_s=10.0)
    assert [len(memory) for _, memory in harness.scorer.scored] == [400, 100, 10]


async def test_with_little_time_the_best_pairs_start_first() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        await harness.score("a" * 10, "a" * 1900, "a" * 20, within_s=0.05)
    assert [len(memory) for _, memory in harness.scorer.scored][:1] == [10]


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
async def test_a_logit_that_is_no_number_fails_its_job_and_shifts_nothing(bad: float) -> None:
    harness = ScorerHarness(lanes=1)
    harness.scorer.logit = lambda _query, memory: bad if memory == "bad" else float(len(memory))
    async with harness.running():
        scored = await harness.score("aaaaaa", "bad", "a")
        assert scored.failure == ScoreFailure(reason=DegradedReason.SCORE_FAILED, error_type="NonFiniteLogitError")
        assert scored.logits == (6.0, None, None)
        assert (await harness.score("a")).logits == (1.0,), "one bad pair does not harm the next job"
        assert (await harness.health()).failures == 1


async def test_an_exception_of_the_model_fails_the_job_by_its_type_and_never_by_its_text() -> None:
    harness = ScorerHarness()

    def fail(_query: str, _memory: str) -> float:
        msg = "the query was: secret"
        raise OSError(msg)

    harness.scorer.logit = fail
    async with harness.running():
        scored = await harness.score("a", "b")
    assert scored.failure == ScoreFailure(reason=DegradedReason.SCORE_FAILED, error_type="OSError")
    assert scored.logits == (None, None)
    assert harness.watched.restarts == [], "a failing pair is no reason to restart"


async def test_more_jobs_than_may_be_open_are_refused_at_once() -> None:
    harness = ScorerHarness(lanes=1, jobs_max=2)
    answers: list[PairsScored] = []
    async with harness.running():
        harness.script.call_s = lambda: 0.2

        async def score(name: str) -> None:
            answers.append(await harness.score(name))

        async with anyio.create_task_group() as tasks:
            for name in ("a", "b", "c"):
                tasks.start_soon(score, name)
    refused = [answer for answer in answers if answer.failure is not None]
    assert [answer.failure for answer in refused] == [ScoreFailure(reason=DegradedReason.QUEUE_FULL)]
    assert len(answers) == 3


async def test_the_cost_model_learns_from_every_run() -> None:
    harness = ScorerHarness()
    async with harness.running():
        harness.script.call_s = lambda: 0.05
        for number in range(10):
            await harness.score(f"memory {number}")
    assert harness.cost.ms_per_token == pytest.approx(50.0 / 6, rel=0.01)


async def test_waiting_and_total_time_are_reported() -> None:
    harness = ScorerHarness(lanes=1)
    answers: list[PairsScored] = []
    async with harness.running():
        harness.script.call_s = lambda: 0.2
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: harness.score("first"))
            await anyio.sleep(0.05)
            answers.append(await harness.score("second"))
    assert answers[0].queue_ms == pytest.approx(150, abs=10)
    assert answers[0].elapsed_ms == pytest.approx(350, abs=10)


async def test_a_drain_finishes_the_open_jobs() -> None:
    harness = ScorerHarness(lanes=1)
    answers: list[PairsScored] = []
    async with harness.running():
        harness.script.call_s = lambda: 0.2

        async def score() -> None:
            answers.append(await harness.score("a", "b", within_s=5.0))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(score)
            await anyio.sleep(0.05)
            assert await harness.supervisor.drain("model", harness.now_s() + 10) is StopReason.DRAINED
    assert answers[0].logits == (1.0, 1.0)
    assert harness.script.made[0].is_closed


async def test_a_killed_scorer_still_answers_its_open_jobs() -> None:
    harness = ScorerHarness(lanes=1)
    answers: list[PairsScored] = []
    async with harness.running():
        harness.script.call_s = lambda: 0.2

        async def score() -> None:
            answers.append(await harness.score("a", "b", within_s=5.0))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(score)
            await anyio.sleep(0.3)
            await harness.supervisor.kill("model")
        with pytest.raises(AskError) as refused:
            await harness.score("c")
        assert refused.value.failure is AskFailure.CLOSED
    assert answers[0].logits == (1.0, None)
    assert answers[0].failure == ScoreFailure(reason=DegradedReason.SCORER_UNAVAILABLE)


async def test_jobs_that_are_open_together_share_the_time_when_they_decide_what_fits() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(partial(harness.score, "waiting", within_s=1.0))
            await anyio.sleep(0.001)
            # About 25 ms for the long pair: it fits 40 ms alone, but not half of them.
            await harness.score("a" * 10, "a" * 450, within_s=0.04)
        alone = ScorerHarness(lanes=1)
    async with alone.running():
        await alone.score("a" * 10, "a" * 450, within_s=0.04)
    assert [len(memory) for _, memory in harness.scorer.scored][:2] == [7, 10]
    assert len(alone.scorer.scored[0][1]) == 450
