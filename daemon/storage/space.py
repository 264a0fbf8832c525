"""Whether there is room to write, and if not, where it lacks.

SQLite reports a full disk clearly, but a file-size limit and a used-up quota only as a failed write. These probes tell
them from a failing disk, and a full directory for temporary files from a full data directory.
"""

from __future__ import annotations

import errno
import resource
import tempfile
from pathlib import Path
from typing import Final

import msgspec

PROBE_BYTES: Final = 64 * 1024
"""Room that must be left: a few transactions' worth. Also what the probe writes."""

_SPACE_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class Shortage(msgspec.Struct, frozen=True, kw_only=True):
    """Where room lacks, as part of a sentence."""

    detail: str


def find_shortage(database: Path, temp_dir: Path | None = None) -> Shortage | None:
    """The first place that lacks room for the database to grow; None when there is room everywhere.

    Args:
        database: The database file; its directory is probed.
        temp_dir: Where SQLite would put temporary files; None: where this process puts its own.
    """
    limit_bytes = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
    if limit_bytes != resource.RLIM_INFINITY and _largest_bytes(database) + PROBE_BYTES > limit_bytes:
        return Shortage(detail=f"{database} has reached this process's file size limit of {limit_bytes} bytes")
    if not _has_room(database.parent):
        return Shortage(detail=f"no room is left in {database.parent}")
    temporary = temp_dir or Path(tempfile.gettempdir())
    if not _has_room(temporary):
        return Shortage(detail=f"no room is left for temporary files in {temporary}")
    return None


def _largest_bytes(database: Path) -> int:
    """Size of the larger of the database and its write-ahead log."""
    files = (database, database.with_name(database.name + "-wal"))
    return max((file.stat().st_size for file in files if file.exists()), default=0)


def _has_room(directory: Path) -> bool:
    """Whether a small file can really be written there; anything but a lack of room counts as yes."""
    try:
        with tempfile.TemporaryFile(dir=directory, prefix=".recalld-probe-") as probe:
            probe.write(b"\0" * PROBE_BYTES)
            probe.flush()
    except OSError as error:
        return error.errno not in _SPACE_ERRNOS
    return True
