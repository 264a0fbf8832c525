"""How much work one look at a project may be, whatever lies in its files.

A project may hold anything: a lock file of blank lines, a commit with a million parents. Every loop over such content
spends from one allowance of steps and of time, and ends when it is used up, so that no file can keep a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

STEPS_MAX: Final = 100_000
"""Lines, entries and commits that one look goes through."""
TIME_MAX_S: Final = 1.0
"""Seconds that one look takes at most."""
_STEPS_BETWEEN_TIMES: Final = 64
"""Looking at the clock costs about as much as a step."""


class EffortSpentError(Exception):
    """The look has taken all it may, and has to end without an answer."""


class Effort:
    """The allowance of one look.

    Args:
        clock_s: Tells the time, in seconds that only grow.
        steps_max: Steps at most.
        time_max_s: Seconds at most, from now on.
    """

    def __init__(
        self, clock_s: Callable[[], float], *, steps_max: int = STEPS_MAX, time_max_s: float = TIME_MAX_S
    ) -> None:
        self._clock_s = clock_s
        self._steps_max = steps_max
        self._until_s = clock_s() + time_max_s
        self.steps = 0

    def spend(self, steps: int = 1) -> None:
        """Take so many steps.

        Raises:
            EffortSpentError: There are no steps, or there is no time, left.
        """
        before = self.steps
        self.steps += steps
        if self.steps > self._steps_max:
            raise EffortSpentError
        is_time_due = before // _STEPS_BETWEEN_TIMES != self.steps // _STEPS_BETWEEN_TIMES
        if is_time_due and self._clock_s() >= self._until_s:
            raise EffortSpentError


def lines_of(content: bytes, effort: Effort, *, line_bytes_max: int) -> Iterator[str]:
    """The lines of a file, one step each, without their ends; of a longer line its beginning.

    Args:
        content: All of the file.
        effort: Spent from.
        line_bytes_max: Bytes of a line that are given.

    Raises:
        EffortSpentError: There are more lines than may be read.
    """
    for start, past in line_spans(content, effort):
        yield content[start : min(past, start + line_bytes_max)].decode("utf-8", "replace").rstrip("\r\n")


def line_spans(content: bytes, effort: Effort) -> Iterator[tuple[int, int]]:
    """Where each line starts and where it ends, behind its line feed; one step each.

    Args:
        content: All of the file.
        effort: Spent from.

    Raises:
        EffortSpentError: There are more lines than may be read.
    """
    start = 0
    while start < len(content):
        effort.spend()
        past = content.find(b"\n", start) + 1 or len(content)
        yield start, past
        start = past
