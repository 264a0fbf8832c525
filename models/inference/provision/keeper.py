"""Provide one model after another, under the lock: look, get what is missing, put it in place."""

from __future__ import annotations

import errno
from pathlib import Path

import msgspec

from recalld.models.inference.manifest import Artefact, Manifest, ModelSpec
from recalld.models.inference.provision.acquire import Acquirer, SourceFailure
from recalld.models.inference.provision.files import FileState, check_file, copy_bounded, install, set_aside
from recalld.models.inference.provision.layout import artefact_path, quarantine_dir
from recalld.models.inference.provision.progress import Progress, ProgressListener, Stage
from recalld.models.inference.provision.results import ModelResult, Outcome, model_result
from recalld.models.inference.provision.staging import Staging
from recalld.models.inference.provision.timing import StopSignal


class Keeper:
    """Provides models in one directory. Whoever makes one holds the directory's lock."""

    def __init__(
        self,
        model_dir: Path,
        manifest: Manifest,
        acquirer: Acquirer,
        stage: Staging,
        listener: ProgressListener,
        stop: StopSignal,
    ) -> None:
        self._model_dir = model_dir
        self._manifest = manifest
        self._acquirer = acquirer
        self._stage = stage
        self._listener = listener
        self._stop = stop

    def provide(self, spec: ModelSpec) -> ModelResult:
        """Make sure of one model. Whatever happens is a result: nothing is raised for networks, disks or files."""
        del self._acquirer.quarantined[:]
        try:
            # Looked at again: whoever held the lock before us may have fetched it.
            result = self._provide(spec)
        except OSError as error:
            outcome, detail = disk_trouble(error, self._model_dir)
            result = model_result(spec.id, outcome, detail)
        result = msgspec.structs.replace(result, quarantined=tuple(self._acquirer.quarantined))
        stage = Stage.INSTALLED if result.is_ready else Stage.FAILED
        self._listener(Progress(model_id=spec.id, stage=stage, text=result.detail or result.outcome.value))
        return result

    def _provide(self, spec: ModelSpec) -> ModelResult:
        fetched = 0
        for artefact in spec.artefacts:
            target = artefact_path(self._model_dir, spec, artefact)
            check = check_file(target, artefact)
            if check.state is FileState.VERIFIED:
                continue
            if self._stop.is_set():
                return model_result(spec.id, Outcome.STOPPED, f"{artefact.file_name} {check.detail}")
            candidate = self._candidate(spec, artefact)
            if isinstance(candidate, SourceFailure):
                detail = f"{artefact.file_name} {check.detail}; {candidate.detail}"
                return model_result(spec.id, candidate.outcome, detail)
            if check.state is FileState.CORRUPT:
                name = f"{spec.id}-{artefact.file_name}"
                self._acquirer.quarantined.append(set_aside(target, quarantine_dir(self._model_dir), name))
            install(candidate, target)
            fetched += 1
        return model_result(spec.id, Outcome.PROVISIONED if fetched else Outcome.READY, "")

    def _candidate(self, spec: ModelSpec, artefact: Artefact) -> Path | SourceFailure:
        local = self._local_copy(artefact)
        if local is not None:
            return local
        failures: list[SourceFailure] = []
        for source in artefact.sources:
            found = self._acquirer.acquire(spec.id, artefact, source)
            if isinstance(found, Path):
                return found
            failures.append(found)
            if found.outcome in {Outcome.STOPPED, Outcome.NO_SPACE}:
                break
        return SourceFailure(
            # A source that answered tells more than one that did not.
            outcome=next((f.outcome for f in failures if f.outcome is not Outcome.UNREACHABLE), Outcome.UNREACHABLE),
            detail="; ".join(failure.detail for failure in failures) or "no source is known",
        )

    def _local_copy(self, artefact: Artefact) -> Path | None:
        """A copy of the same pinned file from beside another model, which needs no network."""
        for spec in self._manifest.values():
            for other in spec.artefacts:
                path = artefact_path(self._model_dir, spec, other)
                if other.sha256 == artefact.sha256 and check_file(path, other).state is FileState.VERIFIED:
                    candidate = self._stage.new_dir() / artefact.file_name
                    copy_bounded(path, candidate, artefact.size_bytes)
                    if check_file(candidate, artefact).state is FileState.VERIFIED:
                        return candidate
        return None


def disk_trouble(error: OSError, model_dir: Path) -> tuple[Outcome, str]:
    """Translate an error of the file system to an outcome and its detail."""
    outcome = Outcome.NO_SPACE if error.errno in {errno.ENOSPC, errno.EDQUOT} else Outcome.NOT_WRITABLE
    return outcome, f"{error.filename or model_dir}: {error.strerror or error}"
