"""A store with real files, a context to examine it in, and a health report in which all is well."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import pytest

from recalld.daemon.cli.version import own_version
from recalld.daemon.clock import SystemClock
from recalld.daemon.config import Environment, Overrides, Settings, load_settings
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.reading import DatabaseReading
from recalld.daemon.storage.store import open_store
from recalld.models.domain.reasons import Op
from recalld.models.domain.records import NewMemory
from recalld.models.domain.store import DecisionRow, Remember
from recalld.protocol.client.blocking import Client
from recalld.protocol.items import ModelState, ProbeResult, StoreState
from recalld.protocol.replies import HealthReport

NOW_MS = 1_796_000_000_000


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(variables={}, uid=1000, login="ines", home=tmp_path)


@pytest.fixture
def settings(tmp_path: Path, environment: Environment) -> Settings:
    config = tmp_path / "recalld.toml"
    config.write_text("")
    return load_settings(
        environment,
        Overrides(
            config_path=config,
            socket_path=tmp_path / "run" / "s.sock",
            data_dir=tmp_path / "data",
            model_dir=tmp_path / "models",
        ),
    )


MakeContext = Callable[..., DoctorContext]


@pytest.fixture
def make_context(settings: Settings, environment: Environment) -> MakeContext:
    def make(live: Live | None = None, **changed: object) -> DoctorContext:
        return DoctorContext(
            **{
                "settings": settings,
                "environment": environment,
                "live": live or Live(problem="not running"),
                "connect": lambda: Client(settings.server.socket_path, strict=True),
                "clock": SystemClock(),
                "pid": 4711,
                "pause": lambda _s: None,
                "database": DatabaseReading(settings, SystemClock()),
                **changed,
            }
        )

    return make


@pytest.fixture
def store(settings: Settings) -> Callable[[int], Path]:
    """Make a store with so many memories, and close it again."""

    async def fill(count: int) -> None:
        async with open_store(settings.storage.data_dir, clock=SystemClock()) as opened:
            for number in range(count):
                decision = DecisionRow(
                    id=f"dec_{number}",
                    user="ines",
                    session="",
                    op=Op.REMEMBER,
                    at_ms=NOW_MS,
                    decision="kept",
                    reason="created",
                )
                await opened.writer.remember(
                    Remember(
                        memory=NewMemory(user="ines", text=f"The lamp number {number} stands in hall {number}."),
                        memory_id=f"mem_{number:04}",
                        now_ms=NOW_MS,
                        decision=decision,
                    )
                )

    def make(count: int) -> Path:
        anyio.run(partial(fill, count))
        return settings.storage.data_dir / "recalld.db"

    return make


@pytest.fixture
def healthy() -> HealthReport:
    """A daemon that is well."""
    return HealthReport(
        version=own_version(),
        pid=1,
        uptime_s=100,
        is_draining=False,
        store=StoreState(
            is_readable=True,
            is_writable=True,
            schema_version=1,
            users=1,
            live=3,
            blank=0,
            fts_rows=3,
            fts_matches=True,
            pending_embedding=0,
            other_embedder=0,
            db_bytes=4096,
            wal_bytes=0,
        ),
        scorer=ModelState(state="ready", model_id="ms-marco-minilm-l-12-v2-int8", jobs=4),
        embedder=ModelState(state="ready", model_id="bge-small-en-v1.5-int8", jobs=4),
        breaker="closed",
        gate_mode="on",
        calibration_id="cal-1",
        calibration_matches=True,
        probe=ProbeResult(is_ok=True, relevant=0.98, irrelevant=0.0001, elapsed_ms=21),
        window_s=900,
        window_recalls=40,
        window_degraded={},
        actors_active=1,
        actor_restarts=0,
        queue_depth=0,
        ledger_rows_dropped=0,
        rss_bytes=200 << 20,
        open_fds=19,
    )
