"""The local judge's calibration record: its model and thresholds, what they were fitted on, and how well they did."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from importlib.resources import files

import msgspec

from recalld.models.calibration.admission_fit import StyleReport
from recalld.models.calibration.record import CalibrationError, Mismatch
from recalld.models.policy.judge.find import JudgeThresholds
from recalld.models.policy.judge.model import JudgeModel


class AdmissionRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted judge.

    Attributes:
        id: Name in ledger and log.
        date: ISO date of the fit.
        provenance: In words: what data, by whom, with which command.
        embedder_key: Identity of the bi-encoder; the numbers mean nothing with another one.
        corpus_sha256: Hash of the data.
        n: Turns fitted on.
        positives: Of these, turns that state something.
        disputed: Turns left out because two readers disagree about them.
        thresholds: What counts as a find, and what may become a record.
        balanced: On styles left out of the fit, one at a time, at the balanced threshold; first all of them.
        strict: The same at the strict threshold.
        model: The judge.
    """

    id: str
    date: str
    provenance: str
    embedder_key: str
    corpus_sha256: str
    n: int
    positives: int
    disputed: int
    thresholds: JudgeThresholds
    balanced: tuple[StyleReport, ...]
    strict: tuple[StyleReport, ...]
    model: JudgeModel

    def __post_init__(self) -> None:
        if not self.id:
            message = "id must not be empty"
            raise ValueError(message)
        if not 0 < self.positives < self.n:
            message = f"positives must be in (0, n), got {self.positives} of {self.n}"
            raise ValueError(message)
        dt.date.fromisoformat(self.date)

    def mismatch(self, embedder_key: str) -> Mismatch | None:
        """What differs between this record and the embedder that runs; None where it holds."""
        if self.embedder_key == embedder_key:
            return None
        return Mismatch(field="embedder_key", calibrated=self.embedder_key, running=embedder_key)


def load_admission_record(data: bytes) -> AdmissionRecord:
    """Read and check a record from JSON.

    Raises:
        CalibrationError: It is not JSON, lacks or adds a field, or holds a value that cannot be.
    """
    try:
        return msgspec.json.decode(data, type=AdmissionRecord)
    except (msgspec.DecodeError, ValueError) as error:
        message = f"admission record: {error}; write it anew with `recalld calibrate --admission`, or remove it"
        raise CalibrationError(message) from error


def dump_admission_record(record: AdmissionRecord) -> bytes:
    """The record as indented JSON, ending in a line break; `load_admission_record` reads it back equal."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def shipped_admission_record() -> AdmissionRecord:
    """The record that comes with the package."""
    path = files("recalld.models.calibration") / "data" / "admission.json"
    return load_admission_record(path.read_bytes())


def rows_sha256(contents: Mapping[str, bytes]) -> str:
    """Hash of the files of a fit, by name."""
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
