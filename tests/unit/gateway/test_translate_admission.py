from __future__ import annotations

import msgspec
import pytest
from gateway_harness import make_memory, make_observation, make_proposal

from recalld.daemon.gateway import admission_requests
from recalld.models.domain import admission, admission_store, records
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.usage import Usage
from recalld.protocol import items, requests

NOW_MS = 1_800_000_000_000
MEMORY = make_memory("mem_1", records.NewMemory(user="u", text="drinks tea"))


def turn(**fields: object) -> admission.ObservedTurn:
    request = requests.Observe(user="u", session="s", turn_id="t", speaker="user", **fields)  # type: ignore[arg-type]
    return admission_requests.observed_turn(request, client="runtime", now_ms=NOW_MS, deadline_s=1.0)


def test_a_turn_carries_zone_client_candidates_and_what_was_injected() -> None:
    offered = items.OfferedFact(
        statement="The user works from Porto.",
        kind="preference",
        scope="kitchen",
        quote="I work from Porto",
        cues=("Location",),
        asks=("Where does the user work?",),
        expires_at="2026-11-01",
        slot="location",
    )
    read = turn(
        text="I work from Porto", time_zone="America/New_York", candidates=(offered,), injected=("mem_1", "mem_2")
    )
    assert (read.time_zone, read.client, read.injected) == ("America/New_York", "runtime", ("mem_1", "mem_2"))
    assert read.offered == (
        admission.OfferedFact(
            statement="The user works from Porto.",
            kind=records.MemoryKind.PREFERENCE,
            scope="kitchen",
            quote="I work from Porto",
            cues=("Location",),
            asks=("Where does the user work?",),
            expires_at_ms=1_793_595_600_000,  # midnight in New York on the day whose clocks go back (A23)
            slot="location",
        ),
    )


def test_a_candidate_that_is_over_is_the_policys_to_drop_and_does_not_undo_the_turn() -> None:
    offered = items.OfferedFact(statement="x y z", expires_at="2020-01-01T00:00:00Z")
    (read,) = turn(candidates=(offered,)).offered
    assert read.expires_at_ms is not None
    assert read.expires_at_ms < NOW_MS


@pytest.mark.parametrize(
    ("offered", "field"),
    [
        (items.OfferedFact(statement="  "), "statement"),
        (items.OfferedFact(statement="x" * 8_001), "statement"),
        (items.OfferedFact(statement="x", kind="bogus"), "kind"),
        (items.OfferedFact(statement="x", scope=" "), "scope"),
        (items.OfferedFact(statement="x", quote="x" * 2_001), "quote"),
        (items.OfferedFact(statement="x", cues=("a",) * 4), "cues"),
        (items.OfferedFact(statement="x", asks=("a" * 241,)), "asks"),
        (items.OfferedFact(statement="x", expires_at="next week"), "expires_at"),
        (items.OfferedFact(statement="x", expires_at="2026-11-01"), "expires_at"),
        (items.OfferedFact(statement="x", expires_at=1_900_000_000), "expires_at"),
        (items.OfferedFact(statement="x", slot="x" * 65), "slot"),
    ],
)
def test_a_candidate_that_cannot_be_read_is_named_by_its_field_and_leaves_the_others_alone(
    offered: items.OfferedFact, field: str
) -> None:
    wire = requests.Observe(
        id=1,
        user="u",
        session="s",
        turn_id="t",
        speaker="user",
        candidates=(items.OfferedFact(statement="ok"), offered),
    )
    request = msgspec.msgpack.decode(msgspec.msgpack.encode(wire), type=requests.Observe)
    read = turn(candidates=request.candidates)
    assert [each.statement for each in read.offered] == ["ok"]
    assert read.unreadable == (f"candidates[1].{field}",)


@pytest.mark.parametrize("name", ["", "  "])
def test_a_turn_that_nobody_said_is_refused(name: str) -> None:
    request = requests.Observe(user="u", session="s", turn_id="t", speaker=name)
    with pytest.raises(RecalldError, match=r"^speaker: is blank") as caught:
        admission_requests.observed_turn(request, client="c", now_ms=NOW_MS, deadline_s=1.0)
    assert caught.value.code is ErrorCode.BAD_REQUEST


@pytest.mark.parametrize(
    ("name", "speaker"),
    [("user", "user"), ("User", "user"), (" USER ", "user"), ("Assistant", "assistant"), ("Heidi", "other")],
)
def test_whoever_has_a_name_of_their_own_is_somebody_else(name: str, speaker: str) -> None:
    request = requests.Observe(user="u", session="s", turn_id="t", speaker=name)
    read = admission_requests.observed_turn(request, client="c", now_ms=NOW_MS, deadline_s=1.0)
    assert read.speaker == speaker


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"accept": False, "edited_text": "x", "proposal_id": "obs_1"}, "edited_text: says what to store"),
        ({"accept": True}, "proposal_id: is missing"),
    ],
)
def test_an_answer_that_cannot_be_meant_is_refused(fields: dict[str, object], message: str) -> None:
    request = requests.Confirm(user="u", **fields)  # type: ignore[arg-type]
    with pytest.raises(RecalldError, match=message):
        admission_requests.confirm_request(request, client="c", deadline_s=1.0)


def test_no_field_of_a_verdict_is_lost() -> None:
    verdict = admission.Verdict(
        reason=AdmissionReason.STATED,
        memory=MEMORY,
        outcome=admission_store.FactOutcome.SUPERSEDED,
        superseded=("mem_0",),
        generator=Generator.RULE,
        rule="employer/works-at",
        decided_by="admitted",
        also_found_by=("model:c",),
        observation=make_observation(1, "u"),
        proposal=make_proposal(1, "u"),
        usage=Usage(records=9, chars=90, records_max=10, evictions=tuple(f"mem_{n}" for n in range(200))),
    )
    reply = admission.ObserveReply(
        decision_id="adm_1", kept=(verdict,), observed=(verdict,), proposals=(verdict,), dropped=(verdict,)
    )
    shown = admission_requests.admitted(1, reply)
    assert shown.kept == shown.observed == shown.proposals == shown.dropped
    (item,) = shown.kept
    assert (item.reason, item.outcome, item.superseded) == ("stated", "superseded", ("mem_0",))
    assert (item.generator, item.rule, item.decided_by, item.evidence) == (
        "rule",
        "employer/works-at",
        "admitted",
        ("model:c",),
    )
    assert item.memory is not None
    assert item.usage is not None
    assert (item.usage.records_max, len(item.usage.evictions)) == (10, admission_requests.EVICTIONS_MAX)
    assert item.observation is not None
    assert item.proposal is not None


def test_no_field_of_an_observation_or_a_proposal_is_lost_but_whose_it_is() -> None:
    for made, shown in (
        (make_observation(1, "u"), admission_requests.observation_item(make_observation(1, "u"))),
        (make_proposal(1, "u"), admission_requests.proposal_item(make_proposal(1, "u"))),
    ):
        told = msgspec.to_builtins(shown)
        assert told.pop("untrusted") is True
        expected = msgspec.to_builtins(made)
        del expected["user"]
        assert told == expected


def test_a_long_lineage_is_cut_to_what_fits_a_frame() -> None:
    evidence = tuple(
        admission_store.Evidence(at_ms=n, generator=Generator.RULE, rule="r", reason=AdmissionReason.STATED)
        for n in range(300)
    )
    found = admission_store.Lineage(memory=MEMORY, evidence=evidence, supersedes=(MEMORY,) * 30, superseded_by=MEMORY)
    shown = admission_requests.lineage(1, found)
    assert [item.at_ms for item in shown.evidence] == list(range(100, 300))
    assert len(shown.supersedes) == admission_requests.SUPERSEDED_MAX
    assert shown.superseded_by is not None
