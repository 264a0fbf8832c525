"""What is required of every gate: errors are counted with the real models, all else in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest
from daemon_process import find_models
from virtual_time import VIRTUAL_BACKENDS, BackendAndOptions

from recalld.daemon.config import Settings
from recalld.daemon.config.settings import ModelsSettings, ServerSettings, StorageSettings
from recalld.daemon.evaluation.bench import BenchSettings, bench_settings
from recalld.daemon.evaluation.meter import Meter
from recalld.daemon.own_calibration.models import load_pair_models


@pytest.fixture(params=VIRTUAL_BACKENDS)
def anyio_backend(request: pytest.FixtureRequest) -> BackendAndOptions:
    return VIRTUAL_BACKENDS[request.param]()


@pytest.fixture(scope="session")
def shipped_settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """As installed, with nothing calibrated."""
    empty = tmp_path_factory.mktemp("required")
    return Settings(
        server=ServerSettings(socket_path=empty / "s.sock"),
        storage=StorageSettings(data_dir=empty),
        models=ModelsSettings(dir=find_models()),
    )


@pytest.fixture(scope="session")
def shipped(shipped_settings: Settings) -> BenchSettings:
    return bench_settings(shipped_settings)


@pytest.fixture(scope="session")
def meter(shipped_settings: Settings) -> Meter:
    return Meter(load_pair_models(shipped_settings.models))


@pytest.fixture(scope="session")
def plain_turns() -> Path:
    return Path(__file__).with_name("plain_turns.jsonl")
