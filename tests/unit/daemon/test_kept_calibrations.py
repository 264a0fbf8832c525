from __future__ import annotations

import stat
from pathlib import Path

import msgspec
import pytest

from recalld.daemon.calibrating import calibration_in_force, record_in_force, shipped_calibration
from recalld.daemon.config import ModelsSettings, ServerSettings, Settings, StorageSettings
from recalld.daemon.config.settings import RecallSettings
from recalld.daemon.own_calibration.kept import (
    NothingToRollBackError,
    Refusal,
    RolledBack,
    current_path,
    install,
    last_refusal,
    note_refusal,
    roll_back,
)
from recalld.daemon.private_directories import DirectoryRefusedError
from recalld.models.calibration.record import CalibrationRecord, dump_calibration
from recalld.models.domain.errors import RecalldError


def own(number: int) -> CalibrationRecord:
    return msgspec.structs.replace(shipped_calibration(), id=f"own-{number}", is_own=True, candidates_max=3)


def settings(data_dir: Path, recall: RecallSettings | None = None) -> Settings:
    return Settings(
        server=ServerSettings(socket_path=Path("/nonexistent")),
        storage=StorageSettings(data_dir=data_dir),
        models=ModelsSettings(dir=Path("/nonexistent")),
        recall=recall or RecallSettings(),
    )


def test_an_own_record_is_in_force_and_private(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    path = install(data_dir, own(1))
    assert path == current_path(data_dir)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert record_in_force(settings(data_dir)) == own(1)
    found = calibration_in_force(settings(data_dir))
    assert found.model == own(1).relevance_model()
    assert found.model.candidates_max == 3


def test_a_configured_record_comes_before_ones_own(tmp_path: Path) -> None:
    data_dir, configured = tmp_path / "data", tmp_path / "other.json"
    install(data_dir, own(1))
    configured.write_bytes(dump_calibration(own(2)))
    assert record_in_force(settings(data_dir, RecallSettings(calibration_path=configured))).id == "own-2"


def test_rolling_back_goes_through_all_records_to_the_shipped_one(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    for number in (1, 2, 3):
        install(data_dir, own(number))
    assert roll_back(data_dir) == RolledBack(removed_id="own-3", current_id="own-2")
    assert record_in_force(settings(data_dir)).id == "own-2"
    install(data_dir, own(4))
    assert roll_back(data_dir) == RolledBack(removed_id="own-4", current_id="own-2")
    assert roll_back(data_dir) == RolledBack(removed_id="own-2", current_id="own-1")
    assert roll_back(data_dir) == RolledBack(removed_id="own-1", current_id="")
    assert record_in_force(settings(data_dir)) == shipped_calibration()
    with pytest.raises(NothingToRollBackError, match="shipped"):
        roll_back(data_dir)


def test_a_record_that_cannot_be_read_is_said_with_the_remedy_and_can_be_rolled_back(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    install(data_dir, own(1))
    install(data_dir, own(2))
    current_path(data_dir).write_bytes(b"{")
    with pytest.raises(RecalldError, match="calibrate --rollback"):
        record_in_force(settings(data_dir))
    assert roll_back(data_dir) == RolledBack(removed_id="", current_id="own-1")


def test_a_refusal_is_remembered_and_changes_nothing(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    install(data_dir, own(1))
    assert last_refusal(data_dir) is None
    note_refusal(data_dir, Refusal(date="2026-11-30", reason="turns 3 of 200"))
    assert last_refusal(data_dir) == Refusal(date="2026-11-30", reason="turns 3 of 200")
    assert record_in_force(settings(data_dir)).id == "own-1"


def test_nothing_is_put_where_others_can_write(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("somebody's")
    tmp_path.chmod(0o777)
    with pytest.raises(DirectoryRefusedError):
        install(tmp_path, own(1))
    assert not current_path(tmp_path).exists()
