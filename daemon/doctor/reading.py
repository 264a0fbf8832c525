"""The database as its files show it, read once for all checks."""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path

import anyio

from recalld.actors.ports import Clock
from recalld.daemon.config import Settings
from recalld.daemon.storage.files import database_path
from recalld.daemon.storage.health import inspect_database
from recalld.models.domain.store import StoreHealth, vector_bytes_of
from recalld.models.inference.manifest import MODELS
from recalld.models.inference.model_keys import embedder_key_for


class DatabaseReading:
    """Reads the database through a connection that cannot write, when the first check asks.

    Args:
        settings: Where it is, and which embedder is configured.
        clock: What has expired is not live.
    """

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock

    @property
    def path(self) -> Path:
        """The database file."""
        return database_path(self._settings.storage.data_dir)

    @property
    def embedder_key(self) -> str:
        """Key of the vectors that the configured embedder makes."""
        spec = MODELS[self._settings.models.embedder]
        return embedder_key_for(
            spec.model.sha256, spec.tokenizer.sha256, dims=spec.dims, query_prefix=spec.query_prefix
        )

    @cached_property
    def health(self) -> StoreHealth:
        """What it holds; an unreadable database is a result, too."""
        vector_bytes = vector_bytes_of(MODELS[self._settings.models.embedder].dims)
        return anyio.run(
            partial(
                inspect_database,
                self.path,
                self.embedder_key,
                now_ms=self._clock.now_ms(),
                vector_bytes=vector_bytes,
            )
        )
