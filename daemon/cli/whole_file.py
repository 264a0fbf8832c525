"""Writing a file as a whole: it appears complete at its place, or what was there stays."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


@contextlib.contextmanager
def whole_file(path: Path, *, mode: int = 0o600) -> Iterator[IO[bytes]]:
    """A file to write that takes the place of `path` when the block ends well.

    It is written beside it, flushed to the disk and renamed; a block that fails leaves no trace.

    Args:
        path: Where it is to stand.
        mode: Who may read it; its owner alone by default.

    Raises:
        OSError: It cannot be written there, named as `path`; whatever stood at `path` is as it was.
    """
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise _about(error, path) from error
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        if error.filename is not None and Path(os.fsdecode(error.filename)) != part:
            raise  # of something else that the block did
        raise _about(error, path) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _about(error: OSError, path: Path) -> OSError:
    """The error by the name that somebody gave: the name beside it is nobody's business."""
    return OSError(error.errno, error.strerror, str(path))
