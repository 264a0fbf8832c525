"""Standard input, output and error as a command needs them: always there, and honest when they take no more."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO, Final, TextIO

_READ_ONLY: Final = os.O_RDONLY
_WRITE_ONLY: Final = os.O_WRONLY


class OutputError(Exception):
    """Standard output does not take what a command prints.

    It is no `OSError`, so that no library between the command and its end takes it for one of its own.

    Attributes:
        reason: Why, in the words of the operating system.
        is_reader_gone: Whether whoever read the output has left, as in `recalld list | head`.
    """

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.reason = cause.strerror or str(cause)
        self.is_reader_gone = cause.errno == errno.EPIPE


@contextlib.contextmanager
def checked_streams() -> Iterator[None]:
    """While the block runs, a failing standard output raises `OutputError` and a failing standard error is silent.

    At the end everything is handed over to the operating system.

    Raises:
        OutputError: Standard output took not all of it.
    """
    _open_missing_streams()
    with (
        contextlib.redirect_stdout(_CheckedOutput(sys.stdout)),
        contextlib.redirect_stderr(_SilentError(sys.stderr)),
    ):
        yield
        sys.stdout.flush()


def discard_unwritten() -> None:
    """Give up what standard output or standard error did not take: Python would complain about it again at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, _WRITE_ONLY), stream.fileno())


class _CheckedOutput(io.TextIOBase):
    """Standard output whose failures say that they are its own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            raise OutputError(error) from error

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            raise OutputError(error) from error

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def buffer(self) -> BinaryIO:
        return self._stream.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute there
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]  # a plain attribute there
        return self._stream.errors

    def __del__(self) -> None:
        """Leave the stream open: it belongs to the process."""


class _SilentError(_CheckedOutput):
    """Standard error: when it takes nothing, there is nobody left to tell, and the exit code still says how it went."""

    def write(self, text: str, /) -> int:
        with contextlib.suppress(OutputError):
            super().write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OutputError):
            super().flush()


def _open_missing_streams() -> None:
    """Put something in the place of standard streams that the process was started without, as with `>&-`.

    Otherwise the next file opened, perhaps the database, would get the number of one of them and be written over. What
    takes the place fails when it is used, as the closed one would: it is open the wrong way round.
    """
    if sys.stdin is None:
        sys.stdin = os.fdopen(_occupied(0, _WRITE_ONLY), "r", encoding="utf-8", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(_occupied(1, _READ_ONLY), "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(_occupied(2, _READ_ONLY), "w", encoding="utf-8", closefd=False)


def _occupied(number: int, flags: int) -> int:
    """A file descriptor for `/dev/null`: the given number, unless somebody else has taken it meanwhile."""
    descriptor = os.open(os.devnull, flags)
    if descriptor == number:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 - positional only; children must find the place taken, too
        return descriptor
    try:
        os.fstat(number)
    except OSError:
        os.dup2(descriptor, number)
        os.close(descriptor)
        return number
    return descriptor
