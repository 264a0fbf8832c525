"""Drift reports of users, from the ledger as it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from recalld.actors.ports import Clock, MemoryReader
from recalld.actors.text_work import TextWork
from recalld.models.domain.drift import DriftReport
from recalld.models.domain.reserved import is_reserved_user
from recalld.models.policy.drift.watch import DriftContext, DriftRules, watch

USERS_MAX: Final = 64
"""Users looked at in one go; those who decided last come first."""
LATELY_MS: Final = 86_400_000
"""Users without a decision for so long have nothing new to look at."""
_CHARS_PER_SAMPLE: Final = 32
"""Looking at one decision costs about as much as reading so many characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DriftDesk:
    """Reports on users.

    Attributes:
        reader: The ledger.
        clock: Time.
        text_work: Takes long work off the event loop.
        rules: How much is looked at.
        context: What is known beside the ledger.
    """

    reader: MemoryReader
    clock: Clock
    text_work: TextWork
    rules: DriftRules = field(default_factory=DriftRules)
    context: DriftContext = field(default_factory=DriftContext)

    async def reports(self, user: str | None, *, since_ms: int = 0) -> tuple[DriftReport, ...]:
        """Reports of one user, or (None) of those who decided last; each is read and judged for itself.

        Args:
            user: Whose.
            since_ms: Users without a ledger row since then are left out, Unix epoch milliseconds; not of a named user.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        users = (user,) if user is not None else await self.reader.deciding_users(since_ms=since_ms, limit=USERS_MAX)
        return tuple([await self.report(each) for each in users if not is_reserved_user(each)])

    async def report(self, user: str) -> DriftReport:
        """The report of one user.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        samples = await self.reader.decision_samples(user, limit=self.rules.rows_max)
        # Sorting some thousand scores is as much work as reading a long text.
        return await self.text_work.run(
            lambda: watch(user, samples, self.rules, self.context), chars=_CHARS_PER_SAMPLE * len(samples)
        )

    async def lately(self) -> tuple[DriftReport, ...]:
        """Reports of all users with a decision within a day."""
        return await self.reports(None, since_ms=self.clock.now_ms() - LATELY_MS)
