"""Logging: one JSON object a line, or something readable on a terminal. Never query or memory text.

Lines go to standard error through a thread of their own, so that nobody waits for whoever reads them.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from recalld.actors.events import EventLevel
from recalld.daemon.config import LogSettings
from recalld.daemon.log_writer import LogWriter, writer_to
from recalld.models.domain.events import Event

LINES_DROPPED: Final = "log_lines_dropped"
"""Log line that says how many were lost before it, because nobody read them or they could not be written."""
LIBRARY_MESSAGE: Final = "library_message"
"""Log line of a warning or an error that a library logged in its own way."""

_LEVELS = {
    EventLevel.DEBUG: logging.DEBUG,
    EventLevel.INFO: logging.INFO,
    EventLevel.WARNING: logging.WARNING,
    EventLevel.ERROR: logging.ERROR,
}


class LineLogger:
    """Hands lines to the writer.

    Args:
        writer: Writes them.
    """

    def __init__(self, writer: LogWriter) -> None:
        self._writer = writer

    def msg(self, line: str) -> None:
        """Log one line."""
        self._writer.put(line)

    log = debug = info = warning = error = critical = exception = msg


class _LibraryHandler(logging.Handler):
    """Takes what libraries log, which would otherwise be written to standard error at once, and waited for."""

    def emit(self, record: logging.LogRecord) -> None:
        level = logging.ERROR if record.levelno >= logging.ERROR else logging.WARNING
        structlog.get_logger("recalld").log(
            level, LIBRARY_MESSAGE, logger=record.name, message=record.getMessage(), exc_info=record.exc_info
        )


@contextmanager
def logging_to_stderr(settings: LogSettings) -> Iterator[LogWriter]:
    """Log to standard error, where systemd picks it up, while the block runs; what waits at its end is still written.

    Structlog stays configured after the block; what is logged then is lost.
    """
    is_terminal = sys.stderr.isatty()
    is_console = settings.format == "console" or (settings.format == "auto" and is_terminal)
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer(colors=is_terminal)
        if is_console
        else structlog.processors.JSONRenderer(sort_keys=False)
    )
    writer = LogWriter(writer_to(sys.stderr), on_dropped=_report_dropped)
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[settings.level.upper()]),
        logger_factory=lambda *_args: LineLogger(writer),
        cache_logger_on_first_use=True,
    )
    of_libraries = _LibraryHandler(logging.WARNING)
    logging.getLogger().addHandler(of_libraries)
    try:
        yield writer
    finally:
        logging.getLogger().removeHandler(of_libraries)
        writer.close()


def log_event(event: Event, level: EventLevel) -> None:
    """Write one event as one line; the sink of the event bus."""
    structlog.get_logger("recalld").log(_LEVELS[level], event.name.value, user=event.user or None, **event.fields)


def _report_dropped(lines: int) -> None:
    structlog.get_logger("recalld").warning(LINES_DROPPED, count=lines)
