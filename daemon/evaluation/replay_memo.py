"""What the judge made of a turn, kept while a conversation is replayed: it costs most, and most gates ask it the same.

Each gate is still charged for all of it, as if it had asked alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from recalld.actors.admission.judging import SentenceJudge
from recalld.daemon.evaluation.meter import Meter
from recalld.models.domain.facts import FactCandidate
from recalld.models.policy.save_turn import SaveTurn


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeMemo:
    """What one judge said of the turns of one conversation, each with the milliseconds that it took.

    Attributes:
        finds: What it found, by the user's own words.
        scores: The log-odds of their segments, likewise.
    """

    finds: dict[str, tuple[tuple[FactCandidate, ...], float]] = field(default_factory=dict)
    scores: dict[str, tuple[tuple[float, ...], float]] = field(default_factory=dict)

    def scores_of(self, text: str, score: Callable[[], tuple[float, ...]], meter: Meter) -> tuple[float, ...]:
        """The scores of a text: run once, counted each time.

        Args:
            text: The user's own words.
            score: Scores them.
            meter: Counts.
        """
        known = self.scores.get(text)
        if known is not None:
            meter.charge(known[1])
            return known[0]
        before_ms = meter.elapsed_ms
        scores = score()
        self.scores[text] = (scores, meter.elapsed_ms - before_ms)
        return scores


class RememberedJudge:
    """A `SentenceJudge` that asks another one once for each text.

    Args:
        judge: The other one.
        memo: Of the conversation.
        meter: Counts.
    """

    def __init__(self, judge: SentenceJudge, memo: JudgeMemo, meter: Meter) -> None:
        self._judge = judge
        self._memo = memo
        self._meter = meter

    async def judge(self, turn: SaveTurn, *, user: str, deadline_s: float) -> tuple[FactCandidate, ...]:
        """See `SentenceJudge.judge`."""
        known = self._memo.finds.get(turn.text)
        if known is not None:
            self._meter.charge(known[1])
            return known[0]
        before_ms = self._meter.elapsed_ms
        found = await self._judge.judge(turn, user=user, deadline_s=deadline_s)
        self._memo.finds[turn.text] = (found, self._meter.elapsed_ms - before_ms)
        return found
