"""The turns of one user that wait for a model, from one look to the next."""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import msgspec

from recalld.actors.admission.writing import answered_by_store
from recalld.actors.extraction.dependencies import ExtractionDependencies
from recalld.actors.extraction.reading import READ_MAX, BatchReader
from recalld.actors.store import ask_store
from recalld.models.domain.extraction import FailedTurn, PendingTurn, SettlePending
from recalld.models.policy.debounce import (
    DebounceCode,
    NextStep,
    WaitingTurn,
    after_failure,
    cooled_until,
    next_step,
)

RETRIED = 1
"""Turns set aside that are tried again after each answer that could be read."""
STORE_S = 10.0
"""Seconds a note about turns may wait behind other writes."""


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at the queue came to.

    Attributes:
        code: See `DebounceCode`; None: nothing waits.
        look_at_ms: When to look again, on the queue's axis, unless a turn comes before.
    """

    code: DebounceCode | None
    look_at_ms: int


class UserQueue:
    """Looks at what waits and has it read. One look at a time.

    What waits is in the store; here is only when it came by the monotonic clock, so that a wall clock that is set
    neither hurries nor delays anything, and what pauses. Both may be lost.

    Args:
        user: Whose turns.
        deps: What all queues share.
        calls: Bounds the calls of all users.
    """

    def __init__(self, user: str, deps: ExtractionDependencies, calls: anyio.CapacityLimiter) -> None:
        self._user = user
        self._deps = deps
        self._calls = calls
        self._reader = BatchReader(user, deps)
        self._added_ms: dict[int, int] = {}
        self._paused_until_ms: dict[int, int] = {}
        self._cool_until_ms = self.now_ms()
        self._look_at_ms: int | None = None

    def now_ms(self) -> int:
        """The present on the queue's axis."""
        return round(1000 * self._deps.clock.monotonic_s())

    @property
    def is_cool(self) -> bool:
        """Whether the cooldown after the last call is over, so that nothing about the user need be remembered."""
        return self._cool_until_ms <= self.now_ms()

    async def look(self, *, is_forced: bool = False) -> Look:
        """Read a batch if one is due, else say when to look again.

        Raises:
            RecalldError: The store cannot be read or written. Nothing is lost; look again later.
        """
        pending = await self._deps.reader.pending_turns(self._user, limit=READ_MAX)
        step = next_step(
            self._on_axis(pending),
            self._deps.rules,
            now_ms=self.now_ms(),
            cool_until_ms=self._cool_until_ms,
            is_forced=is_forced,
        )
        if step.expired:
            self._count(DebounceCode.EXPIRED, len(step.expired))
            await self._settle(SettlePending(user=self._user, expired=step.expired))
        if step.batch:
            return await self._read(step.batch, pending)
        return self._wait(step)

    def _wait(self, step: NextStep) -> Look:
        """Note why nothing is read now: once for each time that it is put off."""
        if step.waits_for is None or step.look_at_ms is None:
            self._look_at_ms = None
            return Look(code=None, look_at_ms=self._cool_until_ms)
        if step.look_at_ms != self._look_at_ms:
            is_first = self._look_at_ms is None and step.waits_for is DebounceCode.SUPERSEDED
            if not is_first:  # the first wait for quiet supersedes nothing
                self._count(step.waits_for)
        self._look_at_ms = step.look_at_ms
        return Look(code=step.waits_for, look_at_ms=step.look_at_ms)

    async def _read(self, batch: Sequence[WaitingTurn], pending: Sequence[PendingTurn]) -> Look:
        numbers = tuple(each.number for each in batch)
        if not self._deps.source.is_available(self._user):
            self._fail(after_failure(batch, self._deps.rules, now_ms=self.now_ms(), is_sources_fault=True).turns)
            return Look(code=DebounceCode.COOLED, look_at_ms=self.now_ms() + self._deps.rules.pause_ms)
        self._look_at_ms = None
        async with self._calls:
            outcome = await self._reader.read([each for each in pending if each.number in numbers])
        now_ms = self.now_ms()
        self._cool_until_ms = cooled_until(now_ms, self._deps.rules)
        if outcome.is_read:
            code = DebounceCode.READ if outcome.facts else DebounceCode.EMPTY
            # Only what was read: a turn that came meanwhile has another number and stays. The source works, so one of
            # those set aside is tried again: what was no fault of the turn is read after all, and what is costs one
            # call for each answer, until the turn has waited as long as any is kept.
            await self._settle(SettlePending(user=self._user, read=numbers, retried=RETRIED))
        else:
            code = DebounceCode.ERROR
            failed = after_failure(batch, self._deps.rules, now_ms=now_ms, is_sources_fault=outcome.is_sources_fault)
            self._fail(failed.turns)
            await self._settle(
                SettlePending(
                    user=self._user,
                    failed=tuple(
                        FailedTurn(number=each.number, group=each.group, failures=each.failures)
                        for each in failed.turns
                    ),
                    set_aside=() if failed.set_aside is None else (failed.set_aside,),
                )
            )
        self._count(code)
        return Look(code=code, look_at_ms=now_ms)

    def _fail(self, turns: Sequence[WaitingTurn]) -> None:
        self._paused_until_ms |= {each.number: each.paused_until_ms for each in turns}

    async def _settle(self, command: SettlePending) -> None:
        deadline_s = self._deps.clock.monotonic_s() + STORE_S
        await answered_by_store(ask_store(self._deps.store, command, deadline_s=deadline_s))

    def _on_axis(self, pending: Sequence[PendingTurn]) -> list[WaitingTurn]:
        """The turns as the rules see them; what is no longer there is forgotten here."""
        now_ms, wall_ms = self.now_ms(), self._deps.clock.now_ms()
        self._added_ms = {
            turn.number: self._added_ms.get(turn.number, now_ms - max(0, wall_ms - turn.added_at_ms))
            for turn in pending
        }
        self._paused_until_ms = {
            number: until_ms for number, until_ms in self._paused_until_ms.items() if number in self._added_ms
        }
        return [
            WaitingTurn(
                number=turn.number,
                added_ms=self._added_ms[turn.number],
                chars=len(turn.text),
                group=turn.group,
                failures=turn.failures,
                paused_until_ms=self._paused_until_ms.get(turn.number, self._added_ms[turn.number]),
            )
            for turn in pending
        ]

    def _count(self, code: DebounceCode, count: int = 1) -> None:
        self._deps.counters[f"extraction_{code}"] += count
