from __future__ import annotations

from collections.abc import Callable

import msgspec

from recalld.daemon.calibrating import shipped_calibration
from recalld.daemon.config import Settings
from recalld.daemon.doctor.calibration import check_calibration_data
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.result import Status
from recalld.daemon.own_calibration.kept import Refusal, current_path, install, note_refusal
from recalld.models.calibration.intervals import wilson
from recalld.models.calibration.record import SourceReport
from recalld.protocol.replies import HealthReport

MakeContext = Callable[..., DoctorContext]
OWN = msgspec.structs.replace(shipped_calibration(), id="own-1", is_own=True, corpus_id="notes.jsonl")


def test_the_shipped_record_is_somebody_elses_and_the_remedy_says_how_to_have_ones_own(
    make_context: MakeContext,
) -> None:
    found = check_calibration_data(make_context())
    assert found.status is Status.INFO
    assert "somebody else's data" in found.seen
    assert "recalld calibrate" in found.remedy


def test_a_refused_fit_is_told(make_context: MakeContext, settings: Settings) -> None:
    settings.storage.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    note_refusal(settings.storage.data_dir, Refusal(date="2026-11-30", reason="turns 3 of 200"))
    assert "2026-11-30 was refused: turns 3 of 200" in check_calibration_data(make_context()).seen


def test_a_record_of_ones_own_passes(make_context: MakeContext, settings: Settings) -> None:
    install(settings.storage.data_dir, OWN)
    found = check_calibration_data(make_context())
    assert found.status is Status.PASS
    assert "own-1" in found.seen
    assert "notes.jsonl" in found.seen


def test_a_daemon_that_runs_with_another_record_must_be_restarted(
    make_context: MakeContext, settings: Settings, healthy: HealthReport
) -> None:
    install(settings.storage.data_dir, OWN)
    found = check_calibration_data(make_context(Live(health=healthy)))
    assert found.status is Status.WARN
    assert healthy.calibration_id in found.seen
    same = msgspec.structs.replace(healthy, calibration_id="own-1+configured_threshold")
    assert check_calibration_data(make_context(Live(health=same))).status is Status.PASS


def test_a_record_that_cannot_be_read_fails(make_context: MakeContext, settings: Settings) -> None:
    install(settings.storage.data_dir, OWN)
    current_path(settings.storage.data_dir).write_bytes(b"{")
    found = check_calibration_data(make_context())
    assert found.status is Status.FAIL
    assert "--rollback" in found.remedy


def test_a_threshold_that_does_not_survive_a_change_of_source_is_called_so(
    make_context: MakeContext, settings: Settings
) -> None:
    report = SourceReport(source="notes.jsonl", threshold=0.5, retention=wilson(50, 100), silence=wilson(90, 100))
    install(settings.storage.data_dir, msgspec.structs.replace(OWN, held_out=(report,)))
    assert "does not survive a change of source (notes.jsonl)" in check_calibration_data(make_context()).seen
