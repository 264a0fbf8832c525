from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from recalld.daemon.gateway import accept
from recalld.daemon.gateway.accept import SpareDescriptor, accept_connections, has_headroom
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters

pytestmark = pytest.mark.anyio


class FailingListener:
    """A listener whose `accept` fails as scripted, and then is closed."""

    def __init__(self, *errors: OSError) -> None:
        self._errors = list(errors)
        self.accepts = 0

    def fileno(self) -> int:
        return 99

    def accept(self) -> tuple[socket.socket, str]:
        if not self._errors:
            raise ValueError  # what a closed socket raises
        self.accepts += 1
        raise self._errors.pop(0)


@pytest.fixture(autouse=True)
def always_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ready(_: object) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr(accept.anyio, "wait_readable", ready)


@pytest.fixture
def pair() -> Iterator[socket.socket]:
    one, other = socket.socketpair(socket.AF_UNIX)
    with one, other:
        yield one


async def test_running_out_of_descriptors_neither_ends_the_loop_nor_spins_it() -> None:  # P06
    count = 8
    listener = FailingListener(*(OSError(errno.EMFILE, "too many") for _ in range(2 * count)))
    counters = GatewayCounters()
    began_s = anyio.current_time()
    await accept_connections(listener, lambda _: None, counters)  # type: ignore[arg-type]
    # Each round fails once and sheds once; pauses double from 50 ms to a second.
    assert counters[GatewayCount.ACCEPT_ERRORS] == count
    assert listener.accepts == 2 * count
    assert anyio.current_time() - began_s == pytest.approx(0.05 + 0.1 + 0.2 + 0.4 + 0.8 + 1 + 1 + 1)


async def test_a_client_that_went_away_before_accept_costs_nothing() -> None:
    listener = FailingListener(ConnectionAbortedError(), BlockingIOError())
    counters = GatewayCounters()
    began_s = anyio.current_time()
    await accept_connections(listener, lambda _: None, counters)  # type: ignore[arg-type]
    assert counters[GatewayCount.ACCEPT_ERRORS] == 0
    assert anyio.current_time() == began_s


async def test_an_error_nobody_thought_of_pauses_the_loop_and_does_not_end_it() -> None:
    listener = FailingListener(OSError(errno.EIO, "?"), OSError(errno.EIO, "?"))
    counters = GatewayCounters()
    await accept_connections(listener, lambda _: None, counters)  # type: ignore[arg-type]
    assert counters[GatewayCount.ACCEPT_ERRORS] == 2


async def test_the_spare_descriptor_lets_a_waiting_client_be_closed_when_there_are_none_left(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    path = f"/proc/self/fd/{folder}/s"  # short, wherever pytest keeps its files
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, SpareDescriptor() as spare:
        listener.bind(path)
        listener.listen()
        listener.settimeout(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.connect(path)
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            filler: list[int] = []
            resource.setrlimit(resource.RLIMIT_NOFILE, (client.fileno() + 1, hard))
            try:
                while True:
                    try:
                        filler.append(os.open(os.devnull, os.O_RDONLY))
                    except OSError:
                        break
                with pytest.raises(OSError, match="Too many open files"):
                    listener.accept()
                spare.shed(listener)
                assert client.recv(1) == b""
                with pytest.raises(OSError, match="Too many open files"):
                    os.open(os.devnull, os.O_RDONLY)  # the spare is back
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                for fd in filler:
                    os.close(fd)
    os.close(folder)


async def test_headroom_is_what_the_reserve_leaves_of_the_soft_limit(pair: socket.socket) -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = soft - pair.fileno()
    assert has_headroom(pair, free - 1)
    assert not has_headroom(pair, free)
