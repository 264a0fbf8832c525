"""The counts of a window, by family, and shares of them."""

from __future__ import annotations

from collections.abc import Iterable

from recalld.models.calibration.intervals import wilson
from recalld.models.domain.ledger_report import Share
from recalld.models.domain.ledger_tally import Amount, LedgerTallies, LedgerTally, Step, TallyFamily


class TallyIndex:
    """Looks counts up by what they count.

    Args:
        tallies: The counts of a window.
    """

    def __init__(self, tallies: LedgerTallies) -> None:
        self._families: dict[TallyFamily, list[LedgerTally]] = {family: [] for family in TallyFamily}
        for each in tallies.tallies:
            self._families[each.family].append(each)

    def of(self, family: TallyFamily) -> tuple[LedgerTally, ...]:
        """All counts of a family, the largest first; those of one size by their keys."""
        return tuple(sorted(self._families[family], key=lambda each: (-each.count, each.key)))

    def count(self, family: TallyFamily, *key: str | None) -> int:
        """How many have this key; None stands for anything in its place, as does what is left out at the end."""
        return sum(each.count for each in self._families[family] if _matches(each.key, key))

    def amount(self, name: Amount) -> float:
        """The sum of a quantity."""
        return sum(each.total for each in self._families[TallyFamily.AMOUNT] if each.key == (name.value,))

    def decisions_with(self, name: Amount) -> int:
        """In how many decisions there was anything of a quantity."""
        return self.count(TallyFamily.AMOUNT, name.value)

    def histogram(self, step: Step) -> dict[int, int]:
        """How many times of a step lie in each bucket."""
        return {int(each.key[1]): each.count for each in self._families[TallyFamily.TIME] if each.key[0] == step.value}

    def time_ms(self, step: Step) -> float:
        """All the time that a step took."""
        return sum(each.total for each in self._families[TallyFamily.TIME] if each.key[0] == step.value)


def share(k: int, n: int) -> Share:
    """`k` of `n` with its interval.

    More of something than there is of all of it says that counts are missing; the share is then of what was seen.
    """
    of_all = wilson(k, max(k, n))
    return Share(k=k, n=max(k, n), rate=of_all.value, low=of_all.low, high=of_all.high)


def total(tallies: Iterable[LedgerTally]) -> int:
    """How many they are together."""
    return sum(each.count for each in tallies)


def _matches(key: tuple[str, ...], wanted: tuple[str | None, ...]) -> bool:
    return all(part is None or part == mine for mine, part in zip(key, wanted, strict=False))
