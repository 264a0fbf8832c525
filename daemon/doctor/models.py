"""Checks of the model files: they are there, and they are the pinned ones, byte for byte."""

from __future__ import annotations

from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, Status, failed, noted, passed, warned
from recalld.models.inference.provision.files import FileCheck, FileState
from recalld.models.inference.provision.status import ModelStatus, list_models, verify


def check_cross_encoder(context: DoctorContext) -> Finding:
    """The relevance model. Without it nothing but similarity decides."""
    status = verify(context.settings.models.dir, context.settings.models.cross_encoder)
    finding = _finding(status)
    if context.settings.recall.gate == "off" and finding.status is Status.FAIL:
        return noted(f"{finding.seen}; the gate is switched off, so it is not needed", finding.remedy)
    return finding


def check_embedder(context: DoctorContext) -> Finding:
    """The embedding model. Without it only words can find a memory."""
    return _finding(verify(context.settings.models.dir, context.settings.models.embedder))


def check_other_models(context: DoctorContext) -> Finding:
    """Models that are here but not in use: a damaged one would only show when somebody configures it."""
    models = context.settings.models
    others = [row for row in list_models(models.dir) if row.spec.id not in (models.cross_encoder, models.embedder)]
    wrong = [row.spec.id for row in others if row.state is FileState.CORRUPT]
    if wrong:
        return warned(
            f"damaged, though not in use: {', '.join(wrong)}", f"run `recalld models provision {' '.join(wrong)}`"
        )
    good = [row.spec.id for row in others if row.state is FileState.VERIFIED]
    return passed(f"{', '.join(good)} verified") if good else noted("no other model is here")


def _finding(status: ModelStatus) -> Finding:
    wrong = [file for file in status.files if file.state is not FileState.VERIFIED]
    if not wrong:
        return passed(f"{status.spec.id} verified, SHA-256 {status.spec.model.sha256[:12]}…")
    remedy = f"run `recalld models provision {status.spec.id}`, or `recalld models import FILE` without a network"
    return failed("; ".join(_what_is_wrong(file) for file in wrong), remedy)


def _what_is_wrong(file: FileCheck) -> str:
    seen = f"{file.path} {file.detail}"
    if file.actual_sha256 not in (None, file.expected_sha256):
        return f"{seen}: expected SHA-256 {file.expected_sha256}, actual {file.actual_sha256}"
    return seen
