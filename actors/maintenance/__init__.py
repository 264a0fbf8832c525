"""Expiry, embedding backfill, checkpoints."""

from recalld.actors.maintenance.actor import MaintenanceActor, Upkeep
from recalld.actors.maintenance.messages import EmbedPending, MaintenanceMessage, Tick

__all__ = ["EmbedPending", "MaintenanceActor", "MaintenanceMessage", "Tick", "Upkeep"]
