"""Make sure that models are there: the one function behind the command line and the daemon's background task."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from recalld.models.domain.errors import RecalldError
from recalld.models.inference.manifest import MODELS, Manifest, ModelSpec, model_spec
from recalld.models.inference.provision.acquire import Acquirer, RetryPolicy
from recalld.models.inference.provision.child import ChildLimits
from recalld.models.inference.provision.fetching import FetchContext, Fetcher
from recalld.models.inference.provision.files import FileState, check_file
from recalld.models.inference.provision.keeper import Keeper, disk_trouble
from recalld.models.inference.provision.layout import artefact_path, staging_dir
from recalld.models.inference.provision.lock import provision_lock
from recalld.models.inference.provision.network import NetworkFetcher
from recalld.models.inference.provision.progress import Progress, ProgressListener, Stage, silent
from recalld.models.inference.provision.results import ModelResult, Outcome, model_result
from recalld.models.inference.provision.staging import staging
from recalld.models.inference.provision.timing import MonotonicClock, StopSignal


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


class EnsureSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How patient one call is.

    Attributes:
        lock_wait_s: How long to wait for another process that provisions the same directory.
        retry: How often one source is asked again.
        limits: When a downloader that gets nowhere is ended.
        free_bytes: Free space of the file system a directory is on.
    """

    lock_wait_s: float = 600.0
    retry: RetryPolicy = RetryPolicy()
    limits: ChildLimits = ChildLimits()
    free_bytes: Callable[[Path], int] = _free_bytes


def ensure(
    model_dir: Path,
    model_ids: Iterable[str],
    *,
    environment: Mapping[str, str],
    clock: MonotonicClock,
    stop: StopSignal | None = None,
    listener: ProgressListener = silent,
    is_network_allowed: bool = True,
    settings: EnsureSettings = EnsureSettings(),  # noqa: B008 - frozen
    manifest: Manifest = MODELS,
    fetcher: Fetcher | None = None,
) -> tuple[ModelResult, ...]:
    """Verify models and fetch what is missing or wrong. Blocks; call it from a thread.

    A model whose files verify costs a hash (about 0.05 s) and touches neither network nor lock. Otherwise the sources
    are tried in the manifest's order, under a lock between processes; a source that cannot be reached costs some five
    seconds once, however many models want it. A wrong file is never used and a right one never replaced.

    Args:
        model_dir: Where models are kept; created if missing.
        model_ids: Ids from the manifest.
        environment: The process environment, for the index, mirror and proxy settings in it.
        clock: Measures patience.
        stop: Ends the call early, within a tenth of a second; a `threading.Event` will do.
        listener: Told about progress, from this thread.
        is_network_allowed: False: only look, and say what is missing.
        settings: How patient to be.
        manifest: The allowlist.
        fetcher: How files are fetched; by default through pip and the hub client.

    Returns:
        One result per id, in order. Sources that cannot be reached, full disks, unwritable directories and busy locks
        are results.

    Raises:
        RecalldError: `BAD_REQUEST` for an id that is not on the allowlist.
    """
    stop = threading.Event() if stop is None else stop
    specs = tuple(model_spec(model_id, manifest) for model_id in model_ids)
    first_look = tuple(_look(model_dir, spec, listener) for spec in specs)
    if not is_network_allowed:
        return first_look
    if all(result.is_ready for result in first_look):
        _sweep_orphans(model_dir, clock, stop)
        return first_look
    context = FetchContext(environment=environment, clock=clock, stop=stop, limits=settings.limits)
    fetcher = NetworkFetcher(context) if fetcher is None else fetcher
    waiting_for = next(result.model_id for result in first_look if not result.is_ready)

    def tell_waiting(text: str) -> None:
        listener(Progress(model_id=waiting_for, stage=Stage.WAITING, text=text))

    try:
        with (
            provision_lock(model_dir, wait_s=settings.lock_wait_s, clock=clock, stop=stop, on_wait=tell_waiting),
            staging(model_dir) as stage,
        ):
            acquirer = Acquirer(
                model_dir,
                stage,
                fetcher,
                stop=stop,
                listener=listener,
                retry=settings.retry,
                free_bytes=settings.free_bytes,
            )
            keeper = Keeper(model_dir, manifest, acquirer, stage, listener, stop)
            return tuple(keeper.provide(spec) for spec in specs)
    except RecalldError as error:
        outcome = Outcome.STOPPED if stop.is_set() else Outcome.BUSY
        return tuple(_unless_ready(result, outcome, error.message) for result in first_look)
    except OSError as error:
        return tuple(_unless_ready(result, *disk_trouble(error, model_dir)) for result in first_look)


def _look(model_dir: Path, spec: ModelSpec, listener: ProgressListener) -> ModelResult:
    listener(Progress(model_id=spec.id, stage=Stage.VERIFYING, text="verifying local files"))
    checks = [check_file(artefact_path(model_dir, spec, artefact), artefact) for artefact in spec.artefacts]
    states = {check.state for check in checks}
    if states == {FileState.VERIFIED}:
        return model_result(spec.id, Outcome.READY, "")
    outcome = Outcome.CORRUPT if FileState.CORRUPT in states else Outcome.MISSING
    wrong = (check for check in checks if check.state is not FileState.VERIFIED)
    return model_result(spec.id, outcome, "; ".join(f"{check.path} {check.detail}" for check in wrong))


def _unless_ready(result: ModelResult, outcome: Outcome, detail: str) -> ModelResult:
    return result if result.is_ready else model_result(result.model_id, outcome, detail)


def _sweep_orphans(model_dir: Path, clock: MonotonicClock, stop: StopSignal) -> None:
    """Give back the space of downloads whose process was killed, when files came here by another way since."""
    if not staging_dir(model_dir).exists():
        return
    try:
        with provision_lock(model_dir, wait_s=0.0, clock=clock, stop=stop, on_wait=_say_nothing), staging(model_dir):
            pass
    except (RecalldError, OSError):
        # Somebody else is at work, or the directory is not ours to write: the files that count are verified anyway.
        return


def _say_nothing(_text: str) -> None:
    pass
