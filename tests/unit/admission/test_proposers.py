"""Who counts as the proposer of what a turn leads to."""

from __future__ import annotations

import pytest

from recalld.actors.admission.turn_command import turn_command
from recalld.models.domain.admission import ObservedTurn, Speaker
from recalld.models.domain.admission_store import AdmissionLimits, Evidence, FactWrite, FoundBy
from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import NewMemory


def proposer(generator: Generator, *also: str) -> str:
    evidence = Evidence(
        session="s", turn_id="t", at_ms=1, generator=generator, rule="r", reason=AdmissionReason.STATED, quote=""
    )
    write = FactWrite(
        memory=NewMemory(user="ines", text="The user is called Bo."),
        memory_id="mem",
        note_id="obs",
        disposition=Disposition.PROPOSE,
        evidence=evidence,
        found=FoundBy(generator=generator, rule="r", decided_by="position", also=also),
    )
    turn = ObservedTurn(
        user="ines",
        session="s",
        turn_id="t",
        speaker=Speaker.USER,
        text="call me Bo",
        at_ms=1,
        client="netclaw",
        deadline_s=1.0,
    )
    command = turn_command(turn, decision_id="adm", now_ms=1, writes=(write,), limits=AdmissionLimits())
    return command.proposer


@pytest.mark.parametrize("also", [(), ("judge:judge.v1",)])
def test_what_the_daemon_found_by_itself_has_no_proposer(also: tuple[str, ...]) -> None:
    assert proposer(Generator.RULE, *also) == ""


def test_a_clients_candidate_has_its_client_also_where_a_rule_found_the_same() -> None:
    assert proposer(Generator.MODEL) == "netclaw"
    assert proposer(Generator.RULE, "judge:judge.v1", "model:netclaw") == "netclaw"
