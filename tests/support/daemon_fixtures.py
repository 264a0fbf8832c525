"""Daemons in directories with short paths, so that their sockets can be bound wherever pytest keeps its files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from daemon_process import DaemonProcess, find_models

MakeDaemon = Callable[..., DaemonProcess]


@pytest.fixture(scope="session")
def models() -> Path:
    return find_models()


@pytest.fixture(scope="module")
def make_daemon() -> Iterator[MakeDaemon]:
    """Make daemons; whatever still runs at the end of the module is killed."""
    made: list[DaemonProcess] = []
    with tempfile.TemporaryDirectory(prefix="recalld-") as scratch:

        def make(*, model_dir: Path | None = None, config: str = "") -> DaemonProcess:
            daemon = DaemonProcess(Path(scratch) / str(len(made)), model_dir=model_dir, config=config)
            made.append(daemon)
            return daemon

        yield make
        for daemon in made:
            daemon.close()
