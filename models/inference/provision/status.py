"""What is there: for `recalld models list`, `recalld models verify` and the doctor."""

from __future__ import annotations

from pathlib import Path

import msgspec

from recalld.models.inference.manifest import DEFAULT_MODEL_IDS, MODELS, Manifest, ModelSpec, model_spec
from recalld.models.inference.provision.files import FileCheck, FileState, check_file
from recalld.models.inference.provision.layout import artefact_path


class ModelStatus(msgspec.Struct, frozen=True, kw_only=True):
    """One model of the allowlist and its local files.

    Attributes:
        spec: The manifest's entry.
        state: The worst state of its files.
        files: One check per file, the model first.
        is_default: Whether a fresh machine uses it.
    """

    spec: ModelSpec
    state: FileState
    files: tuple[FileCheck, ...]
    is_default: bool


_WORST_FIRST = (FileState.CORRUPT, FileState.MISSING, FileState.UNVERIFIED, FileState.VERIFIED)


def list_models(model_dir: Path, *, is_hashed: bool = True, manifest: Manifest = MODELS) -> tuple[ModelStatus, ...]:
    """Look at every model of the allowlist.

    Args:
        model_dir: Where models are kept; need not exist.
        is_hashed: Hash files whose size is right (about 0.05 s each). False: their state is `unverified`.
        manifest: The allowlist.

    Returns:
        One row per model, in the manifest's order. Unreadable files are rows, never errors.
    """
    return tuple(_status(model_dir, spec, is_hashed=is_hashed) for spec in manifest.values())


def verify(model_dir: Path, model_id: str, *, manifest: Manifest = MODELS) -> ModelStatus:
    """Hash one model's files and compare them with their pins: expected and actual bytes and hashes are in `files`.

    Raises:
        RecalldError: `BAD_REQUEST` for an id that is not on the allowlist.
    """
    return _status(model_dir, model_spec(model_id, manifest), is_hashed=True)


def _status(model_dir: Path, spec: ModelSpec, *, is_hashed: bool) -> ModelStatus:
    files = tuple(
        check_file(artefact_path(model_dir, spec, artefact), artefact, is_hashed=is_hashed)
        for artefact in spec.artefacts
    )
    found = {check.state for check in files}
    state = next(state for state in _WORST_FIRST if state in found)
    return ModelStatus(spec=spec, state=state, files=files, is_default=spec.id in DEFAULT_MODEL_IDS)
