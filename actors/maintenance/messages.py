"""What the maintenance actor is told."""

from __future__ import annotations

import msgspec


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """Time has passed: look whether anything is due."""


class EmbedPending(msgspec.Struct, frozen=True, kw_only=True):
    """Memories may be waiting for vectors: the embedder has become ready, or a save went in without them."""


MaintenanceMessage = Tick | EmbedPending
