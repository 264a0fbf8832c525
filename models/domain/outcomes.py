"""What became of what was shown: outcomes that a runtime reports by the id of a decision."""

from __future__ import annotations

import enum
from typing import assert_never

import msgspec

OUTCOMES_MAX = 20_000
"""Outcomes kept per user; the oldest make room. Years of a person's reports, and counted in milliseconds."""


class OutcomeResult(enum.StrEnum):
    """What a memory did for a turn, as the runtime saw it."""

    USED = "used"
    """The answer rested on it: without it the turn would have gone wrong."""
    IGNORED = "ignored"
    """It was there and made no difference."""
    HARMFUL = "harmful"
    """It led the turn astray."""
    MISSED = "missed"
    """It was not shown, and the turn went wrong for want of it."""


class OutcomeReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a runtime reports.

    Attributes:
        user: Whose decision it was.
        decision_id: The recall or standing block (or other decision) that is reported on.
        memory_id: The memory that is meant; empty for the decision as a whole.
        result: What became of it.
        at_ms: When, in Unix epoch milliseconds, as the runtime says.
        deadline_s: When to give up, on the monotonic clock.
    """

    user: str
    decision_id: str
    memory_id: str = ""
    result: OutcomeResult
    at_ms: int
    deadline_s: float


class OutcomeTally(msgspec.Struct, frozen=True, kw_only=True):
    """How often each result was reported."""

    used: int = 0
    ignored: int = 0
    harmful: int = 0
    missed: int = 0

    def plus(self, result: OutcomeResult, count: int = 1) -> OutcomeTally:
        """The tally with more reports of one result."""
        match result:
            case OutcomeResult.USED:
                return msgspec.structs.replace(self, used=self.used + count)
            case OutcomeResult.IGNORED:
                return msgspec.structs.replace(self, ignored=self.ignored + count)
            case OutcomeResult.HARMFUL:
                return msgspec.structs.replace(self, harmful=self.harmful + count)
            case OutcomeResult.MISSED:
                return msgspec.structs.replace(self, missed=self.missed + count)
            case _:
                assert_never(result)


class ReportedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One report as it is kept. `memory_id` is empty for a decision as a whole."""

    decision_id: str
    memory_id: str
    result: OutcomeResult
    at_ms: int


class RecordOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Command: keep a report, once for each decision, memory and result. One transaction."""

    user: str
    decision_id: str
    memory_id: str
    result: OutcomeResult
    at_ms: int
    now_ms: int


class OutcomeRecorded(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a `RecordOutcome`: whether it was new."""

    is_new: bool
