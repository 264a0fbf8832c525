from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

from recalld.daemon.log_writer import LogWriter, writer_to

BOUND_S = 10.0


class Reader:
    """Takes lines once it is let, and can refuse them."""

    def __init__(self, *, is_reading: bool = True) -> None:
        self.lines: list[str] = []
        self.error: OSError | None = None
        self.may_read = threading.Event()
        self.was_called = threading.Event()
        if is_reading:
            self.may_read.set()

    def write(self, text: str) -> None:
        self.was_called.set()
        assert self.may_read.wait(BOUND_S)
        if self.error is not None:
            raise self.error
        self.lines.append(text)


def test_lines_are_written_in_order_and_closing_waits_for_the_last() -> None:
    reader, dropped = Reader(), list[int]()
    writer = LogWriter(reader.write, on_dropped=dropped.append)
    for number in range(100):
        writer.put(str(number))
    writer.close(BOUND_S)
    assert reader.lines == [f"{number}\n" for number in range(100)]
    assert dropped == []


def test_nobody_waits_for_a_reader_that_does_not_read_and_what_is_lost_is_counted() -> None:
    reader, dropped, was_told = Reader(is_reading=False), list[int](), threading.Event()

    def note(lines: int) -> None:
        dropped.append(lines)
        was_told.set()

    writer = LogWriter(reader.write, on_dropped=note, queued_chars_max=100)
    writer.put("first")
    assert reader.was_called.wait(BOUND_S)
    for _ in range(50):
        writer.put("0123456789")
    assert not writer.flush(0.01)
    reader.may_read.set()
    assert was_told.wait(BOUND_S)
    assert writer.flush(BOUND_S)
    writer.close()
    assert reader.lines == ["first\n", *["0123456789\n"] * 10]
    assert dropped == [40]


def test_lines_that_cannot_be_written_are_counted_once_writing_works_again() -> None:
    reader, dropped = Reader(), list[int]()
    reader.error = OSError("no space left")
    writer = LogWriter(reader.write, on_dropped=dropped.append)
    for _ in range(3):
        writer.put("lost")
    assert writer.flush(BOUND_S)
    assert dropped == []
    reader.error = None
    writer.put("written")
    writer.close(BOUND_S)
    assert (reader.lines, dropped) == (["written\n"], [3])


def test_closing_does_not_wait_for_ever_and_nothing_is_taken_afterwards() -> None:
    reader = Reader(is_reading=False)
    writer = LogWriter(reader.write, on_dropped=lambda _lines: None)
    writer.put("stuck")
    writer.close(0.01)
    writer.put("too late")
    reader.may_read.set()
    assert writer.flush(BOUND_S)
    assert reader.lines == ["stuck\n"]


def test_a_stream_with_a_descriptor_is_written_past_its_buffer(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w", encoding="ascii") as stream:
        writer_to(stream)("zwölf \udcff\n")
        assert (tmp_path / "log").read_bytes() == "zwölf \\udcff\n".encode()


def test_a_pipe_that_does_not_block_is_waited_for() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    text = "x" * 500_000
    with os.fdopen(write_end, "w") as stream, os.fdopen(read_end, "rb") as received:
        thread = threading.Thread(target=lambda: _write_and_close(stream, text))
        thread.start()
        assert received.read() == text.encode()
        thread.join(BOUND_S)


def _write_and_close(stream: contextlib.AbstractContextManager[object], text: str) -> None:
    with stream:
        writer_to(stream)(text)  # type: ignore[arg-type]
