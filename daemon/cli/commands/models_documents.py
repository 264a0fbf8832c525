"""What `recalld models … --json` prints."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from recalld.models.inference.provision.files import FileCheck
from recalld.models.inference.provision.importing import ImportedFile
from recalld.models.inference.provision.results import ModelResult
from recalld.models.inference.provision.status import ModelStatus


class FileDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One file of a model, as `--json` shows it."""

    path: str
    state: str
    detail: str
    expected_bytes: int
    actual_bytes: int | None
    expected_sha256: str
    actual_sha256: str | None


class ModelDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One model, as `--json` shows it."""

    id: str
    role: str
    state: str
    is_configured: bool
    is_default: bool
    size_bytes: int
    licence: str
    files: tuple[FileDocument, ...]


class ModelsDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `models list --json` and `models verify --json` print."""

    model_dir: str
    models: tuple[ModelDocument, ...]


class ResultDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one model."""

    id: str
    outcome: str
    is_ready: bool
    detail: str
    remedy: str
    quarantined: tuple[str, ...]


class ProvisionDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `models provision --json` prints."""

    model_dir: str
    models: tuple[ResultDocument, ...]


class ImportedDocument(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is in place now."""

    id: str
    path: str
    was_there: bool


class ImportDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What `models import --json` prints."""

    imported: tuple[ImportedDocument, ...]


def models_document(model_dir: Path, rows: Iterable[ModelStatus], configured: tuple[str, ...]) -> ModelsDocument:
    """What is there, of all models or some.

    Args:
        model_dir: Where models are kept.
        rows: One for each model.
        configured: Ids of the models that the configuration names.
    """
    return ModelsDocument(model_dir=str(model_dir), models=tuple(_model(row, configured) for row in rows))


def provision_document(model_dir: Path, results: Iterable[ModelResult]) -> ProvisionDocument:
    """What became of each model."""
    return ProvisionDocument(model_dir=str(model_dir), models=tuple(_result(result) for result in results))


def import_document(imported: Iterable[ImportedFile]) -> ImportDocument:
    """Which files are in place now."""
    return ImportDocument(
        imported=tuple(
            ImportedDocument(id=one.model_id, path=str(one.path), was_there=one.was_there) for one in imported
        )
    )


def _model(row: ModelStatus, configured: tuple[str, ...]) -> ModelDocument:
    return ModelDocument(
        id=row.spec.id,
        role=row.spec.role.value,
        state=row.state.value,
        is_configured=row.spec.id in configured,
        is_default=row.is_default,
        size_bytes=row.spec.size_bytes,
        licence=row.spec.licence,
        files=tuple(_file(file) for file in row.files),
    )


def _file(file: FileCheck) -> FileDocument:
    return FileDocument(
        path=str(file.path),
        state=file.state.value,
        detail=file.detail,
        expected_bytes=file.expected_bytes,
        actual_bytes=file.actual_bytes,
        expected_sha256=file.expected_sha256,
        actual_sha256=file.actual_sha256,
    )


def _result(result: ModelResult) -> ResultDocument:
    return ResultDocument(
        id=result.model_id,
        outcome=result.outcome.value,
        is_ready=result.is_ready,
        detail=result.detail,
        remedy=result.remedy,
        quarantined=tuple(str(path) for path in result.quarantined),
    )
