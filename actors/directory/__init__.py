"""Activation, passivation and the LRU bound of per-user actors."""

from recalld.actors.directory.directory import Directory, UserActors
from recalld.actors.directory.residents import ResidencyLimits, Resident, who_leaves

__all__ = ["Directory", "ResidencyLimits", "Resident", "UserActors", "who_leaves"]
