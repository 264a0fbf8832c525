from __future__ import annotations

from functools import partial

import anyio
import pytest
from actor_system import System, drain, running_system

from recalld.daemon.config.settings import RecallSettings
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.health import BreakerState, ModelState, StatsQuery
from recalld.models.domain.reasons import RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import RecallOutcome

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
QUERY = "where does the deploy key live?"


async def test_a_recall_whose_actor_died_of_another_request_is_asked_again() -> None:
    async with running_system(System()) as system:
        wanted = await system.store_text("ines", TEXT)
        system.reading.slow_s["memories"] = 0.1
        outcomes: list[RecallOutcome] = []

        async def ask() -> None:
            outcomes.append(await system.recall("ines", QUERY, envelope_s=1.0))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.sleep(0.05)
            await system.supervisor.kill(next(name for name in system.supervisor.names if name.startswith("recall/")))
        assert [item.memory.id for item in outcomes[0].items] == [wanted]


async def test_a_recall_that_kills_its_actor_every_time_is_answered_after_the_second() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        system.reading.crash = KeyError("unexpected")
        started_s = system.now_s()
        outcome = await system.recall("ines", QUERY)
        assert system.now_s() - started_s < 0.3
        system.reading.crash = None
        assert (outcome.decision, outcome.mode) == (RecallDecision.ERROR, RecallMode.EMPTY)
        assert outcome.reason is RecallReason.RECALL_FAILED
        assert len((await system.recall("ines", QUERY)).items) == 1
        await anyio.sleep(0.1)
        died = system.events(EventName.ACTOR_RESTARTED)
    assert [event.fields["error_type"] for event in died] == ["KeyError"] * 2
    assert "unexpected" not in str(died)


async def test_more_recalls_than_can_ever_be_answered_get_busy_and_the_others_their_answer() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        outcomes: list[RecallOutcome] = []

        async def ask() -> None:
            outcomes.append(await system.recall("ines", QUERY))

        async with anyio.create_task_group() as tasks:
            for _ in range(400):
                tasks.start_soon(ask)
        assert len(outcomes) == 400
        busy = [outcome for outcome in outcomes if outcome.reason is RecallReason.BUSY]
        assert 0 < len(busy) < 400
        assert all(outcome.decision is RecallDecision.ERROR for outcome in busy)
        assert len(system.events(EventName.MEMORY_RETRIEVAL_FINAL)) == 400


async def test_while_the_daemon_drains_recalls_are_answered_and_writes_are_refused() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        await drain(system)
        outcome = await system.recall("ines", QUERY)
        assert outcome.reason is RecallReason.DRAINING
        with pytest.raises(RecalldError) as caught:
            await system.remember("ines", "Too late")
        assert caught.value.code is ErrorCode.DRAINING


async def test_what_is_in_flight_when_the_drain_begins_is_answered() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        system.reading.slow_s["memories"] = 0.2
        system.writing.delay_s = 0.2
        recalled: list[RecallOutcome] = []
        saved: list[bool] = []

        async def ask() -> None:
            recalled.append(await system.recall("ines", QUERY, envelope_s=1.0))

        async def save() -> None:
            saved.append((await system.remember("ines", "The office is in Bern")).is_embedded)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            tasks.start_soon(save)
            await anyio.sleep(0.1)
            await drain(system)
        assert len(recalled[0].items) == 1
        assert saved == [True]
        row = await system.store.reader.decision(recalled[0].recall_id)
        assert row is not None


async def test_explain_sees_the_row_of_the_recall_just_answered() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        for number in range(5):
            outcome = await system.recall("ines", f"{QUERY} {number}")
            row = await system.service.explain("ines", outcome.recall_id)
            assert (row.id, row.decision, row.mode) == (outcome.recall_id, "inject", "gated")


async def test_an_answer_in_the_actors_stead_can_be_explained_too() -> None:
    async with running_system(System()) as system:
        system.reading.crash = KeyError()
        outcome = await system.recall("ines", QUERY)
        system.reading.crash = None
        row = await system.service.explain("ines", outcome.recall_id)
    assert (row.decision, row.reason) == ("error", "recall_failed")


async def test_another_users_decision_and_memory_are_not_found() -> None:
    async with running_system(System()) as system:
        one = await system.store_text("ines", TEXT)
        outcome = await system.recall("ines", QUERY)
        for wrong in ("ines2", "Ines", "ine", "ines "):
            for asked in (
                partial(system.service.explain, wrong, outcome.recall_id),
                partial(system.service.get, wrong, one),
            ):
                with pytest.raises(RecalldError) as caught:
                    await asked()
                assert caught.value.code is ErrorCode.NOT_FOUND


async def test_health_tells_models_breaker_and_window() -> None:
    system = System(missing={"scorer"})
    async with running_system(system):
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await anyio.sleep(0.1)
        health = await system.service.health(is_deep=True)
    assert (health.scorer.state, health.embedder.state) == (ModelState.UNAVAILABLE, ModelState.READY)
    assert "missing" in health.scorer.detail
    assert health.probe is not None
    assert not health.probe.is_ok
    assert health.breaker is BreakerState.CLOSED
    assert (health.window_recalls, health.window_degraded) == (1, {"scorer_unavailable": 1})
    assert health.store.live == 1
    assert not health.is_draining


async def test_a_slow_store_does_not_make_models_look_dead() -> None:
    async with running_system(System()) as system:
        system.reading.slow_s["health"] = 3.0
        health = await system.service.health(is_deep=False)
    assert (health.scorer.state, health.embedder.state) == (ModelState.READY, ModelState.READY)


async def test_a_silent_actor_is_reported_and_does_not_silence_the_others() -> None:
    async with running_system(System()) as system:
        system.scorer_thread.is_dead = True
        for _ in range(100):  # found dead by each heartbeat, and waiting longer before each restart
            await anyio.sleep(1.0)
            health = await system.service.health(is_deep=False)
            if health.scorer.state is ModelState.UNAVAILABLE:
                break
        assert "timeout" in health.scorer.detail
        assert health.scorer.restarts > 0
        assert health.embedder.state is ModelState.READY
        assert health.actor_restarts == health.scorer.restarts


async def test_a_deep_check_of_a_gate_that_is_off_never_says_that_it_is_well() -> None:
    async with running_system(System(), recall=RecallSettings(gate="off")) as system:
        health = await system.service.health(is_deep=True)
    assert health.probe is not None
    assert not health.probe.is_ok
    assert health.gate_mode == "off"


async def test_stats_count_every_recall_and_write_by_what_became_of_it() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await system.recall("ines", "thanks")
        await anyio.sleep(0.1)
        stats = await system.service.stats()
    assert stats.counters["recalls"] == 2
    assert stats.latencies_ms["total_p95"] > 0


async def test_a_window_reconciles_what_was_just_decided_for_a_user_and_for_all() -> None:
    async with running_system(System()) as system:
        await system.store_text("ines", TEXT)
        await system.store_text("bo", TEXT)
        await system.recall("ines", QUERY)
        await system.recall("ines", "thanks")
        await system.recall("ines", "how long does an egg boil?")
        await system.recall("bo", QUERY)
        await system.observe("ines", "Remember that the office is in Bern.", turn_id="t1")
        await system.observe("ines", "What a nice day it is.", turn_id="t2")
        of_all = (await system.service.stats(StatsQuery(days=1))).ledger
        of_one = (await system.service.stats(StatsQuery(user="ines", days=1))).ledger
        ever = (await system.service.stats(StatsQuery(is_ever=True))).ledger
        nobody = (await system.service.stats(StatsQuery(user="nobody", days=1))).ledger
    assert of_all is not None
    assert of_one is not None
    assert ever is not None
    assert nobody is not None
    assert all(each.holds for report in (of_all, of_one, nobody) for each in report.reconciliations)
    assert {each.name: each.total for each in of_all.reconciliations}["recalls"] == 4
    sums = {each.name: each for each in of_one.reconciliations}
    assert (sums["recalls"].total, sums["recalls"].parts["skip:acknowledgement"]) == (3, 1)
    assert sums["turns"].parts == {"kept": 1, "nothing": 1}
    assert (nobody.decisions, nobody.compound) == ((), None)
    assert sum(each.share.k for each in ever.decisions) == sum(each.share.k for each in of_all.decisions) == 8


async def test_a_window_of_a_store_that_cannot_be_read_is_an_error_and_the_counters_are_not() -> None:
    async with running_system(System()) as system:
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        with pytest.raises(RecalldError):
            await system.service.stats(StatsQuery(days=1))
        assert (await system.service.stats()).ledger is None


async def test_a_subscriber_hears_of_its_user_and_of_nobody_else() -> None:
    async with running_system(System()) as system:
        stream = system.service.subscribe(frozenset({EventName.MEMORY_ADMITTED}), "ines")
        await system.store_text("bruno", TEXT)
        await system.store_text("ines", TEXT)
        event, dropped = await stream.next_event()
        stream.close()
        with pytest.raises(anyio.EndOfStream):
            await stream.next_event()
    assert (event.user, dropped) == ("ines", 0)


async def test_the_end_of_a_session_is_answered_also_for_a_user_nobody_knows() -> None:
    async with running_system(System()) as system:
        await system.service.session("nobody", "one", SessionEvent.ENDED)
