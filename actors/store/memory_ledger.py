"""The ledger of the in-memory store, with its counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from recalld.actors.store.ledger_tallies import tallies_of
from recalld.models.domain.ledger_tally import HOUR_MS, LedgerTallies, LedgerTally, TallyFamily, hour_of
from recalld.models.domain.store import DecisionRow

_What = tuple[TallyFamily, tuple[str, ...]]


class _Hour(msgspec.Struct, frozen=True):
    """Whose count, and of which hour since the Unix epoch."""

    hour: int
    user: str


class _Sum(msgspec.Struct, frozen=True):
    count: int = 0
    total: float = 0.0

    def plus(self, count: int, total: float) -> _Sum:
        return _Sum(self.count + count, self.total + total)


class LedgerCounts(msgspec.Struct, kw_only=True):
    """What was counted of ledger rows, by hour and user, and all that was ever counted."""

    hours: dict[_Hour, dict[_What, _Sum]] = msgspec.field(default_factory=dict)
    totals: dict[_What, _Sum] = msgspec.field(default_factory=dict)

    def add(self, row: DecisionRow) -> None:
        """Count a row that was just written."""
        sums = self.hours.setdefault(_Hour(hour_of(row.at_ms), row.user), {})
        for each in tallies_of(row):
            _add(sums, (each.family, each.key), each.count, each.total)
            _add(self.totals, (each.family, each.key), each.count, each.total)

    def trim(self, before_ms: int) -> None:
        """Drop the counts of hours that are no longer whole in the ledger."""
        first_whole = -(-before_ms // HOUR_MS)
        self.hours = {key: sums for key, sums in self.hours.items() if key.hour >= first_whole}

    def drop_user(self, user: str) -> None:
        """Drop the counts of a user who goes; the totals are nobody's."""
        self.hours = {key: sums for key, sums in self.hours.items() if key.user != user}

    def copied(self) -> LedgerCounts:
        """A copy that changes on its own."""
        return LedgerCounts(hours={key: dict(sums) for key, sums in self.hours.items()}, totals=dict(self.totals))

    def read(
        self, decisions: Iterable[DecisionRow], user: str | None, *, since_ms: int | None, now_ms: int
    ) -> LedgerTallies:
        """The counts since a time; see `MemoryReader.ledger_tallies`."""
        hour = min((each.hour for each in self.hours), default=hour_of(now_ms))
        if since_ms is not None:
            hour = max(hour, hour_of(since_ms))
        found = self.totals if since_ms is None and user is None else self._sums(hour, user)
        rows = [each for each in decisions if each.at_ms >= hour * HOUR_MS and user in (None, each.user)]
        return LedgerTallies(
            since_ms=hour * HOUR_MS,
            until_ms=now_ms,
            tallies=tuple(
                LedgerTally(family=family, key=key, count=each.count, total=each.total)
                for (family, key), each in found.items()
            ),
            rows=None if since_ms is None else dict(Counter(each.op.value for each in rows)),
        )

    def _sums(self, hour: int, user: str | None) -> dict[_What, _Sum]:
        found: dict[_What, _Sum] = {}
        for key, sums in self.hours.items():
            if key.hour >= hour and user in (None, key.user):
                for what, each in sums.items():
                    _add(found, what, each.count, each.total)
        return found


def _add(sums: dict[_What, _Sum], what: _What, count: int, total: float) -> None:
    sums[what] = sums.get(what, _Sum()).plus(count, total)
