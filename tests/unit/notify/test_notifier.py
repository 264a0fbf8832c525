"""The service manager hears what it must hear, and nothing it does can fail the daemon."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from recalld.daemon.notify import Notifier

PID = 4711


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """A datagram socket as systemd would name it in NOTIFY_SOCKET."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(path))
        receiver.settimeout(5)
        yield receiver, str(path)


def test_ready_is_one_datagram_with_its_status(manager: tuple[socket.socket, str]) -> None:
    receiver, path = manager
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": path})
    assert notifier.is_active
    assert notifier.ready("serving 3 users")
    assert receiver.recv(4096) == b"READY=1\nSTATUS=serving 3 users"


def test_stopping_and_watchdog_are_spelled_as_the_protocol_wants(manager: tuple[socket.socket, str]) -> None:
    receiver, path = manager
    notifier = Notifier(path)
    assert notifier.stopping()
    assert receiver.recv(4096) == b"STOPPING=1"
    assert notifier.watchdog()
    assert receiver.recv(4096) == b"WATCHDOG=1"


def test_a_line_break_in_a_status_cannot_forge_another_assignment(manager: tuple[socket.socket, str]) -> None:
    receiver, path = manager
    assert Notifier(path).status("loading\nMAINPID=1\r\nREADY=1")
    assert receiver.recv(4096) == b"STATUS=loading MAINPID=1 READY=1"


def test_an_abstract_address_begins_with_nul_and_not_with_a_character_zero() -> None:
    name = f"recalld-test-{os.getpid()}"  # O04
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(f"\0{name}")
        receiver.settimeout(5)
        assert Notifier.from_environment({"NOTIFY_SOCKET": f"@{name}"}).ready()
        assert receiver.recv(4096) == b"READY=1"


@pytest.mark.parametrize(
    "address", ["", "relative/path", "tcp:1.2.3.4", "/" + "x" * 200, "@" + "x" * 200, "vsock:2:1234"]
)
def test_an_address_that_cannot_be_used_makes_a_silent_notifier(address: str) -> None:
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1000000"})
    assert not notifier.is_active
    assert notifier.watchdog_interval_s is None
    assert not notifier.ready()


def test_without_a_service_manager_nothing_is_sent() -> None:
    assert not Notifier.from_environment({}).status("alone")


@pytest.mark.parametrize("address", ["/nonexistent/notify", "@nobody-listens-here", "/has\0nul"])
def test_a_socket_nobody_listens_on_is_not_an_error(address: str) -> None:
    assert not Notifier(address).ready()


def test_a_full_queue_drops_the_message_instead_of_blocking(manager: tuple[socket.socket, str]) -> None:
    _, path = manager
    notifier = Notifier(path)
    outcomes = [notifier.watchdog() for _ in range(2_000)]
    assert outcomes[0]
    assert not outcomes[-1]


def test_an_empty_status_sends_nothing(manager: tuple[socket.socket, str]) -> None:
    _, path = manager
    assert not Notifier(path).status("")


@pytest.mark.parametrize(
    ("variables", "expected_s"),
    [
        ({"WATCHDOG_USEC": "30000000"}, 15.0),
        ({"WATCHDOG_USEC": "500000"}, 0.25),  # half a second is not zero seconds
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(PID)}, 15.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(PID + 1)}, None),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "me"}, None),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": ""}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "٣٠"}, None),  # digits, but not ASCII
        ({"WATCHDOG_USEC": "9" * 5_000}, None),
        ({"WATCHDOG_USEC": ""}, None),
        ({}, None),
    ],
)
def test_the_watchdog_interval_is_half_of_what_the_manager_waits(
    variables: dict[str, str], expected_s: float | None
) -> None:
    notifier = Notifier.from_environment({"NOTIFY_SOCKET": "@x", **variables}, pid=PID)
    assert notifier.watchdog_interval_s == expected_s


def test_the_watchdog_is_meant_for_this_process_by_default() -> None:
    variables = {"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": str(os.getpid())}
    assert Notifier.from_environment(variables).watchdog_interval_s == 1.0
