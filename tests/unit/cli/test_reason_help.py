"""Every reason code is explained, with what to do about it, and can be asked for by its name."""

from __future__ import annotations

import enum
import json

import pytest
from stand_in_daemon import Run

from recalld.daemon.cli.reason_help import VOCABULARIES, ReasonVocabulary, all_reasons
from recalld.models.domain.admission_store import FactOutcome
from recalld.models.domain.decision import CandidateReason, DecideReason
from recalld.models.domain.reasons import AdmissionReason, DegradedReason, DropReason, RecallReason, RememberOutcome
from recalld.models.domain.world import ProbeReason

NEEDED: tuple[type[enum.StrEnum], ...] = (
    RecallReason,
    DropReason,
    DegradedReason,
    AdmissionReason,
    RememberOutcome,
    FactOutcome,
    DecideReason,
    CandidateReason,
    ProbeReason,
)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda vocabulary: vocabulary.name)
def test_every_code_has_a_sentence_and_a_remedy_and_nothing_else_has(vocabulary: ReasonVocabulary) -> None:
    codes = set(vocabulary.codes)
    assert set(vocabulary.sentences) == codes
    assert set(vocabulary.remedies) == codes


def test_every_list_of_reasons_is_there() -> None:
    assert {vocabulary.codes for vocabulary in VOCABULARIES} >= set(NEEDED)
    assert len({vocabulary.name for vocabulary in VOCABULARIES}) == len(VOCABULARIES)


def test_explanations_are_whole_sentences() -> None:
    for reason in all_reasons():
        assert reason.meaning[0].isupper(), reason
        assert reason.meaning.endswith((".", "!", "?")), reason
        assert len(reason.remedy) > 10, reason


@pytest.mark.parametrize("code", [code for codes in NEEDED for code in codes])
def test_each_code_can_be_asked_for(run: Run, code: str) -> None:
    ended = run("explain", "--reason", code)
    assert ended.code == 0
    assert ended.out.startswith(f"{code} (")
    assert len(ended.out.splitlines()) >= 3


def test_a_code_of_several_lists_is_explained_for_each(run: Run) -> None:
    out = run("explain", "--reason", "no_user_text").out
    assert "no_user_text (recall)" in out
    assert "no_user_text (observed turn)" in out
    assert "no_user_text (decision of a gate)" in out


def test_the_detail_behind_a_code_is_passed_over(run: Run) -> None:
    assert run("explain", "--reason", "Score_failed:RuntimeError").out.startswith("score_failed (")


def test_an_unknown_code_names_those_that_are_spelled_alike(run: Run) -> None:
    ended = run("explain", "--reason", "gatd")
    assert (ended.code, ended.out) == (64, "")
    assert "did you mean gated" in ended.err
    assert "`recalld explain --reasons` lists all" in ended.err
    assert "did you mean" not in run("explain", "--reason", "\x1b[2J").err


def test_all_codes_are_listed_list_by_list(run: Run) -> None:
    out = run("explain", "--reasons").out
    for vocabulary in VOCABULARIES:
        assert f"{vocabulary.name}:\n" in out
    listed = {line.split()[0] for line in out.splitlines() if line.startswith("  ")}
    assert listed == {reason.code for reason in all_reasons()}


def test_codes_can_be_had_as_json(run: Run) -> None:
    one = json.loads(run("explain", "--reason", "gated", "--json").out)["reasons"]
    assert [(each["code"], each["of"]) for each in one] == [("gated", "recall")]
    assert len(json.loads(run("explain", "--reasons", "--json").out)["reasons"]) == len(all_reasons())


@pytest.mark.parametrize("arguments", [(), ("rec_1", "--reasons"), ("--reason", "gated", "--reasons")])
def test_exactly_one_thing_is_asked_for(run: Run, arguments: tuple[str, ...]) -> None:
    ended = run("explain", *arguments)
    assert (ended.code, ended.out) == (64, "")
    assert "give one of" in ended.err
