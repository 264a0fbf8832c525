"""The calibration record: what the gate's numbers were fitted on, how well they did, and what they hold for."""

from __future__ import annotations

import datetime as dt

import msgspec

from recalld.models.calibration.intervals import Proportion
from recalld.models.policy.drift.histogram import Histogram
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import KindThreshold, RelevanceHead, RelevanceModel

_LOGISTIC = msgspec.Raw(b'"logistic"')


class CalibrationError(ValueError):
    """A calibration record that cannot be used; the message says what is wrong with it and what to do."""


class CalibrationKeys(msgspec.Struct, frozen=True, kw_only=True):
    """What a calibration is bound to. Numbers fitted on one model mean nothing on another.

    Attributes:
        model_key: Identity of the cross-encoder, its tokenizer and the pair template, as its scorer reports it.
        embedder_key: Identity of the bi-encoder, its tokenizer, pooling and query prefix, as it reports it.
        pair_template: Version of how a query and a memory become one pair.
    """

    model_key: str
    embedder_key: str
    pair_template: str


class Mismatch(msgspec.Struct, frozen=True, kw_only=True):
    """One key that differs between a calibration and what runs."""

    field: str
    calibrated: str
    running: str

    @property
    def sentence(self) -> str:
        """For `doctor`: what differs and the remedy."""
        return (
            f"the calibration is for {self.field} {self.calibrated}, but {self.running} runs: "
            "calibrate again or restore the model"
        )


class SourceReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a fit on all other sources did on this one."""

    source: str
    threshold: float
    retention: Proportion
    silence: Proportion


class CalibrationRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A fitted gate.

    Attributes:
        id: Name in ledger and log.
        date: ISO date of the fit.
        provenance: In words: what data, by whom, with which command.
        keys: What it is bound to.
        corpus_id: Name of the data.
        corpus_sha256: Hash of the data.
        n: Turns fitted on.
        positives: Of these, turns with something relevant.
        target_retention: The share of answerable turns that the threshold was asked to keep.
        retention: Answerable turns that keep a relevant memory, on the data of the fit.
        silence: Turns with nothing relevant on which nothing passes, on the data of the fit.
        held_out: The same on sources left out of the fit, one at a time: what to expect elsewhere.
        floors: The similarity floor.
        heads: Relevance heads, best informed first.
        threshold: What relevance is held against.
        margin: How far behind the best an item may lie, in log-odds; absent: any distance.
        kind_thresholds: Thresholds of their own for some kinds of memory; absent: none has one.
        candidates_max: Candidates that it was fitted to judge; absent: as many as the configuration allows.
        is_own: Whether it was fitted on the operator's own data with the calibrate command. Others were fitted on
            somebody else's, and may fit less well.
        scores: The highest relevance of each turn with a judged candidate, on the data of the fit: what those of live
            recalls are compared with. Absent: a record of before this was noted.
    """

    id: str
    date: str
    provenance: str
    keys: CalibrationKeys
    corpus_id: str
    corpus_sha256: str
    n: int
    positives: int
    target_retention: float
    retention: Proportion
    silence: Proportion
    held_out: tuple[SourceReport, ...]
    floors: FloorValues
    heads: tuple[RelevanceHead, ...]
    threshold: float
    margin: float | None = None
    kind_thresholds: tuple[KindThreshold, ...] = ()
    candidates_max: int | None = None
    is_own: bool = False
    scores: Histogram | None = None

    def __post_init__(self) -> None:
        if not self.id:
            message = "id must not be empty"
            raise ValueError(message)
        if not 0 < self.positives <= self.n:
            message = f"positives must be in (0, n], got {self.positives} of {self.n}"
            raise ValueError(message)
        if not 0.0 < self.target_retention <= 1.0:
            message = f"target_retention must be in (0, 1], got {self.target_retention}"
            raise ValueError(message)
        dt.date.fromisoformat(self.date)
        self.relevance_model()

    def relevance_model(self) -> RelevanceModel:
        """Heads and threshold as the gate uses them."""
        return RelevanceModel(
            heads=self.heads,
            threshold=self.threshold,
            calibration_id=self.id,
            margin=self.margin,
            kind_thresholds=self.kind_thresholds,
            candidates_max=self.candidates_max,
        )

    def mismatches(self, running: CalibrationKeys) -> tuple[Mismatch, ...]:
        """What differs between this calibration and what runs; empty when it holds."""
        pairs = (
            ("model_key", self.keys.model_key, running.model_key),
            ("embedder_key", self.keys.embedder_key, running.embedder_key),
            ("pair_template", self.keys.pair_template, running.pair_template),
        )
        return tuple(
            Mismatch(field=field, calibrated=calibrated, running=actual)
            for field, calibrated, actual in pairs
            if calibrated != actual
        )


def load_calibration(data: bytes) -> CalibrationRecord:
    """Read and check a record from JSON.

    Raises:
        CalibrationError: It is not JSON, lacks or adds a field, or holds a value that cannot be.
    """
    try:
        return msgspec.json.decode(_with_head_types(data), type=CalibrationRecord)
    except (msgspec.DecodeError, ValueError) as error:
        message = f"calibration record: {error}; write it anew with the calibrate command, or remove it"
        raise CalibrationError(message) from error


def dump_calibration(record: CalibrationRecord) -> bytes:
    """The record as indented JSON, ending in a line break; `load_calibration` reads it back equal."""
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def _with_head_types(data: bytes) -> bytes:
    """The record with the type of every head said: those of before there were several are logistic."""
    fields = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
    if "heads" in fields:
        heads = msgspec.json.decode(fields["heads"], type=list[dict[str, msgspec.Raw]])
        typed = [{"type": _LOGISTIC} | head for head in heads]
        fields["heads"] = msgspec.Raw(msgspec.json.encode(typed))
    return msgspec.json.encode(fields)
