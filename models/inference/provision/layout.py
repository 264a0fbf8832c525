"""Where model files live.

    <model_dir>/                      0700
      .lock                           held by whoever provisions; holds its process id
      .staging/<random>/              downloads in progress; swept by the next holder of the lock
      quarantine/                     files that were not what they claimed to be
      <model_id>/model.onnx           0600
      <model_id>/tokenizer.json       0600

Directories and files made here are private to their owner: models are no secret, but a file others may write would be
one they can swap. A directory laid out beforehand by an administrator, readable and owned by somebody else, is used as
it is and never written while its files verify.
"""

from __future__ import annotations

from pathlib import Path

from recalld.models.inference.manifest import Artefact, ModelSpec

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


def artefact_path(model_dir: Path, spec: ModelSpec, artefact: Artefact) -> Path:
    """Where one file of a model lives."""
    return model_dir / spec.id / artefact.file_name


def lock_path(model_dir: Path) -> Path:
    """The file that provisioners lock."""
    return model_dir / ".lock"


def staging_dir(model_dir: Path) -> Path:
    """Where downloads in progress live; on the file system of their targets, so that a rename moves no data."""
    return model_dir / ".staging"


def quarantine_dir(model_dir: Path) -> Path:
    """Where files go that failed verification."""
    return model_dir / "quarantine"


def make_private_dir(path: Path) -> None:
    """Create a directory and its parents for the owner alone; leave one that exists as it is."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
