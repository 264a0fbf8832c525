"""Writing log lines without ever waiting for whoever reads them.

A daemon that was started with a pipe for its log, by somebody who then does not read it, must go on: nothing here makes
the event loop wait. Lines go into a bounded queue, and one thread writes them.
Fails: towards fewer lines. Those that find the queue full, or cannot be written, are counted, and the count is logged
as soon as writing works again.
"""

from __future__ import annotations

import collections
import contextlib
import os
import select
import threading
from collections.abc import Callable
from typing import Final, TextIO

QUEUED_CHARS_MAX: Final = 1 << 20
"""Characters that may wait to be written: some thousand lines, a burst of any size that a living reader soon takes."""
CLOSE_S_MAX: Final = 1.0
"""Seconds that closing waits for the last lines: enough for a reader that reads."""
THREAD_NAME: Final = "recalld-log"

Write = Callable[[str], None]
"""Writes text to its end; may block, and may raise `OSError` or `ValueError`."""


def writer_to(stream: TextIO) -> Write:
    """How to write to a stream: past its buffer where it has a file descriptor.

    A thread that is stuck in a buffer holds its lock, and an interpreter that exits meanwhile aborts.
    """
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return lambda text: _write_and_flush(stream, text)
    return lambda text: _write_all(descriptor, text.encode("utf-8", errors="backslashreplace"))


def _write_and_flush(stream: TextIO, text: str) -> None:
    stream.write(text)
    stream.flush()


def _write_all(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:  # whoever made the pipe made it non-blocking
            poll = select.poll()
            poll.register(descriptor, select.POLLOUT)
            poll.poll()


class LogWriter:
    """A bounded queue of lines and the thread that writes them. All methods may be called from any thread.

    Args:
        write: Where lines go.
        on_dropped: Told in the thread, once writing works again, how many lines were lost before.
        queued_chars_max: Characters that may wait.
    """

    def __init__(
        self, write: Write, *, on_dropped: Callable[[int], None], queued_chars_max: int = QUEUED_CHARS_MAX
    ) -> None:
        self._write = write
        self._on_dropped = on_dropped
        self._queued_chars_max = queued_chars_max
        self._lines: collections.deque[str] = collections.deque()
        self._queued_chars = 0
        self._dropped = 0
        self._is_writing = False
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name=THREAD_NAME, daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Queue one line, without its line break; never waits for the reader and never raises."""
        # While it closes, the thread itself may still say what was lost.
        is_late = self._is_closed and threading.current_thread() is not self._thread
        with self._changed:
            if is_late or self._queued_chars + len(line) > self._queued_chars_max:
                self._dropped += 1
                return
            self._lines.append(line)
            self._queued_chars += len(line)
            self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything queued was written or given up, but no longer than this; whether it was."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._lines and not self._is_writing, timeout_s)

    def close(self, timeout_s: float = CLOSE_S_MAX) -> None:
        """Write what waits, for so long at most, and take nothing more. The thread never outlives the process."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self.flush(timeout_s)

    def _run(self) -> None:
        while (line := self._next()) is not None:
            is_written = False
            with contextlib.suppress(OSError, ValueError):  # nobody is there to be told; ValueError: a closed stream
                self._write(f"{line}\n")
                is_written = True
            dropped = self._note(is_written=is_written)
            if dropped:
                self._on_dropped(dropped)

    def _next(self) -> str | None:
        """The next line; None when there is none and there will be none."""
        with self._changed:
            self._is_writing = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._lines or self._is_closed)
            if not self._lines:
                return None
            line = self._lines.popleft()
            self._queued_chars -= len(line)
            self._is_writing = True
            return line

    def _note(self, *, is_written: bool) -> int:
        """Count a lost line, or after a written one return how many were lost before it."""
        with self._changed:
            if not is_written:
                self._dropped += 1
                return 0
            dropped, self._dropped = self._dropped, 0
            return dropped
