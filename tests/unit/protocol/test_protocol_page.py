"""The page says what the code does."""

from __future__ import annotations

import enum
import re

import pytest
from protocol_tables import PAGE, page_with, tables
from wire_examples import VECTORS

from recalld.daemon.gateway.limits import GatewayLimits
from recalld.models.domain import cues, drift, reasons
from recalld.models.domain.admission_store import FactOutcome, ProposalState
from recalld.models.domain.audit_samples import SampleAnswer, SampleKind
from recalld.models.domain.decision import CandidateReason, DecideReason, GateDecision
from recalld.models.domain.events import EventName
from recalld.models.domain.facts import Generator
from recalld.models.domain.ledger_tally import Step
from recalld.models.domain.records import TextOrigin
from recalld.models.domain.runtime_model import PromptPurpose
from recalld.models.domain.standing import StandingChoice, StandingReason, StandingVerdict
from recalld.models.domain.user_data import ImportOutcome
from recalld.models.domain.world import ClaimKind, ClaimOutcome, ProbeReason
from recalld.models.lab.ledger.stages import Stage
from recalld.models.policy.cue_reply import CueReplyFault
from recalld.protocol import fields
from recalld.protocol.client import ClientFault
from recalld.protocol.errors import RETRYABLE_CODES, ErrorCode

TEXT = PAGE.read_text()


def test_the_tables_are_those_of_the_schema() -> None:
    assert page_with(tables(), TEXT) == TEXT, "run: python tests/support/protocol_tables.py"


def test_the_worked_example_is_a_golden_vector() -> None:
    (found,) = re.findall(r"<!-- vector: (\w+) -->\n```\n([0-9a-f\s]+)```", TEXT)
    name, printed = found
    assert bytes.fromhex(printed) == bytes.fromhex((VECTORS / f"{name}.hex").read_text())


def test_the_table_of_errors_is_the_closed_list() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (yes|no) \|", TEXT, flags=re.MULTILINE)
    assert rows == [(code.value, "yes" if code in RETRYABLE_CODES else "no") for code in ErrorCode]


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("decision of a recall", reasons.RecallDecision),
        ("mode of a recall", reasons.RecallMode),
        ("reason of a recall", reasons.RecallReason),
        ("degraded_reason", reasons.DegradedReason),
        ("reason of a dropped candidate", reasons.DropReason),
        ("outcome of remember", reasons.RememberOutcome),
        ("reason of an observed turn", reasons.AdmissionReason),
        ("outcome of an observed fact", FactOutcome),
        ("generator of an observed fact", Generator),
        ("state of a proposal", ProposalState),
        ("outcome of an imported record", ImportOutcome),
        ("reason of a standing block", StandingReason),
        ("verdict of a standing candidate", StandingVerdict),
        ("choice about standing", StandingChoice),
        ("reason of an update", cues.UpdateReason),
        ("origin of a cue or ask", TextOrigin),
        ("reason of a backfill", cues.BackfillEnd),
        ("reason of a refused answer", CueReplyFault),
        ("reason of a missing answer", cues.BackfillFailure),
        ("purpose of an extract_request", PromptPurpose),
        ("op of an explanation", reasons.Op),
        ("decision of decide", GateDecision),
        ("reason_code of decide", DecideReason),
        ("reason of a judged candidate", CandidateReason),
        ("kind of a claim", ClaimKind),
        ("outcome of a claim", ClaimOutcome),
        ("reason of a claim", ProbeReason),
        ("gate of a drift report", drift.GateName),
        ("name of a drift alarm", drift.AlarmName),
        ("kind of a sample", SampleKind),
        ("answer to a sample", SampleAnswer),
        ("statistic of a shift", drift.Statistic),
        ("reference of a shift", drift.Reference),
        ("band of a shift", drift.Band),
        ("stage of a candidate's end", Stage),
        ("step whose time is counted", Step),
        ("name of an event", EventName),
    ],
)
def test_the_vocabulary_is_that_of_the_domain(field: str, values: type[enum.StrEnum]) -> None:
    listed = ", ".join(f"`{value.value}`" for value in values)
    assert f"| {field} | {listed} |" in TEXT


@pytest.mark.parametrize("fault", ClientFault)
def test_every_failure_of_a_client_is_named(fault: ClientFault) -> None:
    assert f"`{fault.value}`" in TEXT


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    limits = GatewayLimits()
    assert f"1 to {fields.FRAME_BYTES_MAX:,} bytes" in TEXT
    assert f"complete {limits.partial_frame_timeout_s:g} s after" in TEXT
    assert f"hello within {limits.hello_timeout_s:g} s" in TEXT
    assert f"after {limits.faults_max} of them" in TEXT
    assert f"up to {limits.outgoing_bytes_max >> 20} MiB" in TEXT
    assert f"nothing for {limits.stall_timeout_s:g} s" in TEXT
    assert f"up to {limits.questions_per_connection_max} questions may be open" in TEXT
