"""What provisioning tells whoever watches it."""

from __future__ import annotations

import enum
from typing import Protocol

import msgspec


class Stage(enum.StrEnum):
    """What is being done."""

    VERIFYING = "verifying"
    WAITING = "waiting"
    """Another process provisions; or a failed attempt is repeated after a pause."""
    CONNECTING = "connecting"
    DOWNLOADING = "downloading"
    UNPACKING = "unpacking"
    INSTALLED = "installed"
    FAILED = "failed"


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """One step.

    Attributes:
        model_id: The model that is being worked for.
        stage: What is being done.
        text: The same for a person, in one line.
        bytes_done: Bytes downloaded so far; 0 outside of `DOWNLOADING`.
        bytes_total: Bytes to download, from the manifest; None when nothing is downloaded.
    """

    model_id: str
    stage: Stage
    text: str
    bytes_done: int = 0
    bytes_total: int | None = None


class ProgressListener(Protocol):
    """Called from the thread that provisions, at most some twenty times a second. Must not raise."""

    def __call__(self, progress: Progress, /) -> None:
        """Take note."""
        ...


def silent(_progress: Progress, /) -> None:
    """Listen to nothing."""
