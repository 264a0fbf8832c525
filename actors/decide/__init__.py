"""Gates as a service: requests of `decide`, carried out."""

from recalld.actors.decide.decider import DecideDependencies, Decider

__all__ = ["DecideDependencies", "Decider"]
