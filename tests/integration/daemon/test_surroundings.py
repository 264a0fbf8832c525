"""What a daemon is started with and meets outside itself: streams that are closed, full or not read, and signals."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from daemon_process import DaemonProcess

from recalld.protocol.requests import Recall, Remember

MakeDaemon = Callable[..., DaemonProcess]


@pytest.fixture
def running(make_daemon: MakeDaemon) -> DaemonProcess:
    """A daemon without models that a test starts in its own way."""
    return make_daemon()


def test_a_log_that_nobody_reads_holds_up_neither_answers_nor_the_end(running: DaemonProcess) -> None:
    read_end, write_end = os.pipe()
    try:
        running.start(stderr=write_end).ready()
        with running.client() as client:
            client.remember(Remember(user="ines", text="The office is in Bern"))
            for number in range(400):  # about four times what the pipe holds
                client.recall(Recall(user="ines", session="", text=f"Where is office number {number}?"))
        assert running.stop() == 0
    finally:
        os.close(read_end)
        os.close(write_end)


def test_a_log_that_takes_nothing_does_not_change_the_exit_code(running: DaemonProcess) -> None:
    with Path("/dev/full").open("wb") as full:
        running.start(stderr=full.fileno()).ready()
        with running.client() as client:
            client.recall(Recall(user="ines", session="", text="Where is the office?"))
        assert running.stop() == 0


@pytest.mark.parametrize("closed", ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"])
def test_a_daemon_runs_without_its_standard_streams_and_leaves_their_numbers_alone(
    running: DaemonProcess, closed: str
) -> None:
    running.start(prefix=("/bin/sh", "-c", f'exec "$@" {closed}', "sh")).ready()
    with running.client() as client:
        client.remember(Remember(user="ines", text="The office is in Bern"))
    descriptors = Path(f"/proc/{running.process.pid}/fd")
    opened = {(descriptors / str(number)).readlink() for number in range(3)}
    assert opened <= {Path("/dev/null"), running.log_path}
    assert running.stop() == 0


def test_signals_that_mean_nothing_to_a_daemon_are_logged_and_change_nothing(running: DaemonProcess) -> None:
    running.start().ready()
    ignored = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
    for number in ignored:
        running.process.send_signal(number)
    running.until(lambda: running.log().count("signal_ignored") == len(ignored))
    with running.client() as client:
        client.ping()
    assert running.stop() == 0
    rows = [json.loads(line) for line in running.log().splitlines()]
    assert {row["signal"] for row in rows if row["event"] == "signal_ignored"} == {number.name for number in ignored}
