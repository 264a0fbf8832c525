"""Where the files of an open database are, and whether they are still there.

A file that is removed or replaced under an open database goes on working for whoever has it open, and is gone with the
last of them: a write into it must not be acknowledged.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from recalld.daemon.storage.files import companions
from recalld.models.domain.errors import ErrorCode, RecalldError


class _Identity(NamedTuple):
    device: int
    inode: int


class PlacedFiles:
    """Notices when a file of an open database is no longer the one at its place. A look costs a few microseconds.

    Args:
        database: The database, opened already; the files that SQLite keeps beside it count from when they are seen.
    """

    def __init__(self, database: Path) -> None:
        self._files = (database, *companions(database))
        self._seen: dict[Path, _Identity] = {}
        self.check()

    def check(self) -> None:
        """Make sure that every file seen before is at its place.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`: one was removed or replaced.
        """
        for file in self._files:
            found = _identity(file)
            known = self._seen.get(file)
            if found is not None and known is None:
                self._seen[file] = found
            elif found != known:
                what = "removed" if found is None else "replaced"
                message = (
                    f"{file} was {what} while in use, so nothing can be stored; put it back or restart the daemon."
                )
                raise RecalldError(ErrorCode.STORAGE_UNAVAILABLE, message)


def _identity(file: Path) -> _Identity | None:
    """Which file lies at a path; None for none."""
    try:
        found = file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _Identity(found.st_dev, found.st_ino)
