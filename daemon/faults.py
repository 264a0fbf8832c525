"""Breaking the scorer on purpose, for the demo and for drills. Active only with `debug.fault_injection = true`.

The fault is real: the wrapped scorer hangs or raises inside the scorer's own lane, exactly where a broken model would.
"""

from __future__ import annotations

import threading
from pathlib import Path

from recalld.actors.ports import PairScorer, StopFlag
from recalld.models.domain.errors import ScoreStopped

HANG_FILE = "fault-scorer-hangs"
RAISE_FILE = "fault-scorer-raises"
HANG_S_MAX = 30.0
"""Seconds after which even a forgotten hang lets go."""


class InjectedFaultError(RuntimeError):
    """The scorer was told to fail."""


class BreakableScorer:
    """Hangs while `fault-scorer-hangs` lies in the data directory, and raises while `fault-scorer-raises` does.

    Args:
        scorer: The real one.
        data_dir: Where the fault files are looked for, once per pair.
    """

    def __init__(self, scorer: PairScorer, data_dir: Path) -> None:
        self._scorer = scorer
        self._hangs = data_dir / HANG_FILE
        self._raises = data_dir / RAISE_FILE

    @property
    def model_key(self) -> str:
        """As the real one."""
        return self._scorer.model_key

    def count_tokens(self, query: str, memory: str) -> int:
        """As the real one."""
        return self._scorer.count_tokens(query, memory)

    def score(self, query: str, memory: str, stop: StopFlag) -> float:
        """Fail as told, or score."""
        if self._raises.exists():
            message = f"{self._raises.name} lies in the data directory"
            raise InjectedFaultError(message)
        if self._hangs.exists():
            released = threading.Event()
            stop.on_set(released.set)
            released.wait(HANG_S_MAX)
            raise ScoreStopped
        return self._scorer.score(query, memory, stop)
