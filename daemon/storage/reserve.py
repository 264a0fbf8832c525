"""Room kept back on the disk, so that forgetting works when everything else has used it up.

On a full disk the write-ahead log cannot be moved into the database, and without that it cannot be cut back: nothing
can be written any more, a forgetting neither. A file that only takes up room is given up then.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from recalld.daemon.storage.files import FILE_MODE

RESERVE_BYTES: Final = 1024 * 1024
"""Enough for the pages that a write-ahead log of the usual size adds to the database, and for a forgetting."""
RESERVE_NAME: Final = "recalld.reserve"


class DiskReserve:
    """The file that keeps the room.

    Args:
        data_dir: Where the database is.
    """

    def __init__(self, data_dir: Path) -> None:
        self._file = data_dir / RESERVE_NAME

    def fill(self) -> None:
        """Take the room, unless it is taken already or there is none; that is no error, as it is one by itself."""
        with suppress(OSError):
            descriptor = os.open(self._file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
            try:
                os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
            except OSError:
                self._file.unlink(missing_ok=True)  # half of it is of no use, and somebody may need it
            finally:
                os.close(descriptor)

    def release(self) -> bool:
        """Give the room back; whether there was any."""
        try:
            self._file.unlink()
        except OSError:
            return False
        return True
