"""Profiles as data: all are sound, each reason has a sentence, and a mistake in a file says what it is."""

import enum
import json
from collections.abc import Mapping
from importlib.resources import files

import pytest
from decide_requests import KNOWLEDGE, request

from recalld.models.domain.decide import DecideOp, ModelFailure, ModelReport
from recalld.models.domain.decision import CandidateReason, DecideReason, GateDecision
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.world import ProbeReason
from recalld.models.policy.profiles.deciding import decide
from recalld.models.policy.profiles.registry import policy_version, profile_for, shipped_profiles
from recalld.models.policy.profiles.sentences import CANDIDATE_SENTENCES, DECIDE_SENTENCES, PROBE_SENTENCES
from recalld.models.policy.profiles.spec import OpenProfile, ProfileError, read_profile
from recalld.models.policy.turn.directions import GateAnswer

PROFILES = tuple(shipped_profiles().values())
GOOD = files("recalld.models.policy").joinpath("data", "profiles", "waku_turn.json").read_bytes()


def without(field: str) -> bytes:
    content = json.loads(GOOD)
    del content[field]
    return json.dumps(content).encode()


def with_value(field: str, value: object) -> bytes:
    return json.dumps({**json.loads(GOOD), field: value}).encode()


@pytest.mark.parametrize("op", DecideOp)
def test_every_operation_has_a_gate_of_its_own(op: DecideOp) -> None:
    assert profile_for(op, "").op is op


def test_an_unknown_profile_names_those_that_there_are() -> None:
    with pytest.raises(RecalldError, match="waku_skills") as caught:
        profile_for(DecideOp.LOAD_SKILL, "waku_spells")
    assert caught.value.code is ErrorCode.BAD_REQUEST


def test_a_profile_of_another_operation_is_refused() -> None:
    with pytest.raises(RecalldError, match="waku_turn guards recall, not sweep; give one of default_sweep"):
        profile_for(DecideOp.SWEEP, "waku_turn")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "waku_turn.json"),
        (without("model_ms"), "model_ms"),
        (with_value("model_ms", 0), "model_ms"),
        (with_value("colour", "red"), "colour"),
        (with_value("family", "turns"), "family"),
        (with_value("name", "waku_turns"), "name the file waku_turns.json"),
        (with_value("directions", {"on_weak": "run"}), "on_error"),
        (with_value("op", "rewind"), "op"),
    ],
)
def test_a_mistake_in_a_profile_is_named_with_file_and_field(content: bytes, words: str) -> None:
    with pytest.raises(ProfileError, match=words) as caught:
        read_profile(content, file_name="waku_turn.json")
    assert "waku_turn.json" in str(caught.value)


def test_the_version_tells_an_edited_profile_from_the_shipped_one() -> None:
    edited = read_profile(with_value("model_ms", 999), file_name="waku_turn.json")
    assert policy_version(edited) != policy_version(shipped_profiles()["waku_turn"])
    assert policy_version(edited).startswith("waku_turn@1+")


@pytest.mark.parametrize(
    ("sentences", "values"),
    [
        (DECIDE_SENTENCES, DecideReason),
        (CANDIDATE_SENTENCES, CandidateReason),
        (PROBE_SENTENCES, ProbeReason),
    ],
)
def test_every_reason_has_a_sentence_of_its_own(sentences: Mapping[str, str], values: type[enum.StrEnum]) -> None:
    assert set(sentences) == set(values)
    assert len(set(sentences.values())) == len(sentences)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_an_empty_request_is_answered_by_every_gate_with_a_reason_and_the_version(profile: OpenProfile) -> None:
    decision = decide(request(profile.name), profile, KNOWLEDGE)
    assert decision.op is profile.op
    assert decision.policy_version == policy_version(profile)
    if decision.reason_code is DecideReason.MISSING_INPUT:
        assert decision.params.missing
        assert all(f"`{field}`" in decision.reason for field in decision.params.missing)
    else:
        assert decision.reason == DECIDE_SENTENCES[decision.reason_code]
    assert decision.decided_by


OPEN = {
    "default_rewrite": GateAnswer.RUN,
    "default_inject": GateAnswer.SKIP,
    "default_probe": GateAnswer.SKIP,
    "default_load_skill": GateAnswer.SKIP,
    "default_admit": GateAnswer.REFUSE,
}


def test_operations_without_a_gate_are_known() -> None:
    assert {profile.name for profile in PROFILES if isinstance(profile, OpenProfile)} == set(OPEN)


@pytest.mark.parametrize(("name", "way"), OPEN.items())
def test_an_operation_without_a_gate_goes_the_way_of_its_directions(name: str, way: GateAnswer) -> None:
    profile = shipped_profiles()[name]
    expected = GateDecision(way.value)
    weak = decide(request(name, "Tidy the notes on tea"), profile, KNOWLEDGE)
    assert (weak.decision, weak.reason_code, weak.decided_by) == (expected, DecideReason.WEAK_EVIDENCE, "default")
    empty = decide(request(name), profile, KNOWLEDGE)
    assert (empty.decision, empty.reason_code) == (expected, DecideReason.MISSING_INPUT)
    late = decide(request(name, "x", model=ModelReport(failure=ModelFailure.TIMEOUT)), profile, KNOWLEDGE)
    assert (late.decision, late.reason_code, late.is_degraded) == (expected, DecideReason.TIMED_OUT, True)
