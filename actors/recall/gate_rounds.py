"""The pairs of one recall that the gate has had scored so far, over as many rounds as there was time for.

A round asks the scorer for what is predicted to fit. Remembered scores come back at once, and predictions are often too
careful: then another round begins, with what is known left out, until nothing is left or nothing more fits.
"""

from __future__ import annotations

from collections.abc import Sequence

from recalld.actors.scorer import PairsScored
from recalld.actors.supervisor import GateTrouble
from recalld.models.domain.reasons import DegradedReason
from recalld.models.policy.gate_plan import PairName, PlannedPair
from recalld.models.policy.views import ViewName

_ENDS_A_ROUND = frozenset(
    {DegradedReason.SUB_BUDGET_EXCEEDED, DegradedReason.QUEUE_FULL, DegradedReason.SCORER_UNAVAILABLE}
)
"""What may befall a later round without spoiling the earlier ones. A failed score does: then it is not trusted."""


class GateRounds:
    """Collects the answers of the scorer."""

    def __init__(self) -> None:
        self.pairs_scored = 0
        self.pairs_cached = 0
        self.queue_ms = 0.0
        self._pairs: list[PlannedPair] = []
        self._logits: list[float | None] = []

    @property
    def is_first(self) -> bool:
        """Whether nothing has been asked for yet."""
        return not self._pairs

    @property
    def known(self) -> frozenset[PairName]:
        """The pairs that were asked for."""
        return frozenset(pair.name for pair in self._pairs)

    @property
    def memory_ids(self) -> list[str]:
        """The memory of each pair, in the order of asking."""
        return [pair.memory_id for pair in self._pairs]

    @property
    def views(self) -> list[ViewName]:
        """How each pair was put, in the same order."""
        return [pair.view.name for pair in self._pairs]

    @property
    def logits(self) -> list[float | None]:
        """The logit of each pair, in the same order; None where it was not scored in time."""
        return self._logits

    def add(self, asked: Sequence[PlannedPair], answer: PairsScored) -> bool:
        """Take the answer of a round; whether there may be time for another one."""
        if self.is_first:
            self.queue_ms = answer.queue_ms
        self.pairs_scored += answer.pairs_scored
        self.pairs_cached += answer.pairs_cached
        self._pairs += asked
        self._logits += answer.logits
        return len(asked) == len(answer.logits) and None not in answer.logits

    def survives(self, trouble: GateTrouble) -> bool:
        """Whether what is there may be judged although this round failed."""
        return not self.is_first and trouble.reason in _ENDS_A_ROUND
