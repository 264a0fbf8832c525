from __future__ import annotations

import pytest

from recalld.daemon.admission_judge import JudgeInForce
from recalld.daemon.composition import admission_options
from recalld.daemon.config.settings import AdmissionSettings
from recalld.models.calibration.admission_record import shipped_admission_record
from recalld.models.domain.position import Position


def test_at_the_strict_position_only_what_the_judge_is_sure_of_is_a_record() -> None:
    record = shipped_admission_record()
    options = admission_options(AdmissionSettings(), JudgeInForce(record=record))
    assert AdmissionSettings().position is Position.STRICT
    assert options.judge_strict == record.thresholds.strict > record.thresholds.balanced


@pytest.mark.parametrize("position", [Position.BALANCED, Position.OPEN])
def test_looser_positions_take_the_judges_less_certain_finds_as_well(position: Position) -> None:
    record = shipped_admission_record()
    options = admission_options(AdmissionSettings(position=position), JudgeInForce(record=record))
    assert options.judge_strict == record.thresholds.balanced


@pytest.mark.parametrize("position", list(Position))
def test_without_a_judge_in_force_none_of_its_finds_is_a_record(position: Position) -> None:
    assert (
        admission_options(
            AdmissionSettings(position=position), JudgeInForce(mismatch="fitted for another")
        ).judge_strict
        is None
    )
