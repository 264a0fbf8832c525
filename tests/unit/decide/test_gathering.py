"""Asking others: the project's files within their time, a lent model within its own."""

from __future__ import annotations

import anyio
import msgspec
import pytest
from decide_requests import KEY, request
from virtual_time import LoopClock

from recalld.actors.decide.gathering import Gatherer
from recalld.actors.decide.ticks import TickBook
from recalld.actors.runtime_model import NoRuntimeModel
from recalld.actors.store import InMemoryStore
from recalld.actors.text_work import ImmediateTextWork
from recalld.models.domain.decide import DecideCandidate, DecideScope
from recalld.models.domain.decision import DecideReason, Decision
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply
from recalld.models.domain.world import Claim, FindingState, ProbeReason
from recalld.models.policy.profiles.knowledge import SessionKnowledge
from recalld.models.policy.profiles.registry import shipped_profiles
from recalld.models.policy.turn_gate import DEFAULT_SETTINGS

pytestmark = pytest.mark.anyio

OPEN_TURN = "Could you say more on caching strategies for browsers?"


class SlowProbe:
    """Says yes after a while, and notes what it was asked."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.asked: list[str] = []

    async def look(self, root: str, claim: Claim) -> FindingState:
        self.asked.append(claim.subject)
        await anyio.sleep(self.delay_s)
        return FindingState.YES


class LentModel:
    """Answers after a while."""

    def __init__(self, reply: RuntimeReply | RuntimeFailure, delay_s: float = 0.0) -> None:
        self.reply, self.delay_s = reply, delay_s
        self.prompts: list[RuntimePrompt] = []

    def is_connected(self, user: str) -> bool:
        return True

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | RuntimeFailure:
        self.prompts.append(prompt)
        await anyio.sleep(self.delay_s)
        return self.reply


def gatherer(*, probe: SlowProbe | None = None, model: LentModel | None = None) -> Gatherer:
    return Gatherer(
        clock=LoopClock(),
        reader=InMemoryStore(fold_key=KEY).reader,
        text_work=ImmediateTextWork(),
        runtime_model=model or NoRuntimeModel(),
        probe=probe or SlowProbe(),
        turn_settings=DEFAULT_SETTINGS,
        cursor_key=KEY,
        ticks=TickBook(),
    )


async def world(probe: SlowProbe, *texts: str, may_probe_files: bool = True, budget_s: float = 5.0) -> Decision:
    asked = request(
        "daimon_world_check",
        candidates=tuple(DecideCandidate(id=f"m{n}", text=text) for n, text in enumerate(texts)),
        scope=DecideScope(project_root="/p"),
        may_probe_files=may_probe_files,
    )
    asked = msgspec.structs.replace(asked, deadline_s=LoopClock().monotonic_s() + budget_s)
    profile = shipped_profiles()["daimon_world_check"]
    return (await gatherer(probe=probe).decide(asked, profile, SessionKnowledge())).decision


async def turn(model: LentModel | None, profile: str = "waku_turn") -> Decision:
    asked = msgspec.structs.replace(request(profile, OPEN_TURN), deadline_s=LoopClock().monotonic_s() + 10)
    gathered = await gatherer(model=model).decide(asked, shipped_profiles()[profile], SessionKnowledge())
    return gathered.decision


def reasons(decision: Decision) -> list[ProbeReason]:
    return [each.reason for each in decision.evidence.probes]


FIVE = tuple(f"The file f{n}.py exists." for n in range(5))


async def test_local_claims_are_looked_at_in_the_callers_order() -> None:
    probe = SlowProbe()
    decision = await world(probe, *FIVE)
    assert probe.asked == ["f0.py", "f1.py", "f2.py", "f3.py", "f4.py"]
    assert reasons(decision) == [ProbeReason.AS_CLAIMED] * 5


async def test_slow_looks_stop_after_eight_tenths_of_a_second_and_the_rest_is_skipped() -> None:
    started_s = LoopClock().monotonic_s()
    decision = await world(SlowProbe(0.3), *FIVE)
    assert LoopClock().monotonic_s() - started_s == pytest.approx(0.8)
    assert reasons(decision) == [ProbeReason.AS_CLAIMED] * 2 + [ProbeReason.SKIPPED_BUDGET] * 3


async def test_the_callers_own_deadline_is_kept_too_with_time_left_to_decide() -> None:
    started_s = LoopClock().monotonic_s()
    decision = await world(SlowProbe(60), *FIVE, budget_s=0.1)
    assert LoopClock().monotonic_s() - started_s == pytest.approx(0.09)
    assert reasons(decision) == [ProbeReason.SKIPPED_BUDGET] * 5


async def test_remote_claims_are_never_looked_at_here() -> None:
    probe = SlowProbe()
    decision = await world(probe, "PR 12 is open.")
    assert probe.asked == []
    assert reasons(decision) == [ProbeReason.ASKED_RUNTIME]


async def test_files_of_a_caller_that_the_daemon_may_not_look_for_stay_untouched() -> None:
    probe = SlowProbe()
    decision = await world(probe, *FIVE, may_probe_files=False)
    assert probe.asked == []
    assert reasons(decision) == [ProbeReason.NO_ACCESS] * 5


async def test_a_lent_model_settles_what_no_rule_does() -> None:
    model = LentModel(RuntimeReply(text='{"run": false}'))
    assert (await turn(model)).reason_code is DecideReason.MODEL_SAYS_NO
    assert model.prompts[0].turns[-1] == OPEN_TURN


async def test_a_gate_that_is_not_set_to_ask_a_model_asks_none() -> None:
    model = LentModel(RuntimeReply(text='{"run": false}'))
    assert (await turn(model, "default_recall")).reason_code is DecideReason.WEAK_EVIDENCE
    assert model.prompts == []


async def test_without_a_lent_model_the_direction_for_weak_evidence_holds() -> None:
    assert (await turn(None)).reason_code is DecideReason.WEAK_EVIDENCE


async def test_a_hung_model_is_given_up_within_a_tenth_over_its_own_deadline() -> None:
    started_s = LoopClock().monotonic_s()
    decision = await turn(LentModel(RuntimeReply(text="{}"), delay_s=600))
    assert decision.reason_code is DecideReason.TIMED_OUT
    assert LoopClock().monotonic_s() - started_s == pytest.approx(2.2)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (RuntimeFailureKind.TIMEOUT, DecideReason.TIMED_OUT),
        (RuntimeFailureKind.BUSY, DecideReason.NO_BUDGET),
        (RuntimeFailureKind.REFUSED, DecideReason.GATE_FAILED),
        (RuntimeFailureKind.DISCONNECTED, DecideReason.GATE_FAILED),
        (RuntimeFailureKind.NOT_CONNECTED, DecideReason.GATE_FAILED),
        (RuntimeFailureKind.TOO_LONG, DecideReason.GATE_FAILED),
    ],
)
async def test_each_failure_of_a_lent_model_has_its_reason(kind: RuntimeFailureKind, reason: DecideReason) -> None:
    assert (await turn(LentModel(RuntimeFailure(kind=kind)))).reason_code is reason
