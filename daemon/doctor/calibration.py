"""The check of what the gate's numbers were fitted on."""

from __future__ import annotations

from recalld.daemon.calibrating import record_in_force
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, failed, not_checked, noted, passed, warned
from recalld.daemon.own_calibration.kept import last_refusal
from recalld.models.calibration.record import CalibrationRecord
from recalld.models.calibration.transfer import transfer_of
from recalld.models.domain.errors import RecalldError


def check_calibration_data(context: DoctorContext) -> Finding:
    """Which calibration is in force, and whether it was fitted on this installation's data or on somebody else's."""
    settings = context.settings
    if settings.recall.gate == "off":
        return not_checked("the gate is switched off in the configuration")
    try:
        record = record_in_force(settings)
    except RecalldError as error:
        return failed(error.message, "`recalld calibrate --rollback`, or correct recall.calibration_path")
    running = context.live.health.calibration_id if context.live.health is not None else ""
    if running and record.id not in running.split("+"):
        return warned(f"{_described(record)}, but the daemon runs with {running}", "restart the daemon")
    if record.is_own:
        return passed(_described(record))
    refusal = last_refusal(settings.storage.data_dir)
    refused = f"; a fit on {refusal.date} was refused: {refusal.reason}" if refusal is not None else ""
    return noted(
        f"{_described(record)}, which is somebody else's data{refused}",
        "`recalld calibrate FILE` fits it to labelled turns of your own",
    )


def _described(record: CalibrationRecord) -> str:
    described = f"{record.id}, fitted on {record.n} turns of {record.corpus_id}"
    transfer = transfer_of(record)
    if not transfer.broken:
        return described
    what = "source" if transfer.is_by_source else "conversation"
    where = ", ".join(dict.fromkeys(each.source for each in transfer.broken))
    return f"{described}; its threshold does not survive a change of {what} ({where})"
