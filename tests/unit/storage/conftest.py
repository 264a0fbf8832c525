from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from virtual_time import VIRTUAL_BACKENDS, BackendAndOptions


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    """An empty database in memory, in autocommit mode."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        yield connection


@pytest.fixture(params=VIRTUAL_BACKENDS)
def anyio_backend(request: pytest.FixtureRequest) -> BackendAndOptions:
    return VIRTUAL_BACKENDS[request.param]()
