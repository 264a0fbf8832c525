from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest

from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Settings
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.drift import (
    check_relevance_gate,
    check_shadow,
    check_turn_gate,
    check_write_gate,
    judge_gate,
)
from recalld.daemon.doctor.reading import DatabaseReading
from recalld.daemon.doctor.result import Status
from recalld.daemon.storage.store import open_store
from recalld.models.domain.drift import Band, GateDrift, GateName, Reference, Shift, Statistic
from recalld.models.domain.reasons import Op
from recalld.models.domain.shadow import GateMode, WriteMode
from recalld.models.domain.store import AppendDecisions, DecisionRow

MakeContext = Callable[..., DoctorContext]


def rows(count: int, user: str = "ines") -> Iterator[DecisionRow]:
    """Recalls of which none was judged relevant."""
    now_ms = SystemClock().now_ms()
    for number in range(count):
        body = {"dropped": [{"memory_id": "m", "relevance": 0.01}], "turn": {"decided_by": "terms_stored"}}
        yield DecisionRow(
            id=f"{user}-{number}",
            user=user,
            session="",
            op=Op.RECALL,
            at_ms=now_ms - count + number,
            decision="silent",
            reason="gated",
            mode="gated",
            body=msgspec.json.encode(body),
        )


@pytest.fixture
def ledger(settings: Settings) -> Callable[[int], Path]:
    async def fill(count: int) -> None:
        async with open_store(settings.storage.data_dir, clock=SystemClock()) as opened:
            await opened.writer.append_decisions(AppendDecisions(rows=(*rows(count), *rows(5, "omar"))))

    def make(count: int) -> Path:
        anyio.run(partial(fill, count))
        return settings.storage.data_dir

    return make


def test_without_a_database_or_decisions_nothing_is_checked_and_nothing_passes(
    make_context: MakeContext, store: Callable[[int], Path]
) -> None:
    assert "no database" in check_turn_gate(make_context()).seen
    store(1)
    for check in (check_turn_gate, check_relevance_gate, check_write_gate):
        found = check(make_context())
        assert (found.status, found.is_checked) == (Status.INFO, False)


def test_too_few_decisions_are_said_with_their_number(make_context: MakeContext, ledger: Callable[[int], Path]) -> None:
    ledger(37)
    found = check_relevance_gate(make_context())
    assert found.seen == "not checked: too few decisions: 37 of 200"
    assert not found.is_checked


def test_a_gate_that_never_fires_is_warned_of_with_its_user_and_a_remedy(
    make_context: MakeContext, ledger: Callable[[int], Path]
) -> None:
    ledger(500)
    found = check_relevance_gate(make_context())
    assert found.status is Status.WARN
    assert found.seen.startswith("ines: never_fires, let nothing through in the last 500 decisions")
    assert "recalld eval" in found.remedy
    assert "always_fires" in check_turn_gate(make_context()).seen
    assert not check_write_gate(make_context()).is_checked


def test_a_gate_that_goes_on_as_before_passes() -> None:
    gate = GateDrift(gate=GateName.TURN, n=500, fired=400, earlier_n=500, earlier_fired=410)
    found = judge_gate([("ines", gate)])
    assert (found.status, found.is_checked) == (Status.PASS, True)
    assert "400 of the last 500" in found.seen


def test_scores_unlike_those_of_the_shipped_calibration_are_worth_knowing() -> None:
    shift = Shift(
        what="scores",
        statistic=Statistic.PSI,
        reference=Reference.SHIPPED_CALIBRATION,
        value=0.4,
        limit=0.25,
        band=Band.LARGE,
        n=500,
        reference_n=767,
    )
    gate = GateDrift(gate=GateName.RELEVANCE, n=500, fired=100, earlier_n=500, earlier_fired=100, shifts=(shift,))
    found = judge_gate([("ines", gate)])
    assert found.status is Status.INFO
    assert "recalld calibrate" in found.remedy


@pytest.mark.parametrize("mode", [GateMode.SHADOW_INJECT, GateMode.SHADOW_SILENT])
def test_shadow_mode_is_warned_of_loudly(make_context: MakeContext, settings: Settings, mode: GateMode) -> None:
    changed = msgspec.structs.replace(settings, recall=msgspec.structs.replace(settings.recall, mode=mode))
    found = check_shadow(make_context(settings=changed))
    assert found.status is Status.WARN
    assert f"SHADOW MODE IS ON: recall.mode is {mode}" in found.seen
    assert "enforce" in found.remedy


def test_shadow_mode_of_the_write_gate_is_warned_of_too(make_context: MakeContext, settings: Settings) -> None:
    admission = msgspec.structs.replace(settings.admission, mode=WriteMode.SHADOW)
    found = check_shadow(make_context(settings=msgspec.structs.replace(settings, admission=admission)))
    assert "admission.mode is shadow" in found.seen
    assert check_shadow(make_context()).status is Status.PASS


def test_a_damaged_database_is_left_to_its_own_checks(make_context: MakeContext, settings: Settings) -> None:
    settings.storage.data_dir.mkdir(mode=0o700, parents=True)
    (settings.storage.data_dir / "recalld.db").write_bytes(b"no database")
    context = make_context(database=DatabaseReading(settings, SystemClock()))
    assert not check_turn_gate(context).is_checked
