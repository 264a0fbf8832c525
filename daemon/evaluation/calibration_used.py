"""What an evaluation says about the calibration that the gate ran with."""

from __future__ import annotations

from recalld.daemon.calibrating import calibration_in_force, record_in_force
from recalld.daemon.config import Settings
from recalld.models.lab.report import CalibrationUsed


def calibration_used(settings: Settings) -> CalibrationUsed:
    """The record in force, and the threshold that the gate held relevance against.

    Raises:
        RecalldError: `BAD_REQUEST` for a configured record that cannot be read.
    """
    record, in_force = record_in_force(settings), calibration_in_force(settings)
    return CalibrationUsed(
        id=in_force.model.calibration_id,
        is_own=record.is_own,
        date=record.date,
        corpus_id=record.corpus_id,
        n=record.n,
        positives=record.positives,
        target_retention=record.target_retention,
        threshold=in_force.model.threshold,
        mismatches=in_force.mismatches,
    )
