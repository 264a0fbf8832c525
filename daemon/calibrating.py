"""Which numbers the gate runs with: a calibration record that matches what runs, or the manifest's defaults."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import msgspec

from recalld.actors.recall import GateCalibration
from recalld.daemon.config import Settings
from recalld.daemon.own_calibration.kept import current_path
from recalld.models.calibration.record import (
    CalibrationError,
    CalibrationKeys,
    CalibrationRecord,
    load_calibration,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.manifest import model_spec
from recalld.models.inference.model_keys import embedder_key_for, model_key_for
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import RelevanceModel, uncalibrated

CONFIGURED_THRESHOLD = "configured_threshold"
"""Marks, in every ledger row, that the threshold is the configuration's and not the calibration's."""


def calibration_in_force(settings: Settings) -> GateCalibration:
    """The calibration for the configured models.

    A record that was made for other models is never used for its numbers: the gate then runs with the default threshold
    of the cross-encoder, and `doctor` says so. Its floors still hold where its embedder is the one that runs.

    Raises:
        RecalldError: `BAD_REQUEST` for a configured record that cannot be read, or a model not on the allowlist.
    """
    record = record_in_force(settings)
    mismatches = tuple(mismatch.sentence for mismatch in record.mismatches(running_keys(settings)))
    model = record.relevance_model() if not mismatches else _default_model(settings)
    if settings.recall.threshold is not None:
        source = f"{model.calibration_id}+{CONFIGURED_THRESHOLD}" if model.calibration_id else CONFIGURED_THRESHOLD
        model = msgspec.structs.replace(
            model, threshold=settings.recall.threshold, kind_thresholds=(), calibration_id=source
        )
    return GateCalibration(
        floors=_floors(settings, record, is_matching=not mismatches), model=model, mismatches=mismatches
    )


def running_keys(settings: Settings) -> CalibrationKeys:
    """The identity of what is configured to run, known without loading anything."""
    scorer = model_spec(settings.models.cross_encoder)
    return CalibrationKeys(
        model_key=model_key_for(scorer.model.sha256, scorer.tokenizer.sha256, tokens_max=scorer.tokens_max),
        embedder_key=embedder_key_of(settings.models.embedder),
        pair_template=scorer.pair_template,
    )


def embedder_key_of(model_id: str) -> str:
    """The key of the vectors that an embedder of the manifest makes."""
    spec = model_spec(model_id)
    return embedder_key_for(spec.model.sha256, spec.tokenizer.sha256, dims=spec.dims, query_prefix=spec.query_prefix)


def shipped_calibration() -> CalibrationRecord:
    """The record that comes with the package."""
    return load_calibration((files("recalld.models.calibration") / "data" / "default.json").read_bytes())


def record_in_force(settings: Settings) -> CalibrationRecord:
    """The record that the configuration names, else the one that `recalld calibrate` put into force, else the shipped.

    Raises:
        RecalldError: `BAD_REQUEST` for one that cannot be read.
    """
    configured = settings.recall.calibration_path
    if configured is not None:
        return _read(configured, f"recall.calibration_path: {configured}")
    own = current_path(settings.storage.data_dir)
    if own.exists():
        return _read(own, f"{own}: `recalld calibrate --rollback` takes it out of force")
    return shipped_calibration()


def _read(path: Path, what: str) -> CalibrationRecord:
    try:
        return load_calibration(path.read_bytes())
    except (OSError, CalibrationError) as error:
        raise RecalldError(ErrorCode.BAD_REQUEST, f"{what}: {error}") from error


def _default_model(settings: Settings) -> RelevanceModel:
    return uncalibrated(model_spec(settings.models.cross_encoder).default_cut.value)


def _floors(settings: Settings, record: CalibrationRecord, *, is_matching: bool) -> FloorValues:
    """The record's floors if it was made for this embedder, whatever scorer it was made with; else the default one."""
    embedder = model_spec(settings.models.embedder)
    if is_matching or record.keys.embedder_key == embedder_key_of(embedder.id):
        return record.floors
    floor = embedder.default_cut.value
    return FloorValues(record=floor, cue=floor, ask=floor)
