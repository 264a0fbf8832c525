"""Calibration records of one's own in the data directory: the one in force, those before it, and the last refusal.

Beside the database, each file readable by its account alone:

* `recalld.calibration.json` is in force from the daemon's next start on, unless the configuration names another;
* `recalld.calibration.before-N.json` are those that it replaced, the newest with the highest number;
* `recalld.calibration.undone.json` is what the last rollback took out of force;
* `recalld.calibration.refused.json` says when and why a fit was refused last.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import msgspec

from recalld.daemon.private_directories import OPEN_TO_OTHERS, claim_directory
from recalld.daemon.storage.files import DIRECTORY_MODE, sync_directory
from recalld.models.calibration.record import CalibrationError, CalibrationRecord, dump_calibration, load_calibration

_STEM: Final = "recalld.calibration"
_BEFORE: Final = re.compile(re.escape(_STEM) + r"\.before-(\d+)\.json\Z")
_MODE: Final = 0o600


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing was fitted."""

    date: str
    reason: str


class RolledBack(msgspec.Struct, frozen=True, kw_only=True):
    """What a rollback did.

    Attributes:
        removed_id: The record that is no longer in force; empty when it could not be read.
        current_id: The record that is in force again; empty: the shipped one is.
    """

    removed_id: str
    current_id: str


class NothingToRollBackError(LookupError):
    """There is no record of one's own in force."""


def current_path(data_dir: Path) -> Path:
    """Where the record in force is, if there is one."""
    return data_dir / f"{_STEM}.json"


def install(data_dir: Path, record: CalibrationRecord) -> Path:
    """Put a record into force, and keep the one before it; a reader finds either of them, never half of one.

    Raises:
        DirectoryRefusedError: The directory is open to others.
        OSError: It cannot be written to.
    """
    claim_directory(data_dir, purpose="the data directory", mode=DIRECTORY_MODE, forbidden=OPEN_TO_OTHERS)
    current = current_path(data_dir)
    staged = _write(data_dir, f"{_STEM}.staged.json", dump_calibration(record))
    if current.exists():
        newest = max(_numbers(data_dir), default=0)
        os.link(current, data_dir / f"{_STEM}.before-{newest + 1}.json")
    staged.replace(current)
    sync_directory(data_dir)
    return current


def roll_back(data_dir: Path) -> RolledBack:
    """Take the record in force out of it, and put the one before it back; without one the shipped record is in force.

    Raises:
        NothingToRollBackError: No record of one's own is in force.
        OSError: The directory cannot be written to.
    """
    current = current_path(data_dir)
    if not current.exists():
        message = f"{current} does not exist: the shipped calibration is in force, and there is nothing before it"
        raise NothingToRollBackError(message)
    removed_id = _id_of(current)
    undone = data_dir / f"{_STEM}.undone.json"
    undone.unlink(missing_ok=True)
    os.link(current, undone)
    newest = max(_numbers(data_dir), default=0)
    if newest:
        (data_dir / f"{_STEM}.before-{newest}.json").replace(current)
    else:
        current.unlink()
    sync_directory(data_dir)
    return RolledBack(removed_id=removed_id, current_id=_id_of(current) if newest else "")


def note_refusal(data_dir: Path, refusal: Refusal) -> None:
    """Keep why a fit was refused; the record in force stays as it is.

    Raises:
        OSError: The directory cannot be written to.
    """
    staged = _write(data_dir, f"{_STEM}.staged.json", msgspec.json.encode(refusal) + b"\n")
    staged.replace(data_dir / f"{_STEM}.refused.json")
    sync_directory(data_dir)


def last_refusal(data_dir: Path) -> Refusal | None:
    """Why a fit was refused last; None when none was, or it cannot be read."""
    try:
        return msgspec.json.decode((data_dir / f"{_STEM}.refused.json").read_bytes(), type=Refusal)
    except (OSError, msgspec.DecodeError):
        return None


def _write(data_dir: Path, name: str, content: bytes) -> Path:
    """Write a file that nobody else may read and that belongs to whom the directory belongs to."""
    path = data_dir / name
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _MODE)
    with os.fdopen(descriptor, "wb") as file:
        owner = data_dir.stat()
        if os.geteuid() == 0:  # root calibrates for the daemon's own account, which must be able to read it
            os.fchown(descriptor, owner.st_uid, owner.st_gid)
        os.fchmod(descriptor, _MODE)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    return path


def _numbers(data_dir: Path) -> list[int]:
    return [int(match[1]) for each in data_dir.iterdir() if (match := _BEFORE.match(each.name)) is not None]


def _id_of(path: Path) -> str:
    try:
        return load_calibration(path.read_bytes()).id
    except CalibrationError:
        return ""
