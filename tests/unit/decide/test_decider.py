"""Decisions through the whole system: what the daemon adds, what it remembers, what it leaves behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio
import msgspec
import pytest
from actor_system import System, running_system
from decide_requests import DAY_MS, Fields, request

from recalld.actors.decide.memo import question_key
from recalld.actors.decide.report import DecideBody
from recalld.actors.text_work import ImmediateTextWork, is_long
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.decide import (
    Argument,
    CallShape,
    DecideCandidate,
    DecideOp,
    DecideRequest,
    DecideScope,
    ModelFailure,
    ModelReport,
    SweepArguments,
)
from recalld.models.domain.decision import CandidateReason, DecideReason, Decision, GateDecision
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.events import EventName
from recalld.models.domain.reasons import Op

pytestmark = pytest.mark.anyio

MESSAGE = "Could you say more on caching strategies for browsers?"
T = TypeVar("T")
TURNS = ("Where is the key?", "In the vault.")
FOLLOW_UP = "And who may rotate it?"


def question(system: System, profile: str, text: str = "", **fields: object) -> DecideRequest:
    given: Fields = {"turn_id": "t1", **fields}  # type: ignore[typeddict-item]
    asked = request(profile, text, **given)
    return msgspec.structs.replace(asked, deadline_s=system.now_s() + 5.0)


async def decide(system: System, profile: str, text: str = "", **fields: object) -> Decision:
    return await system.service.decide(question(system, profile, text, **fields))


async def test_the_store_is_asked_where_no_rule_decides() -> None:
    async with running_system(System()) as system:
        unknown = await decide(system, "default_recall", MESSAGE)
        await system.store_text("ines", "The browser caches for an hour")
        known = await decide(system, "default_recall", MESSAGE, turn_id="t2")
    assert unknown.reason_code is DecideReason.WEAK_EVIDENCE
    assert known.reason_code is DecideReason.TERMS_STORED
    assert "browsers" in known.evidence.posted


async def test_a_store_that_cannot_be_read_runs_by_the_error_path() -> None:
    async with running_system(System()) as system:
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        decision = await decide(system, "default_recall", MESSAGE)
    assert (decision.decision, decision.reason_code) == (GateDecision.RUN, DecideReason.GATE_FAILED)
    assert decision.is_degraded


async def test_a_store_that_is_slow_is_not_waited_for() -> None:
    async with running_system(System()) as system:
        system.reading.slow_s["posted"] = 60.0
        started_s = system.now_s()
        decision = await decide(system, "default_recall", MESSAGE)
        took_s = system.now_s() - started_s
    assert decision.reason_code is DecideReason.TIMED_OUT
    assert took_s < 0.1


class SlowTextWork(ImmediateTextWork):
    """Reads long texts for a minute, on the clock of the tests."""

    async def run(self, work: Callable[[], T], *, chars: int) -> T:
        if is_long(chars):
            await anyio.sleep(60.0)
        return work()


@pytest.mark.parametrize("budget_s", [0.0, 0.001, 1.0])
@pytest.mark.parametrize(
    ("profile", "way"),
    [
        ("default_recall", GateDecision.RUN),
        ("default_sweep", GateDecision.REFUSE),
        ("default_extract", GateDecision.DEFER),
        ("daimon_world_check", GateDecision.SKIP),
    ],
)
async def test_what_takes_long_to_read_goes_the_profiles_way_when_its_time_is_up(
    profile: str, way: GateDecision, budget_s: float
) -> None:
    async with running_system(System(text_work=SlowTextWork())) as system:
        long = DecideCandidate(id="c", text="The file a.txt exists. " * 100)
        asked = question(system, profile, "redis cache " * 5_000, candidates=(long,))
        started_s = system.now_s()
        decision = await system.service.decide(msgspec.structs.replace(asked, deadline_s=started_s + budget_s))
        took_s = system.now_s() - started_s
        again = await system.service.decide(msgspec.structs.replace(asked, deadline_s=started_s + 120.0))
    assert (decision.decision, decision.reason_code) == (way, DecideReason.TIMED_OUT)
    assert decision.is_degraded
    assert decision.decision_id
    assert took_s <= budget_s * 1.1
    assert again.is_repeat is (budget_s > 0)  # a failure is the turn's decision; without any time there is none


async def test_whoever_waits_for_another_ones_decision_keeps_its_own_time() -> None:
    async with running_system(System(text_work=SlowTextWork())) as system:
        asked = question(system, "default_recall", "redis cache " * 5_000)
        started_s = system.now_s()
        slow, quick = (msgspec.structs.replace(asked, deadline_s=started_s + budget_s) for budget_s in (25.0, 1.0))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(system.service.decide, slow)
            await anyio.sleep(0.01)
            decision = await system.service.decide(quick)
            took_s = system.now_s() - started_s
            tasks.cancel_scope.cancel()
    assert decision.reason_code is DecideReason.TIMED_OUT
    assert took_s <= 1.1


async def test_the_channel_of_time_knows_whether_anything_is_stored_from_then() -> None:
    async with running_system(System()) as system:
        now_ms = system.clock.now_ms()
        moment = {"now_ms": now_ms, "time_zone": "UTC"}
        nothing = await decide(system, "gini_temporal", "what did we decide today?", **moment)
        await system.store_text("ines", "We decided on tea")
        something = await decide(system, "gini_temporal", "what did we decide today?", turn_id="t2", **moment)
        other_day = await decide(
            system, "gini_temporal", "what did we decide last week?", now_ms=now_ms + 30 * DAY_MS, time_zone="UTC"
        )
    assert nothing.reason_code is DecideReason.NOTHING_IN_INTERVAL
    assert (something.reason_code, something.evidence.counts) == (DecideReason.TIME_EXPRESSION, {"in_interval": 1})
    assert other_day.reason_code is DecideReason.NOTHING_IN_INTERVAL


async def test_every_decision_leaves_a_row_without_a_word_of_the_message() -> None:
    async with running_system(System()) as system:
        decision = await decide(system, "waku_skills", "rotate the signing key", candidates=(SKILL,))
        row = await system.service.explain("ines", decision.decision_id)
    assert (row.op, row.decision, row.reason, row.session) == (Op.DECIDE, "run", "passed", "s1")
    body = msgspec.json.decode(row.body, type=DecideBody)
    assert (body.profile, body.decided_by, body.items) == ("waku_skills", "word_overlap", 1)
    assert (body.candidates[0].id, body.candidates[0].terms) == ("sign", 3)
    assert b"signing" not in row.body
    assert decision.decision_id.startswith("dec_")


SKILL = DecideCandidate(id="sign", title="signing", description="Rotate the signing key")


async def test_the_same_question_within_a_turn_is_decided_once() -> None:
    async with running_system(System()) as system:
        first = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS)
        again = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, now_ms=5)
        next_turn = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, turn_id="t2")
    assert (first.is_repeat, again.is_repeat, next_turn.is_repeat) == (False, True, False)
    assert again.decision_id == first.decision_id
    assert next_turn.decision_id != first.decision_id


async def test_another_message_history_scope_or_candidate_is_another_question() -> None:
    async with running_system(System()) as system:
        asked = question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS)
        others = (
            question(system, "atomic_rewrite", "And why?", recent=TURNS),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS[:1]),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=None),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, scope=DecideScope(project="p")),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, candidates=(SKILL,)),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, session="s2"),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, explicit=frozenset({Argument.SINCE})),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, now_ms=5, is_now_named=True),
            question(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, now_ms=6, is_now_named=True),
        )
    keys = {question_key(each) for each in (asked, *others)}
    assert len(keys) == len(others) + 1
    assert question_key(question(system, "atomic_rewrite", session="")) is None
    assert question_key(question(system, "atomic_rewrite", turn_id="")) is None


async def test_an_edited_skill_is_live_on_the_next_call_of_the_same_turn() -> None:
    async with running_system(System()) as system:
        other = msgspec.structs.replace(SKILL, title="tea", description="kinds of tea")
        before = await decide(system, "waku_skills", "rotate the signing key", candidates=(other,))
        after = await decide(system, "waku_skills", "rotate the signing key", candidates=(SKILL,))
    assert (before.decision, after.decision) == (GateDecision.SKIP, GateDecision.RUN)


async def test_a_models_answer_is_decided_anew_and_is_the_turns_decision_from_then_on() -> None:
    async with running_system(System()) as system:
        before = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS)
        rewritten = ModelReport(text="Who may rotate the key?")
        answered = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, model=rewritten)
        again = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS)
    assert before.reason_code is DecideReason.LEANS_ON_HISTORY
    assert answered.params.query == "Who may rotate the key?"
    assert (again.is_repeat, again.params.query) == (True, answered.params.query)


async def test_a_failure_is_remembered_and_a_call_that_was_given_up_is_not() -> None:
    async with running_system(System()) as system:
        gone = ModelReport(failure=ModelFailure.CANCELLED)
        await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, model=gone)
        after_cancelling = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS)
        late = ModelReport(failure=ModelFailure.TIMEOUT)
        await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, model=late)
        after_failing = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS)
    assert (after_cancelling.decision, after_cancelling.is_repeat) == (GateDecision.RUN, False)
    assert (after_failing.reason_code, after_failing.is_repeat) == (DecideReason.TIMED_OUT, True)


async def test_two_askers_at_once_share_one_decision_and_a_cancelled_one_decides_nothing() -> None:
    async with running_system(System()) as system:
        system.reading.slow_s["posted"] = 0.04
        decisions: list[Decision] = []

        async def ask() -> None:
            decisions.append(await decide(system, "default_recall", MESSAGE))

        async with anyio.create_task_group() as tasks:
            with anyio.CancelScope() as scope:
                tasks.start_soon(_cancelled_after, scope, 0.01)
                tasks.start_soon(ask)
                tasks.start_soon(ask)
                await decide(system, "default_recall", MESSAGE)
    assert len(decisions) == 2
    assert len({decision.decision_id for decision in decisions}) == 1
    assert sorted(decision.is_repeat for decision in decisions) == [False, True]


async def _cancelled_after(scope: anyio.CancelScope, delay_s: float) -> None:
    await anyio.sleep(delay_s)
    scope.cancel()


async def test_after_failures_in_a_row_one_notice_names_the_consequence_and_the_setting() -> None:
    async with running_system(System()) as system:
        late = ModelReport(failure=ModelFailure.TIMEOUT)
        notices = [
            (await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, model=late, turn_id=f"t{n}")).notice
            for n in range(6)
        ]
        events = system.events(EventName.DECIDE_GATE_FAILING)
    assert [bool(notice) for notice in notices] == [False, False, True, False, False, False]
    assert "find less" in notices[2]
    assert "atomic_rewrite" in notices[2]
    (event,) = events
    assert (event.user, event.fields["profile"], event.fields["failures"]) == ("ines", "atomic_rewrite", 3)
    assert FOLLOW_UP not in str(event.fields)


async def test_a_success_ends_the_row_of_failures_and_a_later_notice_tells_how_many_were_held_back() -> None:
    async with running_system(System()) as system:
        late, good = ModelReport(failure=ModelFailure.ERROR), ModelReport(text="Who may rotate the key?")

        async def answer(number: int, report: ModelReport | None) -> str:
            made = await decide(system, "atomic_rewrite", FOLLOW_UP, recent=TURNS, model=report, turn_id=f"t{number}")
            return made.notice

        for number, report in enumerate((late, late, None, good, late, late)):
            assert await answer(number, report) == ""
        assert await answer(10, late)
        assert not await answer(11, late)
        await anyio.sleep(301)
        assert await answer(12, late)
        counts = [event.fields["suppressed_count"] for event in system.events(EventName.DECIDE_GATE_FAILING)]
    assert counts == [0, 1]


async def test_failures_of_the_store_are_no_failures_of_a_model() -> None:
    async with running_system(System()) as system:
        system.reading.code = ErrorCode.STORAGE_UNAVAILABLE
        decisions = [await decide(system, "waku_turn", MESSAGE, turn_id=f"t{n}") for n in range(5)]
        events = system.events(EventName.DECIDE_GATE_FAILING)
    assert {decision.reason_code for decision in decisions} == {DecideReason.GATE_FAILED}
    assert [decision.notice for decision in decisions] == [""] * 5
    assert events == []


async def test_decisions_and_dropped_candidates_are_counted_by_gate_and_reason() -> None:
    async with running_system(System()) as system:
        facts = (DecideCandidate(id="a", score=0.1), DecideCandidate(id="b", score=2.0))
        await decide(system, "waku_keep", call_shape=CallShape.SINGLE, candidates=facts)
        await decide(system, "daimon_suggestion", MESSAGE)
        counters = (await system.service.stats()).counters
    assert counters["decide_waku_keep_run_passed"] == 1
    assert counters["decide_waku_keep_dropped_below_threshold"] == 1
    assert counters["decide_daimon_suggestion_skip_project_unknown"] == 1


FITTING = DecideCandidate(id="a", text="The journal checkpoint stalls while a reader is open.", session="old")
SUGGEST: dict[str, object] = {"scope": DecideScope(project="p"), "candidates": (FITTING,)}
ASKED = "Why does the checkpoint of the journal stall?"


async def test_what_was_shown_in_a_session_is_not_shown_again_until_it_is_compacted() -> None:
    async with running_system(System()) as system:
        first = await decide(system, "daimon_suggestion", ASKED, **SUGGEST)
        second = await decide(system, "daimon_suggestion", ASKED, turn_id="t2", **SUGGEST)
        elsewhere = await decide(system, "daimon_suggestion", ASKED, session="s2", **SUGGEST)
        await system.service.session("ines", "s1", SessionEvent.COMPACTED)
        third = await decide(system, "daimon_suggestion", ASKED, turn_id="t3", **SUGGEST)
    assert [each.decision.value for each in (first, second, elsewhere, third)] == ["run", "skip", "run", "run"]
    assert second.evidence.candidates[0].reason is CandidateReason.SHOWN_BEFORE


async def test_what_was_waved_away_stays_away_until_the_session_ends() -> None:
    async with running_system(System()) as system:
        await decide(system, "daimon_suggestion", ASKED, declined=("a",), **SUGGEST)
        await system.service.session("ines", "s1", SessionEvent.COMPACTED)
        later = await decide(system, "daimon_suggestion", ASKED, turn_id="t2", **SUGGEST)
        await system.service.session("ines", "s1", SessionEvent.ENDED)
        anew = await decide(system, "daimon_suggestion", ASKED, turn_id="t3", **SUGGEST)
    assert later.evidence.candidates[0].reason is CandidateReason.DECLINED_BEFORE
    assert anew.decision is GateDecision.RUN


async def test_a_sweep_resumes_by_its_cursor() -> None:
    async with running_system(System()) as system:
        sessions = tuple(DecideCandidate(id=f"s{n}", at_ms=n + 1) for n in range(3))
        start = SweepArguments(since_ms=0, targets_max=2)
        limited: dict[str, object] = {
            "candidates": sessions,
            "explicit": frozenset({Argument.SINCE, Argument.PROJECT}),
            "scope": DecideScope(project="p"),
        }
        first = await decide(system, "default_sweep", sweep=start, **limited)
        assert first.params.cursor is not None
        resumed = SweepArguments(cursor=first.params.cursor)
        second = await decide(system, "default_sweep", sweep=resumed, candidates=sessions)
    assert (first.params.targets, second.params.targets) == (("s0", "s1"), ("s2",))


async def test_an_unknown_profile_is_a_bad_request() -> None:
    async with running_system(System()) as system:
        asked = msgspec.structs.replace(question(system, "waku_turn"), profile="nobody")
        with pytest.raises(RecalldError, match="profile: there is none called 'nobody'") as caught:
            await system.service.decide(asked)
    assert caught.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize("op", DecideOp)
async def test_every_operation_is_answered_without_a_profile(op: DecideOp) -> None:
    async with running_system(System()) as system:
        asked = DecideRequest(op=op, user="ines", deadline_s=system.now_s() + 1)
        decision = await system.service.decide(asked)
    assert (decision.op, decision.profile) == (op, f"default_{op.value}")
