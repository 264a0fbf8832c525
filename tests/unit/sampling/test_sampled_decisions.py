"""What of decisions is kept for an audit: by a chance of its own, with words that may be kept, and never in the way."""

from __future__ import annotations

import anyio
import pytest
from actor_system import System, drain, rejecting, running_system
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.actors.kernel.bounds import SAMPLING_MAILBOX_MAX
from recalld.actors.sampling.actor import KEPT_COUNTER, LOST_COUNTER
from recalld.daemon.config.settings import AuditSettings
from recalld.models.domain.audit_samples import MarkSample, Sample, SampleAnswer, SampleKind
from recalld.models.domain.errors import ErrorCode
from recalld.models.domain.health import StatsQuery
from recalld.models.domain.reasons import RecallDecision, RecallMode, RecallReason
from recalld.models.domain.recall import Coverage, GateReport, RecallOutcome, RecallTimings
from recalld.models.domain.user_data import PurgeRequest
from recalld.models.policy.sampling import sample_text, sampled_recall

pytestmark = pytest.mark.anyio

TEXT = "The deploy key lives in the vault"
QUERY = "where does the deploy key live?"
ALL = AuditSettings(sample_rate=1.0)
KEY = b"k" * 32
SETTLE_S = 1.0


async def kept(system: System, user: str = "ines", *, is_marked: bool = False) -> dict[SampleKind, Sample]:
    """The samples of a user, by kind; of each kind there is one."""
    await anyio.sleep(SETTLE_S)
    shown = await system.service.samples(user, (), is_marked=is_marked, limit=50)
    return {sample.kind: sample for sample in shown.page.samples}


def skipped(number: int) -> RecallOutcome:
    return RecallOutcome(
        recall_id=f"rec_{number}",
        decision=RecallDecision.SKIP,
        mode=RecallMode.GATED,
        reason=RecallReason.TOO_SHORT,
        coverage=Coverage(discovered=0, searched=0),
        gate=GateReport(),
        timings=RecallTimings(),
    )


async def test_a_recall_is_kept_with_its_turn_and_each_memory_it_judged() -> None:
    async with running_system(System(), audit=ALL) as system:
        memory_id = await system.store_text("ines", TEXT)
        outcome = await system.recall("ines", QUERY)
        samples = await kept(system)
    assert set(samples) == {SampleKind.TURN_SEARCH, SampleKind.INJECTION}
    injection = samples[SampleKind.INJECTION]
    assert (injection.memory_id, injection.text, injection.probability) == (memory_id, QUERY, 1.0)
    assert injection.relevance == outcome.items[0].relevance
    assert {each.decision_id for each in samples.values()} == {outcome.recall_id}


async def test_what_the_gate_held_back_and_what_was_not_searched_for_are_kept() -> None:
    async with running_system(System(), audit=ALL) as system:
        system.scorer.logit = rejecting
        memory_id = await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await system.recall("ines", "ok")
        samples = await kept(system)
    assert samples[SampleKind.GATE_DROP].memory_id == memory_id
    assert samples[SampleKind.TURN_SKIP].text == "ok"
    assert SampleKind.INJECTION not in samples


async def test_a_turn_of_which_nothing_was_kept_is_kept_and_a_record_always() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.observe("ines", "It rained all morning in the valley", turn_id="t1")
        reply = await system.observe("ines", "Remember that the office is in Bern.", turn_id="t2")
        samples = await kept(system)
    assert samples[SampleKind.WRITE_DROP].text == "It rained all morning in the valley"
    (verdict,) = reply.kept
    assert verdict.memory is not None
    record = samples[SampleKind.RECORD]
    assert (record.memory_id, record.probability, record.text) == (verdict.memory.id, 1.0, "")


async def test_searching_on_purpose_is_not_sampled_and_nobody_sees_the_samples_of_others() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY, is_search=True)
        assert await kept(system) == {}
        await system.recall("ines", QUERY)
        assert await kept(system, "omar") == {}
        assert len(await kept(system)) == 2


async def test_a_rate_of_nought_keeps_nothing_and_starts_nobody() -> None:
    async with running_system(System(), audit=AuditSettings(sample_rate=0.0)) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await system.observe("ines", "Remember that the office is in Bern.", turn_id="t1")
        assert await kept(system) == {}
        assert "sampling" not in system.supervisor.names


async def test_without_words_samples_are_counted_but_cannot_be_judged() -> None:
    async with running_system(System(), audit=AuditSettings(sample_rate=1.0, text=False)) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        assert await kept(system) == {}
        groups = await system.store.reader.audit_counts("ines", since_ms=0)
    assert {(group.kind, group.sampled) for group in groups} == {
        (SampleKind.INJECTION, 1),
        (SampleKind.TURN_SEARCH, 1),
    }


@pytest.mark.parametrize(
    "turn",
    [
        "Please don't remember this: I am moving to Lyon next year.",
        "Forget what I said about the office in Bern.",
        "<private>I am moving to Lyon next year.</private>",
    ],
)
async def test_a_turn_that_was_not_to_be_kept_is_not_kept_here_either(turn: str) -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.observe("ines", turn, turn_id="t1")
        assert await kept(system) == {}


@pytest.mark.parametrize(
    ("turn", "gone"),
    [
        ("the wifi password is hunter2-Tr0ub4dor, is it not?", "hunter2-Tr0ub4dor"),
        ("use sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789 for that", "AbCdEfGh"),
        ("what is <private>the affair with Bo</private> about the lake?", "affair"),
    ],
)
def test_secrets_and_private_words_are_not_kept(turn: str, gone: str) -> None:
    assert gone not in (sample_text(turn) or "")


@settings(max_examples=20)
@given(st.floats(0.05, 0.95), st.integers(0, 10_000))
def test_as_many_are_kept_as_the_rate_says_and_the_same_ones_again(rate: float, start: int) -> None:
    outcomes = [skipped(number) for number in range(start, start + 400)]
    first = [sampled_recall("ines", each, key=KEY, rate=rate, at_ms=1) for each in outcomes]
    share = sum(map(len, first)) / len(outcomes)
    assert abs(share - rate) < 0.15
    assert first == [sampled_recall("ines", each, key=KEY, rate=rate, at_ms=1) for each in outcomes]
    assert all(sample.probability == rate for samples in first for sample in samples)


def test_another_key_keeps_others() -> None:
    outcomes = [skipped(number) for number in range(200)]
    one, other = (
        [bool(sampled_recall("ines", each, key=key, rate=0.5, at_ms=1)) for each in outcomes]
        for key in (KEY, b"z" * 32)
    )
    assert one != other


# --- failing ---------------------------------------------------------------------------------------------------------


async def test_a_full_disk_costs_samples_that_are_counted_and_no_recall() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await anyio.sleep(SETTLE_S)
        system.writing.code = ErrorCode.STORAGE_FULL
        outcome = await system.recall("ines", QUERY)
        assert len(outcome.items) == 1
        await anyio.sleep(SETTLE_S)
        system.writing.code = None
        counters = (await system.service.stats()).counters
        assert (counters[KEPT_COUNTER], counters[LOST_COUNTER]) == (2, 2)
        assert system.supervisor.restarts == 0


async def test_a_store_that_does_not_answer_holds_up_no_recall_and_what_waits_is_bounded() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        system.writing.slow_s["append_samples"] = 1e6
        started_s = system.now_s()
        for _ in range(SAMPLING_MAILBOX_MAX + 20):
            assert len((await system.recall("ines", QUERY)).items) == 1
        assert system.now_s() - started_s < 60.0
        assert (await system.service.stats()).counters[LOST_COUNTER] >= 18
        system.writing.slow_s.clear()


async def test_draining_waits_for_what_was_decided_before() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await drain(system)
        groups = await system.store.reader.audit_counts("ines", since_ms=0)
    assert sum(group.sampled for group in groups) == 2


# --- marks -----------------------------------------------------------------------------------------------------------


def mark(sample: Sample, answer: SampleAnswer | None) -> MarkSample:
    return MarkSample(user="ines", sample_id=sample.id, answer=answer, by="cyd", at_ms=7)


async def test_marks_make_the_rates_that_stats_shows_and_are_not_asked_for_again() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        await system.observe("ines", "Remember that the office is in Bern.", turn_id="t2")
        samples = await kept(system)
        before = (await system.service.stats(StatsQuery(user="ines", days=7))).audit
        assert before is not None
        assert (before.wrong_injections, before.wrong_records_per_1000) == (None, None)
        for kind, answer in ((SampleKind.INJECTION, SampleAnswer.NO), (SampleKind.RECORD, SampleAnswer.YES)):
            await system.service.mark_sample(mark(samples[kind], answer), deadline_s=system.now_s() + 5.0)
        assert set(await kept(system)) == {SampleKind.TURN_SEARCH}
        marked = await kept(system, is_marked=True)
        assert (marked[SampleKind.INJECTION].marked_by, marked[SampleKind.INJECTION].marked_at_ms) == ("cyd", 7)
        report = (await system.service.stats(StatsQuery(user="ines", days=7))).audit
        assert report is not None
        assert report.wrong_injections is not None
        assert report.wrong_injections.rate == 1.0
        assert report.wrong_records_per_1000 is not None
        assert report.wrong_records_per_1000.rate == 0.0
        assert report.recall_misses is None


async def test_a_user_who_was_purged_leaves_no_sample() -> None:
    async with running_system(System(), audit=ALL) as system:
        await system.store_text("ines", TEXT)
        await system.recall("ines", QUERY)
        assert await kept(system)
        await system.service.purge_user(PurgeRequest(user="ines", deadline_s=system.now_s() + 5.0))
        assert await kept(system) == {}
        assert await system.store.reader.audit_counts(None, since_ms=0) == ()
