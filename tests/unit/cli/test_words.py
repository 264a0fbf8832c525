"""Every value of the closed vocabularies has words, so that a new one cannot be forgotten."""

import enum
from collections.abc import Mapping

import pytest

from recalld.daemon.cli import words
from recalld.models.domain.admission_store import FactOutcome, ProposalState
from recalld.models.domain.audit_samples import SampleAnswer, SampleKind
from recalld.models.domain.cues import BackfillEnd, BackfillFailure, UpdateReason
from recalld.models.domain.drift import GateName, Reference
from recalld.models.domain.facts import Generator
from recalld.models.domain.outcomes import OutcomeResult
from recalld.models.domain.reasons import (
    AdmissionReason,
    DegradedReason,
    DropReason,
    RecallMode,
    RecallReason,
    RememberOutcome,
)
from recalld.models.domain.recall import RecallLimit
from recalld.models.domain.records import TextOrigin
from recalld.models.domain.standing import StandingChoice, StandingReason, StandingVerdict, StandingWord
from recalld.models.policy.cue_reply import CueReplyFault


@pytest.mark.parametrize(
    ("vocabulary", "values"),
    [
        (words.RECALL_REASONS, RecallReason),
        (words.GATE_NAMES, GateName),
        (words.SAMPLE_QUESTIONS, SampleKind),
        (words.SAMPLE_ANSWERS, SampleAnswer),
        (words.DRIFT_REFERENCES, Reference),
        (words.DEGRADED_REASONS, DegradedReason),
        (words.DROP_REASONS, DropReason),
        (words.ADMISSION_REASONS, AdmissionReason),
        (words.REMEMBER_OUTCOMES, RememberOutcome),
        (words.FACT_OUTCOMES, FactOutcome),
        (words.GENERATORS, Generator),
        (words.PROPOSAL_STATES, ProposalState),
        (words.MODES, RecallMode),
        (words.RECALL_LIMITS, RecallLimit),
        (words.UPDATE_REASONS, UpdateReason),
        (words.TEXT_ORIGINS, TextOrigin),
        (words.BACKFILL_ENDS, BackfillEnd),
        (words.BACKFILL_FAILURES, BackfillFailure),
        (words.CUE_REPLY_FAULTS, CueReplyFault),
        (words.STANDING_REASONS, StandingReason),
        (words.STANDING_VERDICTS, StandingVerdict),
        (words.STANDING_WORDS, StandingWord),
        (words.STANDING_CHOICES, StandingChoice),
        (words.OUTCOME_RESULTS, OutcomeResult),
    ],
)
def test_every_value_has_words_and_no_two_share_them(vocabulary: Mapping[str, str], values: type[enum.StrEnum]) -> None:
    assert set(vocabulary) == set(values)
    assert len(set(vocabulary.values())) == len(vocabulary)


@pytest.mark.parametrize(
    ("age_s", "expected"),
    [(0, "now"), (59, "now"), (60, "1 min"), (3_599, "59 min"), (7_200, "2 h"), (86_400 * 3, "3 d"), (4e8, "12 y")],
)
def test_an_age_is_told_in_its_largest_unit(age_s: float, expected: str) -> None:
    assert words.age_in_words(age_s) == expected


def test_a_reason_is_explained_whatever_it_decided_about() -> None:
    assert words.reason_in_words("gated") == words.RECALL_REASONS["gated"]
    assert words.reason_in_words("explicit_save") == "asked for explicitly"
    assert words.reason_in_words("never_heard_of") == "never heard of"


def test_a_code_that_two_lists_share_is_read_by_what_was_decided_about() -> None:
    assert words.reason_in_words("weak_evidence", "observe") == words.ADMISSION_REASONS["weak_evidence"]
    assert words.reason_in_words("weak_evidence", "confirm") == words.ADMISSION_REASONS["weak_evidence"]
    assert words.reason_in_words("weak_evidence", "recall") == words.RECALL_REASONS["weak_evidence"]
    assert words.reason_in_words("weak_evidence") == words.RECALL_REASONS["weak_evidence"]
