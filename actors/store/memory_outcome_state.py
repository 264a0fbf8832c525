"""The tables of the in-memory store for what was reported and decided about memories that were shown."""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from recalld.models.domain.outcomes import ReportedOutcome
from recalld.models.domain.standing import StandingChoice


class KeptOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A report and when it came."""

    reported: ReportedOutcome
    recorded_at_ms: int


class KeptChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a person decided about a memory and the standing block, and when."""

    choice: StandingChoice
    at_ms: int


class OutcomeState(msgspec.Struct, kw_only=True):
    """What was reported and decided of one user; reports oldest first."""

    outcomes: list[KeptOutcome] = msgspec.field(default_factory=list)
    choices: dict[str, KeptChoice] = msgspec.field(default_factory=dict)

    def forget(self, memory_id: str) -> None:
        """Drop what is about a memory."""
        self.outcomes = [each for each in self.outcomes if each.reported.memory_id != memory_id]
        self.choices.pop(memory_id, None)

    def forget_orphans(self, decision_ids: Collection[str]) -> None:
        """Drop reports on decisions that are no longer in the ledger."""
        self.outcomes = [each for each in self.outcomes if each.reported.decision_id in decision_ids]
