"""One provisioner at a time per model directory, across processes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.provision.layout import FILE_MODE, lock_path, make_private_dir
from recalld.models.inference.provision.timing import MonotonicClock, StopSignal

_POLL_S = 0.1


@contextmanager
def provision_lock(
    model_dir: Path, *, wait_s: float, clock: MonotonicClock, stop: StopSignal, on_wait: Callable[[str], None]
) -> Iterator[None]:
    """Hold the directory's lock. The kernel drops it when the holder dies, so a crash leaves nothing to clean up.

    Args:
        model_dir: Created if missing.
        wait_s: How long to wait for another holder.
        clock: Measures the wait.
        stop: Ends the wait early.
        on_wait: Told once, in words, that another process holds the lock.

    Raises:
        RecalldError: `BUSY` when the wait is over; the message names the holder's process id.
        OSError: The directory cannot be created or written.
    """
    make_private_dir(model_dir)
    # Never unlinked: a second process could then lock a new file under the same name while the first still works.
    descriptor = os.open(lock_path(model_dir), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    try:
        _acquire(descriptor, model_dir, clock.monotonic_s() + wait_s, clock, stop, on_wait)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(
    descriptor: int,
    model_dir: Path,
    deadline_s: float,
    clock: MonotonicClock,
    stop: StopSignal,
    on_wait: Callable[[str], None],
) -> None:
    has_told = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace") or "unknown"
        else:
            return
        if not has_told:
            on_wait(f"waiting for process {holder}, which is provisioning too")
            has_told = True
        if clock.monotonic_s() >= deadline_s or stop.wait(_POLL_S):
            message = f"process {holder} is still provisioning models in {model_dir}; try again when it is done"
            raise RecalldError(ErrorCode.BUSY, message)
