"""A place for downloads in progress that nothing survives in."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from recalld.models.inference.provision.layout import make_private_dir, staging_dir


class Staging:
    """Hands out new, empty, private directories."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def new_dir(self) -> Path:
        """Create a directory of its own for one fetch or copy."""
        return Path(tempfile.mkdtemp(dir=self._root))

    def discard(self, folder: Path) -> None:
        """Remove such a directory early, to give its space back. What cannot be removed waits for the next sweep."""
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def staging(model_dir: Path) -> Iterator[Staging]:
    """Sweep what dead processes left, lend the directory, and sweep again.

    The caller holds the directory's lock. That is what makes sweeping safe: whoever made these files did so under the
    lock, and the kernel gave it to us because that process is gone.

    Raises:
        OSError: The directory cannot be created.
    """
    root = staging_dir(model_dir)
    shutil.rmtree(root, ignore_errors=True)
    make_private_dir(root)
    try:
        yield Staging(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
