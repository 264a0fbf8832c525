"""Gateways on sockets of their own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import pytest
from gateway_harness import Running, StartGateway, run_gateway

from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.peer import AccessPolicy


@pytest.fixture(params=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    return "asyncio", {"use_uvloop": request.param == "uvloop"}


@pytest.fixture
def socket_path() -> Iterator[Path]:
    """A path that is short wherever pytest keeps its temporary files."""
    with tempfile.TemporaryDirectory(prefix="recalld-") as directory:
        yield Path(directory) / "s"


@pytest.fixture
def start(socket_path: Path) -> StartGateway:
    """Start a gateway; keyword arguments but `policy` are limits."""

    def start_gateway(
        *, policy: AccessPolicy | None = None, **limits: float | None
    ) -> AbstractAsyncContextManager[Running]:
        return run_gateway(socket_path, policy=policy, limits=partial(GatewayLimits, **limits)())

    return start_gateway
