from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator

import pytest
import structlog

from recalld.actors.events import EventLevel
from recalld.daemon.config import LogSettings
from recalld.daemon.logs import LIBRARY_MESSAGE, LINES_DROPPED, log_event, logging_to_stderr
from recalld.models.domain.events import Event, EventName


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def event(**fields: str | int | None) -> Event:
    return Event(name=EventName.MEMORY_ADMITTED, at_ms=1, user='ines"\n{}', fields=dict(fields))


def test_every_event_is_one_json_object_on_one_line_whatever_its_fields_hold(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with logging_to_stderr(LogSettings(format="json")):
        log_event(event(detail='a\nb\u2028"c"\x00', count=3), EventLevel.WARNING)
    (line,) = capsys.readouterr().err.splitlines()
    row = json.loads(line)
    assert (row["event"], row["level"], row["user"]) == ("memory_admitted", "warning", 'ines"\n{}')
    assert (row["detail"], row["count"]) == ('a\nb\u2028"c"\x00', 3)
    assert row["timestamp"].endswith("Z")


def test_what_is_less_severe_than_the_level_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr(LogSettings(format="json", level="warning")):
        for level in EventLevel:
            log_event(event(), level)
    assert [json.loads(line)["level"] for line in capsys.readouterr().err.splitlines()] == ["warning", "error"]


def test_auto_is_json_where_nobody_looks_at_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr(LogSettings(format="auto")):
        log_event(event(), EventLevel.INFO)
    json.loads(capsys.readouterr().err)


def test_console_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr(LogSettings(format="console")):
        log_event(event(), EventLevel.INFO)
    text = capsys.readouterr().err
    assert "memory_admitted" in text
    assert not text.startswith("{")


def test_what_libraries_log_is_a_line_like_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    with logging_to_stderr(LogSettings(format="json")):
        logging.getLogger("asyncio").warning("took %s s", 3)
        logging.getLogger("asyncio").info("nobody wants this")
    (line,) = capsys.readouterr().err.splitlines()
    row = json.loads(line)
    assert (row["event"], row["logger"], row["message"]) == (LIBRARY_MESSAGE, "asyncio", "took 3 s")


def test_lost_lines_are_counted_in_a_line_of_their_own_once_somebody_reads_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_end, write_end = os.pipe()
    rows: list[dict[str, str | int]] = []
    with os.fdopen(read_end, "rb") as reader:
        reading = threading.Thread(target=lambda: rows.extend(json.loads(line) for line in reader))
        with os.fdopen(write_end, "w") as stream:
            monkeypatch.setattr("sys.stderr", stream)
            with logging_to_stderr(LogSettings(format="json")) as writer:
                for _ in range(20):  # more than the pipe and the queue hold together
                    log_event(event(detail="x" * 100_000), EventLevel.INFO)
                assert not writer.flush(0.01)
                reading.start()
        reading.join(10.0)
    lost = sum(int(row["count"]) for row in rows if row["event"] == LINES_DROPPED)
    assert lost > 0
    assert lost + sum(row["event"] == "memory_admitted" for row in rows) == 20


def test_a_log_whose_reader_has_gone_is_no_reason_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        with logging_to_stderr(LogSettings(format="json")) as writer:
            log_event(event(), EventLevel.ERROR)
            assert writer.flush(10.0)
            stream.close()
            log_event(event(), EventLevel.ERROR)
            assert writer.flush(10.0)
