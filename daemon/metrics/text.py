"""Metric families as text."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector


class _Given(Collector):
    """A collector of families that are there already."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = tuple(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


def exposition(families: Iterable[Metric]) -> bytes:
    """The families in the text format, version 0.0.4."""
    registry = CollectorRegistry()
    registry.register(_Given(families))
    return generate_latest(registry)
