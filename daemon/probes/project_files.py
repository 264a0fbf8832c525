"""Reads inside one directory and never outside it, whatever paths it is given and whatever links lie there.

Every path is walked from the project's directory, one name at a time, and no symbolic link is followed, wherever it
leads: what a link hides is outside. Nothing that could block is opened for reading.
"""

from __future__ import annotations

import enum
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import PurePosixPath
from typing import Final

FILE_BYTES_MAX: Final = 2 << 20
"""A larger file is not read."""
_NAMES_MAX: Final = 64
_LOOK: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class EntryKind(enum.Enum):
    """What lies at a path."""

    FILE = enum.auto()
    DIRECTORY = enum.auto()
    OTHER = enum.auto()
    """A socket, a device, a pipe."""
    ABSENT = enum.auto()
    OUTSIDE = enum.auto()
    """The path leads out of the project, or through a link."""
    UNREADABLE = enum.auto()


class ProjectFiles:
    """The files of one project.

    Args:
        root: Absolute path of its directory.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def kind_of(self, path: str) -> EntryKind:
        """What lies at a path, relative to the project or absolute inside it."""
        names = self._names(path)
        if names is None:
            return EntryKind.OUTSIDE
        try:
            with self._opened(names) as handle:
                return _kind_of(os.fstat(handle).st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return EntryKind.ABSENT
        except _OutsideError:
            return EntryKind.OUTSIDE
        except (OSError, ValueError):
            return EntryKind.UNREADABLE

    def read(self, path: str, *, bytes_max: int = FILE_BYTES_MAX) -> bytes | None:
        """The content of a regular file of at most `bytes_max`; None when it cannot be had."""
        names = self._names(path)
        if not names:
            return None
        try:
            with self._opened(names[:-1]) as folder:
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                handle = os.open(names[-1], flags, dir_fd=folder)
                with os.fdopen(handle, "rb") as file:
                    status = os.fstat(file.fileno())
                    if not stat.S_ISREG(status.st_mode) or status.st_size > bytes_max:
                        return None
                    return file.read(bytes_max)
        except (OSError, ValueError, _OutsideError):
            return None

    def _names(self, path: str) -> tuple[str, ...] | None:
        """The names to walk; None for a path that leads out. Decided by the words alone."""
        pure = PurePosixPath(path)
        if pure.is_absolute():
            try:
                pure = pure.relative_to(PurePosixPath(self._root))
            except ValueError:
                return None
        names = pure.parts
        return None if ".." in names or len(names) > _NAMES_MAX else names

    @contextmanager
    def _opened(self, names: tuple[str, ...]) -> Iterator[int]:
        try:
            handle = os.open(self._root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            # Not there, or hidden from this process: that says nothing of what would be in it.
            raise PermissionError(error.errno, "the project cannot be opened") from error
        try:
            for name in names:
                inner = os.open(name, _LOOK, dir_fd=handle)
                os.close(handle)
                handle = inner
                if stat.S_ISLNK(os.fstat(handle).st_mode):
                    raise _OutsideError
            yield handle
        finally:
            with suppress(OSError):
                os.close(handle)


class _OutsideError(Exception):
    """A link lies on the way."""


def _kind_of(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    return EntryKind.DIRECTORY if stat.S_ISDIR(mode) else EntryKind.OTHER
