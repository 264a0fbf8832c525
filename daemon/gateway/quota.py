"""How much each peer uid, and all of them together, may hold at once."""

from __future__ import annotations

import collections
import contextlib
from collections.abc import Iterator


class Quota:
    """Counts what each uid holds, with a bound for one uid and, optionally, one for all, of which a part is kept.

    Args:
        per_uid_max: The most that one uid may hold.
        total_max: The most that all may hold together; None: no bound of its own.
        kept: Of the total, how many are kept for `trusted`.
        trusted: Uids that may hold as many as there are: who could stop the service anyway.
    """

    def __init__(
        self,
        *,
        per_uid_max: int,
        total_max: int | None = None,
        kept: int = 0,
        trusted: frozenset[int] = frozenset(),
    ) -> None:
        self._per_uid_max = per_uid_max
        self._total_max = total_max
        self._kept = kept
        self._trusted = trusted
        self._held: collections.Counter[int] = collections.Counter()

    @property
    def total(self) -> int:
        """What all hold together."""
        return self._held.total()

    def try_take(self, uid: int) -> bool:
        """Take one for a uid, unless a bound is reached. Never waits."""
        is_trusted = uid in self._trusted
        if not is_trusted and self._held[uid] >= self._per_uid_max:
            return False
        if self._total_max is not None and self.total >= self._total_max - (0 if is_trusted else self._kept):
            return False
        self._held[uid] += 1
        return True

    def give_back(self, uid: int) -> None:
        """Give back one that was taken."""
        self._held[uid] -= 1
        if not self._held[uid]:
            del self._held[uid]  # uids come and go; the table must not grow with them

    @contextlib.contextmanager
    def holding(self, uid: int) -> Iterator[None]:
        """Give back, at the end, one that `try_take` took."""
        try:
            yield
        finally:
            self.give_back(uid)
