from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from recalld.daemon.gateway.activation import adopt_listener
from recalld.daemon.gateway.listener import BoundListener, ListenError, ListenFault

PID = 4242


class Environment:
    """What systemd sets, and whether it was cleared."""

    def __init__(self, **values: str) -> None:
        self.values = {"LISTEN_PID": str(PID), **values}
        self.is_cleared = False

    def clear(self) -> None:
        self.is_cleared = True

    def adopt(self, first_fd: int) -> BoundListener | None:
        return adopt_listener(self.values, pid=PID, clear=self.clear, first_fd=first_fd)

    def refusal(self, first_fd: int) -> str:
        with pytest.raises(ListenError) as caught:
            self.adopt(first_fd)
        assert caught.value.fault is ListenFault.BAD_ACTIVATION
        assert self.is_cleared
        return caught.value.message


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="recalld-") as folder:
        yield Path(folder) / "s"


def listening(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.bind(str(path))
    sock.listen()
    return sock


def in_a_row(sockets: Sequence[socket.socket]) -> int:
    """Move sockets to neighbouring descriptors, inheritable as systemd passes them; return the first."""
    first_fd = 200
    for number, sock in enumerate(sockets):
        os.dup2(sock.fileno(), first_fd + number)
        sock.close()
    return first_fd


def test_the_socket_of_systemd_is_taken_over_and_its_path_survives(path: Path) -> None:  # O05
    first_fd = in_a_row([listening(path)])
    environment = Environment(LISTEN_FDS="1")
    bound = environment.adopt(first_fd)
    assert bound is not None
    assert environment.is_cleared
    assert (bound.path, bound.sock.fileno()) == (str(path), first_fd)
    assert not os.get_inheritable(first_fd)
    assert bound.sock.getblocking() is False
    bound.close()
    assert path.is_socket()


def test_nothing_set_means_nothing_passed_and_nothing_to_clear() -> None:
    environment = Environment()
    assert adopt_listener({"PATH": "/bin"}, pid=PID, clear=environment.clear) is None
    assert not environment.is_cleared


def test_descriptors_for_another_process_are_not_touched_and_the_variables_cleared(path: Path) -> None:
    with listening(path) as sock:
        environment = Environment(LISTEN_PID="1", LISTEN_FDS="1")
        sock.set_inheritable(True)
        assert environment.adopt(sock.fileno()) is None
        assert environment.is_cleared
        assert os.get_inheritable(sock.fileno())


def test_of_several_sockets_the_named_one_is_taken_and_the_others_closed(path: Path) -> None:
    first_fd = in_a_row([listening(path.with_name("metrics")), listening(path)])
    environment = Environment(LISTEN_FDS="2", LISTEN_FDNAMES="metrics.socket:recalld.socket")
    bound = environment.adopt(first_fd)
    assert bound is not None
    assert bound.path == str(path)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(first_fd)
    bound.close()


@pytest.mark.parametrize("names", ["", "a:b", "recalld.socket:recalld.socket"])
def test_several_sockets_without_one_name_are_refused(path: Path, names: str) -> None:
    first_fd = in_a_row([listening(path), listening(path.with_name("t"))])
    assert "recalld.socket" in Environment(LISTEN_FDS="2", LISTEN_FDNAMES=names).refusal(first_fd)
    os.closerange(first_fd, first_fd + 2)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNIX])
def test_a_tcp_or_a_datagram_socket_is_refused_by_its_kind(family: int) -> None:
    kind = socket.SOCK_STREAM if family == socket.AF_INET else socket.SOCK_DGRAM
    message = Environment(LISTEN_FDS="1").refusal(in_a_row([socket.socket(family, kind)]))
    assert ("AF_INET" if family == socket.AF_INET else "SOCK_DGRAM") in message


def test_a_socket_that_does_not_listen_is_refused() -> None:
    one, other = socket.socketpair()
    with other:
        Environment(LISTEN_FDS="1").refusal(in_a_row([one]))


def test_a_file_is_refused(tmp_path: Path) -> None:
    fd = os.open(tmp_path / "f", os.O_CREAT | os.O_RDWR)
    assert "no socket" in Environment(LISTEN_FDS="1").refusal(fd)
    os.close(fd)


def test_a_descriptor_that_is_not_open_is_refused() -> None:
    assert "999" in Environment(LISTEN_FDS="1").refusal(999)


@pytest.mark.parametrize("count", ["", "-1", "one", "1e3", "٣", "65"])
def test_a_count_that_systemd_would_not_set_is_refused(count: str) -> None:
    assert "LISTEN_FDS" in Environment(LISTEN_FDS=count).refusal(200)


def test_a_count_of_zero_means_nothing_passed() -> None:
    environment = Environment(LISTEN_FDS="0")
    assert environment.adopt(200) is None
    assert environment.is_cleared
