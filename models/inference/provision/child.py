"""Run a downloader as a child process, watch what it writes, and end it when it gets nowhere.

Both ways of fetching use well-kept tools whose own patience is far longer than ours, and which cannot be interrupted
from another thread. A process can be.
"""

from __future__ import annotations

import enum
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

import msgspec

from recalld.models.inference.provision.timing import MonotonicClock, StopSignal

_POLL_S = 0.05
_CREDENTIALS = re.compile(r"//[^/\s@]+@")
_DETAIL_CHARS_MAX = 400


class ChildLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How long a child may take to get somewhere, and how much it may write.

    Attributes:
        start_s: Until its first sign of life, which loading its own code delays on a busy machine.
        reach_s: From there until it has heard from the source. With a usual start an unreachable source costs less
            than five seconds.
        stall_s: Between two bytes after that; a caching mirror may fetch the whole file before it sends the first.
        total_s: In all.
        extra_bytes: What it may write beyond the file itself.
    """

    start_s: float = 15.0
    reach_s: float = 4.0
    stall_s: float = 60.0
    total_s: float = 1_800.0
    extra_bytes: int = 4 << 20


class ChildEnd(enum.StrEnum):
    """How a child ended."""

    DONE = "done"
    FAILED = "failed"
    """By itself, with an exit code other than 0."""
    UNREACHABLE = "unreachable"
    STALLED = "stalled"
    TOO_LARGE = "too_large"
    STOPPED = "stopped"


class ChildResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a child. `detail` is its last complaint, without credentials."""

    end: ChildEnd
    has_reached: bool
    detail: str = ""


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """What to run.

    Attributes:
        module: Run with `python -m`, on a leash.
        arguments: Its command line.
        environment: The whole environment of the child.
        work_dir: Its current directory; holds its output and log.
        written_dir: Everything below counts as bytes downloaded.
        bytes_expected: Size of the file it fetches.
        has_started: Says from the work directory that it runs.
        has_reached: Says from the work directory that the source has answered.
    """

    module: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    work_dir: Path
    written_dir: Path
    bytes_expected: int
    has_started: Callable[[], bool]
    has_reached: Callable[[], bool]


def run_child(
    child: Child, limits: ChildLimits, clock: MonotonicClock, stop: StopSignal, on_bytes: Callable[[int], None]
) -> ChildResult:
    """Run a child to its end, or end it: never raises for what the child does.

    Raises:
        OSError: The interpreter cannot be started or the work directory cannot be written.
    """
    command = (sys.executable, "-P", "-m", "recalld.models.inference.provision.leash", child.module, *child.arguments)
    output_path = child.work_dir / "output"
    with output_path.open("wb") as output:
        process = _start(command, child, output)
        try:
            end, has_reached = _watch(process, child, limits, clock, stop, on_bytes)
        finally:
            _end(process)
    detail = "" if end is ChildEnd.DONE else _last_words(output_path)
    return ChildResult(end=end, has_reached=has_reached, detail=detail)


def _start(command: Sequence[str], child: Child, output: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - the command is made here, of our interpreter and the manifest
        command,
        stdin=subprocess.PIPE,
        stdout=output,
        stderr=subprocess.STDOUT,
        cwd=child.work_dir,
        env=dict(child.environment),
        start_new_session=True,  # an interrupt from the terminal is for us; we end the child in our own order
    )


def _watch(
    process: subprocess.Popen[bytes],
    child: Child,
    limits: ChildLimits,
    clock: MonotonicClock,
    stop: StopSignal,
    on_bytes: Callable[[int], None],
) -> tuple[ChildEnd, bool]:
    watch = _Watch(child, limits, clock.monotonic_s())
    while True:
        # Asked before looking at the files: what the child wrote last must be seen after it has ended.
        code = process.poll()
        verdict = watch.look(clock.monotonic_s())
        on_bytes(watch.written)
        if code is not None:
            return (ChildEnd.DONE if code == 0 else ChildEnd.FAILED), watch.has_reached
        if verdict is not None:
            return verdict, watch.has_reached
        if stop.is_set() or stop.wait(_POLL_S):
            return ChildEnd.STOPPED, watch.has_reached


class _Watch:
    """Decides from what a child has written so far whether it still gets somewhere."""

    def __init__(self, child: Child, limits: ChildLimits, now_s: float) -> None:
        self._child = child
        self._limits = limits
        self._started_s = now_s
        self._progress_s = now_s
        self._has_started = False
        self.has_reached = False
        self.written = 0

    def look(self, now_s: float) -> ChildEnd | None:
        written = _bytes_below(self._child.written_dir)
        is_news = written > self.written
        self.written = written
        if not self._has_started and (written > 0 or self._child.has_started()):
            self._has_started = is_news = True
        if not self.has_reached and (written > 0 or self._child.has_reached()):
            self.has_reached = is_news = True
        if is_news:
            self._progress_s = now_s
        if written > self._child.bytes_expected + self._limits.extra_bytes:
            return ChildEnd.TOO_LARGE
        if now_s - self._progress_s > self._patience_s():
            return ChildEnd.STALLED if self.has_reached else ChildEnd.UNREACHABLE
        return ChildEnd.STALLED if now_s - self._started_s > self._limits.total_s else None

    def _patience_s(self) -> float:
        if self.has_reached:
            return self._limits.stall_s
        return self._limits.reach_s if self._has_started else self._limits.start_s


def _bytes_below(folder: Path) -> int:
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(directory, name).lstat().st_size
            except FileNotFoundError:  # renamed by the child between listing and looking
                continue
    return total


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    if process.poll() is None:
        process.kill()
    process.wait()


def _last_words(output_path: Path) -> str:
    """The last lines that complain, or else the last lines that say something."""
    lines = output_path.read_bytes()[-8_192:].decode("utf-8", "replace").splitlines()
    complaints = [line.strip() for line in lines if line.lstrip().lower().startswith(("error", "warning"))]
    return presentable(" ".join((complaints or [line.strip() for line in lines if line.strip()])[-2:]))


def presentable(words: str) -> str:
    """Words of a downloader as they may be shown: without user names and passwords in addresses, and shortened."""
    return _CREDENTIALS.sub("//", words)[-_DETAIL_CHARS_MAX:]
