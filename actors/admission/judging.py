"""The port of the local judge: whoever reads the sentences of a turn for what no rule states."""

from __future__ import annotations

from typing import Protocol

from recalld.models.domain.facts import FactCandidate
from recalld.models.policy.save_turn import SaveTurn


class SentenceJudge(Protocol):
    """Finds facts in sentences by their embedding."""

    async def judge(self, turn: SaveTurn, *, user: str, deadline_s: float) -> tuple[FactCandidate, ...]:
        """What the user's own words of a turn state, by `deadline_s` (monotonic) at the latest.

        Never raises: where sentences cannot be embedded in time, nothing is found.
        """
        ...


class NoJudge:
    """Finds nothing: the judge is switched off, or there is none."""

    async def judge(
        self,
        turn: SaveTurn,  # noqa: ARG002 - the protocol's
        *,
        user: str,  # noqa: ARG002 - the protocol's
        deadline_s: float,  # noqa: ARG002 - the protocol's
    ) -> tuple[FactCandidate, ...]:
        """Find nothing."""
        return ()
