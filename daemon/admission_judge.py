"""Which local judge runs: the shipped calibration record, where it was fitted for the configured embedder."""

from __future__ import annotations

from dataclasses import dataclass

from recalld.daemon.calibrating import embedder_key_of
from recalld.daemon.config import Settings
from recalld.models.calibration.admission_record import AdmissionRecord, shipped_admission_record
from recalld.models.policy.judge.model import Judge


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeInForce:
    """The judge that runs, or why none does.

    Attributes:
        record: Its calibration record; None: none is in force.
        judge: Its model; None: as above.
        mismatch: For `doctor`: why the record is not used; empty: it is, or the judge is switched off.
    """

    record: AdmissionRecord | None = None
    judge: Judge | None = None
    mismatch: str = ""


def judge_in_force(settings: Settings) -> JudgeInForce:
    """The judge for the configured embedder; none where it is switched off or was fitted for another one."""
    if not (settings.admission.enabled and settings.admission.judge):
        return JudgeInForce()
    record = shipped_admission_record()
    mismatch = record.mismatch(embedder_key_of(settings.models.embedder))
    if mismatch is not None:
        return JudgeInForce(mismatch=f"the local judge finds nothing: {mismatch.sentence}")
    return JudgeInForce(record=record, judge=Judge.of(record.model))
