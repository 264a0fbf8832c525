"""Checking one file against its pin, putting it in place for good, and setting bad ones aside."""

from __future__ import annotations

import enum
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Protocol

import msgspec

from recalld.models.inference.provision.layout import FILE_MODE, make_private_dir

QUARANTINED_FILES_MAX = 8
"""Bad files kept for a look; the oldest goes first, so that a broken mirror cannot fill the disk."""

_CHUNK_BYTES = 1 << 20
_LFS_POINTER = b"version https://git-lfs"
_HTML_STARTS = (b"<!doctype", b"<html", b"<?xml")


class Pinned(Protocol):
    """Anything whose exact content is fixed: a model file, a tokenizer, a wheel."""

    @property
    def size_bytes(self) -> int:
        """Exact size."""
        ...

    @property
    def sha256(self) -> str:
        """Hash, in hex."""
        ...


class FileState(enum.StrEnum):
    """What is known about a model file."""

    VERIFIED = "verified"
    """Size and SHA-256 are the pinned ones."""
    UNVERIFIED = "unverified"
    """The size is right; nobody has hashed it yet."""
    MISSING = "missing"
    CORRUPT = "corrupt"
    """Something is there, but it is not the pinned file."""


class FileCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One file compared with its pin.

    Attributes:
        path: Where it lives.
        state: The result.
        detail: What is wrong, in words; empty when nothing is.
        expected_bytes: Pinned size.
        actual_bytes: Size found; None when there is no regular file.
        expected_sha256: Pinned hash, in hex.
        actual_sha256: Hash found, in hex; None when it was not computed (missing, unreadable, wrong size, not asked
        for).
    """

    path: Path
    state: FileState
    detail: str = ""
    expected_bytes: int
    actual_bytes: int | None = None
    expected_sha256: str
    actual_sha256: str | None = None


def check_file(path: Path, pin: Pinned, *, is_hashed: bool = True) -> FileCheck:
    """Compare a file with its pin, hashing it when its size is right and `is_hashed`. Never raises `OSError`."""
    found = FileCheck(
        path=path,
        state=FileState.CORRUPT,
        expected_bytes=pin.size_bytes,
        expected_sha256=pin.sha256,
    )
    try:
        problem = not_a_file(path)
        if problem:
            return msgspec.structs.replace(found, detail=problem)
        actual_bytes = path.stat().st_size
        found = msgspec.structs.replace(found, actual_bytes=actual_bytes)
        if actual_bytes != pin.size_bytes:
            start = read_at_most(path, 512)
            return msgspec.structs.replace(found, detail=_size_problem(actual_bytes, pin.size_bytes, start))
        if not is_hashed:
            return msgspec.structs.replace(found, state=FileState.UNVERIFIED)
        actual_sha256 = sha256_of(path)
        start = read_at_most(path, 512)
    except FileNotFoundError:
        return msgspec.structs.replace(found, state=FileState.MISSING, detail="is missing")
    except OSError as error:
        return msgspec.structs.replace(found, detail=f"cannot be read ({error.strerror})")
    detail = _hash_problem(actual_sha256, pin.sha256, start)
    state = FileState.CORRUPT if detail else FileState.VERIFIED
    return msgspec.structs.replace(found, state=state, detail=detail, actual_sha256=actual_sha256)


def find_size_problem(path: Path, pin: Pinned) -> str:
    """Compare a file's size with its pin: what is wrong, in words, or nothing. Raises `OSError`."""
    actual_bytes = path.stat().st_size
    if actual_bytes == pin.size_bytes:
        return ""
    return _size_problem(actual_bytes, pin.size_bytes, read_at_most(path, 512))


def check_content(content: bytes, pin: Pinned) -> str:
    """Compare bytes in memory with a pin: what is wrong, in words, or nothing."""
    if len(content) != pin.size_bytes:
        return _size_problem(len(content), pin.size_bytes, content[:512])
    return _hash_problem(hashlib.sha256(content).hexdigest(), pin.sha256, content[:512])


def not_a_file(path: Path) -> str:
    """Say that a path is no regular file (a pipe would block its reader), or nothing. Raises `FileNotFoundError`."""
    return "" if stat.S_ISREG(path.stat().st_mode) else "is not a regular file"


def read_at_most(path: Path, bytes_max: int) -> bytes:
    """The first `bytes_max` bytes of a file: a file larger than its pin is never read whole."""
    with path.open("rb") as file:
        return file.read(bytes_max)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hex, in constant memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def install(candidate: Path, target: Path) -> None:
    """Move a verified file into place so that after a crash there is either the whole file or none.

    File content first, then the name, then the directory that holds the name: without the last step a power cut may
    forget the rename.
    """
    make_private_dir(target.parent)
    candidate.chmod(FILE_MODE)
    _fsync(candidate)
    candidate.replace(target)
    _fsync(target.parent)


def copy_bounded(source: Path, target: Path, bytes_max: int) -> None:
    """Copy at most `bytes_max` bytes of a file into a new private file."""
    with source.open("rb") as reader, target.open("xb") as writer:
        left = bytes_max
        while left > 0 and (chunk := reader.read(min(left, _CHUNK_BYTES))):
            writer.write(chunk)
            left -= len(chunk)


def set_aside(path: Path, quarantine: Path, name: str) -> Path:
    """Move a bad file into quarantine under a name made from its content, so that the same bad file is kept once.

    Returns:
        Where it is now.
    """
    make_private_dir(quarantine)
    is_regular = stat.S_ISREG(path.lstat().st_mode)
    suffix = sha256_of(path)[:12] if is_regular else "special"
    target = quarantine / f"{name}.{suffix}"
    _remove(target)
    path.replace(target)
    _trim(quarantine, keep=target)
    return target


def _trim(quarantine: Path, *, keep: Path) -> None:
    """Drop the oldest entries beyond the limit, by when their content was last changed."""
    others = sorted(
        (entry for entry in quarantine.iterdir() if entry != keep), key=lambda entry: entry.lstat().st_mtime
    )
    for entry in others[: max(0, len(others) + 1 - QUARANTINED_FILES_MAX)]:
        _remove(entry)


def _remove(entry: Path) -> None:
    """Remove a file, link or directory, if it is there."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _size_problem(actual: int, expected: int, start: bytes) -> str:
    if actual == 0:
        return f"is empty instead of {expected} bytes"
    kind = _disguise(start)
    return f"has {actual} bytes instead of {expected}{kind}"


def _hash_problem(actual: str, expected: str, start: bytes) -> str:
    if actual == expected:
        return ""
    return f"has the right size but SHA-256 {actual} instead of {expected}{_disguise(start)}"


def _disguise(start: bytes) -> str:
    """What a wrong file really is, where its first bytes tell."""
    if start.startswith(_LFS_POINTER):
        return " (it is a Git LFS pointer, not the file it points to)"
    if start.lstrip().lower().startswith(_HTML_STARTS):
        return " (it is a web page, probably of an error or a login)"
    return ""
