"""`decide` over a real socket: what the gateway adds and what it refuses."""

from __future__ import annotations

import os

import pytest
from gateway_harness import RawClient, StartGateway

from recalld.daemon.gateway.peer import AccessPolicy
from recalld.models.domain.decide import Argument, CallShape, DecideOp, ModelFailure, ReadStage
from recalld.models.domain.turn_parts import PartKind
from recalld.protocol import decide_items, items, replies, requests

pytestmark = [pytest.mark.anyio, pytest.mark.integration]


async def refusal(client: RawClient, request: requests.Decide) -> str:
    await client.send(request)
    error = await client.receive()
    assert isinstance(error, replies.Error)
    assert error.code == "bad_request"
    return error.message


async def test_a_request_reaches_the_service_whole_and_the_decision_comes_back(start: StartGateway) -> None:
    request = requests.Decide(
        id=4,
        op="probe",
        user="ines",
        session="s1",
        turn_id="t1",
        parts=(items.TextPart(role="user", text="Hi"), items.TextPart(role="host", text="[12:00]")),
        turns=(),
        now="2026-07-01T12:00:00+02:00",
        time_zone="Europe/Berlin",
        candidates=(decide_items.DecideCandidate(id="a", text="x", hits=2, files=("f",)),),
        scope=decide_items.DecideScope(project="p", project_root="/p", family=("s0",)),
        sweep=decide_items.SweepArguments(sessions=("s3",), since_ms=7),
        stage="index",
        call_shape="batched",
        model=decide_items.ModelReport(failure="timeout"),
        probe_answers=(decide_items.ProbeAnswer(claim_id="c1", answer="open"),),
        counters={"index_lag": 3},
        explicit=("sessions", "since"),
    )
    async with start() as running, running.greeted() as client:
        await client.send(request)
        decision = await client.receive()
        (asked,) = running.service.decides
    assert isinstance(decision, replies.Decision)
    assert (decision.id, decision.decision, decision.reason_code) == (4, "skip", "no_claims")
    assert decision.evidence.candidates == (decide_items.JudgedCandidate(id="a", reason="too_old"),)
    assert (asked.op, asked.stage, asked.call_shape) == (DecideOp.PROBE, ReadStage.INDEX, CallShape.BATCHED)
    assert [part.kind for part in asked.parts] == [PartKind.USER, PartKind.HOST]
    assert (asked.recent, asked.now_ms, asked.time_zone) == ((), 1_782_900_000_000, "Europe/Berlin")
    assert (asked.candidates[0].hits, asked.candidates[0].files) == (2, ("f",))
    assert (asked.scope.project_root, asked.scope.family) == ("/p", ("s0",))
    assert (asked.sweep.sessions, asked.sweep.since_ms) == (("s3",), 7)
    assert asked.model is not None
    assert asked.model.failure is ModelFailure.TIMEOUT
    assert asked.explicit == {Argument.SESSIONS, Argument.SINCE}
    assert asked.counters == {"index_lag": 3}
    assert asked.may_probe_files


async def test_turns_left_out_are_not_the_same_as_no_turns_and_no_text_is_no_part(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        await client.send(requests.Decide(op="rewrite", user="ines"))
        await client.receive()
        (asked,) = running.service.decides
    assert (asked.recent, asked.parts) == (None, ())


async def test_the_files_of_another_account_are_not_looked_at(start: StartGateway) -> None:
    class Stranger(AccessPolicy, frozen=True, kw_only=True):
        """To which this test's account is one of several."""

        def may_act_for_all(self, uid: int) -> bool:
            return False

    policy = Stranger(own_uid=os.geteuid() + 1, is_system=True)
    async with start(policy=policy) as running, running.greeted() as client:
        await client.send(requests.Decide(op="probe", user=f"uid:{os.geteuid()}/ines"))
        await client.receive()
        (asked,) = running.service.decides
        await client.send(requests.Decide(op="probe", user="otto"))
        error = await client.receive()
    assert not asked.may_probe_files
    assert isinstance(error, replies.Error)
    assert error.code == "forbidden"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (requests.Decide(op="recall", user="u", time_zone="Mars/Base"), "time_zone"),
        (requests.Decide(op="recall", user="u", now="yesterday"), "now"),
        (
            requests.Decide(op="probe", user="u", scope=decide_items.DecideScope(project_root="home")),
            "scope.project_root: is no plain absolute path",
        ),
        (
            requests.Decide(op="probe", user="u", scope=decide_items.DecideScope(project_root="/a/../b")),
            "scope.project_root: is no plain absolute path",
        ),
        (
            requests.Decide(op="inject", user="u", candidates=(decide_items.DecideCandidate(id="a"),) * 2),
            "candidates[1].id: 'a' is given twice",
        ),
        (
            requests.Decide(op="forgive", user="u"),
            "op: 'forgive' is not one of its values; give one of admit, consolidate",
        ),  # type: ignore[arg-type]
        (requests.Decide(op="sweep", user="u", explicit=("scope",)), "explicit"),  # type: ignore[arg-type]
    ],
)
async def test_a_field_out_of_its_domain_is_named_with_a_remedy(
    start: StartGateway, request_: requests.Decide, words: str
) -> None:
    async with start() as running, running.greeted() as client:
        message = await refusal(client, request_)
    assert words in message
