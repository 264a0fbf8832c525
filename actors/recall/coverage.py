"""What a recall could see: `discovered = searched + Σ skipped`, always; what limited it, and how fresh the index was.

Counted from the index in memory where it is up to date, else in the store, and only if there is time: nothing but
numbers in the answer hangs on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import anyio
import msgspec

from recalld.actors.ports import Clock, MemoryReader
from recalld.actors.recall.index import UserIndex
from recalld.models.domain.reasons import DropReason
from recalld.models.domain.recall import Coverage, DroppedItem, GateReport, RecallLimit, RecallQuery
from recalld.models.domain.records import Memory
from recalld.models.domain.time_window import TimeWindow
from recalld.models.policy.deadline import count_deadline_s

_BY_PACKING: Mapping[DropReason, RecallLimit] = {
    DropReason.OVER_MAX_ITEMS: RecallLimit.MAX_ITEMS,
    DropReason.OVER_MAX_CHARS: RecallLimit.MAX_CHARS,
}


class CoverageCounter:
    """Counts for one user.

    Args:
        user: Whose memories.
        reader: Counts where there is no index.
        clock: Time.
    """

    def __init__(self, user: str, reader: MemoryReader, clock: Clock) -> None:
        self._user = user
        self._reader = reader
        self._clock = clock

    async def count(
        self,
        query: RecallQuery,
        index: UserIndex | None,
        windows: Sequence[TimeWindow],
        *,
        index_seq: int,
        now_ms: int,
    ) -> Coverage | None:
        """What could be searched; None when it could not be counted in time.

        Args:
            query: The request: its scope and its deadline.
            index: The user's index, if it is up to date.
            windows: Only memories in one of them are searched; none given: all.
            index_seq: Where an index that is not up to date stands; 0: none is loaded.
            now_ms: Expired memories do not count.

        Raises:
            RecalldError: `STORAGE_UNAVAILABLE`.
        """
        if index is not None:
            return self._of_index(query, index, windows, now_ms)
        now_s = self._clock.monotonic_s()
        with anyio.move_on_after(count_deadline_s(now_s=now_s, envelope_deadline_s=query.deadline_s) - now_s):
            return await self._of_store(query, windows, index_seq, now_ms)
        return None

    def _of_index(self, query: RecallQuery, index: UserIndex, windows: Sequence[TimeWindow], now_ms: int) -> Coverage:
        counts = index.counts(query.scope, now_ms, windows)
        return Coverage(
            discovered=counts.live,
            searched=counts.searched,
            skipped_wrong_scope=counts.live - counts.in_scope,
            skipped_out_of_interval=counts.in_scope - counts.searched,
            pending_embedding=counts.pending,
            records_without_asks=counts.without_asks,
            index_seq=index.seq,
            is_time_filtered=bool(windows),
            store_seq=self._reader.seq(self._user),
        )

    async def _of_store(
        self, query: RecallQuery, windows: Sequence[TimeWindow], index_seq: int, now_ms: int
    ) -> Coverage:
        reader, user = self._reader, self._user
        everything = in_scope = searched = await reader.counts(user, "", now_ms=now_ms)
        if query.scope is not None:
            in_scope = searched = await reader.counts(user, "", now_ms=now_ms, scope=query.scope)
        if windows:
            searched = await reader.counts(user, "", now_ms=now_ms, scope=query.scope, windows=windows)
        # Between two counts a memory may come or go; what is skipped is what the last two differ by, never less than 0.
        in_scope_live = min(in_scope.live, everything.live)
        searched_live = min(searched.live, in_scope_live)
        return Coverage(
            discovered=everything.live,
            searched=searched_live,
            skipped_wrong_scope=everything.live - in_scope_live,
            skipped_out_of_interval=in_scope_live - searched_live,
            records_without_asks=searched.records_without_asks,
            index_seq=index_seq,
            is_time_filtered=bool(windows),
            store_seq=reader.seq(user),
        )


def without_unreadable(coverage: Coverage, nominated: Iterable[str], memories: Mapping[str, Memory]) -> Coverage:
    """The coverage, with what was nominated but could not be read counted as skipped."""
    unreadable = min(len(set(nominated) - memories.keys()), coverage.searched)
    return msgspec.structs.replace(coverage, searched=coverage.searched - unreadable, skipped_unreadable=unreadable)


def limited_by(
    found: Sequence[RecallLimit], *, report: GateReport, packed: Sequence[DroppedItem]
) -> tuple[RecallLimit, ...]:
    """Every limit beyond which this recall may have found more, in the order of its steps.

    Args:
        found: Limits that the search itself met.
        report: What the gate did; what it left unjudged it left for want of time, or of candidates allowed.
        packed: What did not fit.
    """
    limits = list(found)
    if report.beyond_count:
        limits.append(RecallLimit.CANDIDATES_MAX)
    if report.dropped_by_budget > report.beyond_count:
        limits.append(RecallLimit.BUDGET)
    limits += dict.fromkeys(_BY_PACKING[item.reason] for item in packed)
    return tuple(limits)
