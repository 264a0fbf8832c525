from __future__ import annotations

import anyio
import pytest
from model_harness import ScorerHarness

from recalld.actors.inference_thread.model_host import NoticeKind
from recalld.actors.scorer import PairsScored, ScoreFailure, ScorerModelsChanged
from recalld.actors.scorer.run import PROBE_RELEVANT
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.health import ModelState
from recalld.models.domain.reasons import DegradedReason

pytestmark = pytest.mark.anyio

UNAVAILABLE = ScoreFailure(reason=DegradedReason.SCORER_UNAVAILABLE)
NO_FILE = RecalldError(ErrorCode.NOT_FOUND, "model.onnx is missing: run recalld models fetch")


async def test_while_the_model_loads_jobs_are_refused_at_once() -> None:
    harness = ScorerHarness()
    harness.script.call_s = lambda: 3.0
    async with harness.running():
        started_s = harness.now_s()
        scored = await harness.score("a", "b", within_s=100.0)
        assert scored == PairsScored(logits=(None, None), failure=UNAVAILABLE)
        assert harness.now_s() - started_s < 0.01
        assert (await harness.health()).state is ModelState.LOADING
        harness.script.call_s = lambda: 0.01
        await anyio.sleep(3.0)
        assert (await harness.score("a")).logits == (1.0,)
        assert (await harness.health()).state is ModelState.READY
    assert harness.kinds == [NoticeKind.READY]


async def test_a_missing_model_is_retried_with_back_off_and_never_once_per_job() -> None:
    harness = ScorerHarness(load_error=NO_FILE)
    async with harness.running():
        for _ in range(20):
            assert (await harness.score("a")).failure == UNAVAILABLE
        assert harness.loads == 1
        health = await harness.health()
        assert (health.state, health.detail) == (ModelState.UNAVAILABLE, NO_FILE.message)
        await anyio.sleep(600)
        assert 10 <= harness.loads <= 25, "waits grow to a minute"
        assert harness.kinds == [NoticeKind.UNAVAILABLE], "the same trouble is announced once"


async def test_a_model_that_arrives_is_loaded_at_once_when_told() -> None:
    harness = ScorerHarness(load_error=NO_FILE)
    async with harness.running():
        await anyio.sleep(300)
        harness.load_error = None
        loads = harness.loads
        harness.address.post(ScorerModelsChanged())
        await anyio.sleep(0.1)
        assert harness.loads == loads + 1
        assert (await harness.score("a")).logits == (1.0,)
        health = await harness.health()
        assert (health.state, health.detail, health.model_id) == (ModelState.READY, "", "fake-scorer")
        harness.address.post(ScorerModelsChanged())
        await anyio.sleep(0.1)
        assert harness.loads == loads + 1, "a loaded model is not loaded again"
    assert harness.kinds == [NoticeKind.UNAVAILABLE, NoticeKind.READY]


async def test_a_model_that_arrives_unannounced_is_found_within_a_minute() -> None:
    harness = ScorerHarness(load_error=NO_FILE)
    async with harness.running():
        await anyio.sleep(300)
        harness.load_error = None
        await anyio.sleep(60.1)
        assert (await harness.score("a")).logits == (1.0,)


async def test_a_foreign_load_error_is_told_by_its_type_alone() -> None:
    harness = ScorerHarness(load_error=ValueError("/home/ann/secret path"))
    async with harness.running():
        assert (await harness.health()).detail == "ValueError"


async def test_a_stuck_lane_restarts_the_actor_with_a_fresh_thread() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        harness.script.call_s = lambda: None
        scored = await harness.score("a", within_s=0.1)
        assert scored.logits == (None,)
        assert scored.failure is None
        harness.script.call_s = lambda: 0.01
        await anyio.sleep(5.0)
        assert harness.watched.restarts == [("model", "ThreadLostError")]
        assert [thread.is_closed for thread in harness.script.made] == [True, False]
        assert (await harness.score("a")).logits == (1.0,)
        assert (await harness.health()).restarts == 1


async def test_jobs_that_wait_behind_a_stuck_lane_are_still_answered_in_time() -> None:
    harness = ScorerHarness(lanes=1)
    async with harness.running():
        harness.script.call_s = lambda: None
        await harness.score("a", within_s=0.1)
        started_s = harness.now_s()
        assert (await harness.score("b", within_s=0.2)).logits == (None,)
        assert harness.now_s() - started_s == pytest.approx(0.2, abs=0.01)
        long = await harness.score("c", within_s=50.0)
        assert long == PairsScored(logits=(None,), elapsed_ms=long.elapsed_ms, failure=UNAVAILABLE)
        assert long.elapsed_ms < 5000, "the loss of the thread answers whoever still waits"


@pytest.mark.parametrize("trouble", ["is_dead", "is_silent"])
async def test_a_thread_that_died_or_went_silent_is_found_without_any_job(trouble: str) -> None:
    harness = ScorerHarness()
    async with harness.running():
        setattr(harness.script, trouble, True)
        await anyio.sleep(9.5)
        assert harness.watched.restarts == [("model", "ThreadLostError")]
        setattr(harness.script, trouble, False)
        await anyio.sleep(5.0)
        assert (await harness.score("a")).logits == (1.0,)


async def test_a_load_that_never_ends_is_given_up() -> None:
    harness = ScorerHarness(lanes=1)
    harness.script.call_s = lambda: None
    async with harness.running():
        await anyio.sleep(125)
        assert harness.watched.restarts == [("model", "ThreadLostError")]
        assert (await harness.score("a")).failure == UNAVAILABLE


async def test_an_idle_model_is_kept_warm_and_a_busy_one_is_left_alone() -> None:
    harness = ScorerHarness()
    async with harness.running():
        for number in range(10):
            await harness.score(f"memory {number}")
            await anyio.sleep(30)
        assert len(harness.scorer.scored) == 10
        await anyio.sleep(300)
        pings = harness.scorer.scored[10:]
        assert 4 <= len(pings) <= 5
        assert set(pings) == {("ping", "pong")}


async def test_three_failed_pings_in_a_row_raise_one_alert_and_a_good_one_lifts_it() -> None:
    harness = ScorerHarness()

    def fail(_query: str, _memory: str) -> float:
        raise OSError

    async with harness.running():
        good = harness.scorer.logit
        harness.scorer.logit = fail
        await anyio.sleep(130)
        assert harness.kinds == [NoticeKind.READY], "two failures are no alert"
        await anyio.sleep(300)
        assert harness.kinds == [NoticeKind.READY, NoticeKind.PING_FAILING]
        assert "OSError" in (await harness.health()).detail
        harness.scorer.logit = good
        await anyio.sleep(61)
        assert harness.kinds[-1] is NoticeKind.PING_RECOVERED
        assert (await harness.health()).detail == ""


async def test_a_probe_scores_a_real_pair_past_the_cache_each_time() -> None:
    harness = ScorerHarness()
    harness.scorer.logit = lambda _query, memory: 9.0 if memory == PROBE_RELEVANT else -11.0
    async with harness.running():
        for _ in range(2):
            probe = await harness.probe()
            assert probe.is_ok
            assert probe.relevant is not None
            assert probe.irrelevant is not None
            assert probe.relevant > 0.99
            assert probe.irrelevant < 0.01
    assert len(harness.scorer.scored) == 4


async def test_a_probe_fails_when_the_model_answers_the_same_to_everything() -> None:
    harness = ScorerHarness()
    harness.scorer.logit = lambda _query, _memory: 5.0
    async with harness.running():
        probe = await harness.probe()
    assert not probe.is_ok
    assert probe.detail


async def test_a_probe_fails_when_scoring_fails_or_nothing_is_loaded() -> None:
    harness = ScorerHarness(load_error=NO_FILE)
    async with harness.running():
        probe = await harness.probe()
        assert not probe.is_ok
        assert probe.detail == NO_FILE.message
        harness.load_error = None
        harness.scorer.logit = lambda _query, _memory: float("nan")
        harness.address.post(ScorerModelsChanged())
        await anyio.sleep(0.1)
        probe = await harness.probe()
        assert (probe.is_ok, probe.detail) == (False, "score_failed:NonFiniteLogitError")
