from __future__ import annotations

import pytest
from virtual_time import VIRTUAL_BACKENDS, BackendAndOptions


@pytest.fixture(params=VIRTUAL_BACKENDS)
def anyio_backend(request: pytest.FixtureRequest) -> BackendAndOptions:
    return VIRTUAL_BACKENDS[request.param]()
