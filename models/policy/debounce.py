"""When a model is asked about turns that wait for it, and about which of them.

Guards: a language model's time, and turns against being forgotten while they wait for it. Cost: a walk over the turns
that wait. Fails: towards waiting. A turn leaves the queue in three ways only: a model has read it, it has failed alone
often enough to be set aside, or it waited longer than it is kept; each is counted.

A burst is read once, a quiet period after its last turn, or when the first of it has waited long enough, or when
enough has gathered. A cooldown puts off and never drops. A batch that failed is tried again as it was, without what
came meanwhile; after some failures it is halved, down to single turns. So one turn that no model can read costs a
bounded number of calls and holds nobody up. What was set aside is tried again, one turn after each answer that could
be read: a source that was out of order has lost nothing once it works.

All moments are milliseconds on one monotonic axis of the caller's choice.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Final

import msgspec

_DOUBLINGS_MAX: Final = 30
"""Beyond, the longest wait holds anyway, and powers of two would only grow."""


class DebounceCode(enum.StrEnum):
    """How one look at the queue, or one call of the model, ended. No two of these mean the same."""

    READ = "read"
    """The model read the batch and found something."""
    EMPTY = "empty"
    """The model read the batch and found nothing worth keeping: a normal answer."""
    SUPERSEDED = "superseded"
    """A newer turn came within the quiet period, which starts again from it."""
    COOLED = "cooled"
    """The batch is due, and waits for the end of the cooldown or of a pause after a failure."""
    EXPIRED = "expired"
    """Turns waited longer than they are kept, and were let go unread."""
    ERROR = "error"
    """The call failed; the batch stays."""


class DebounceRules(msgspec.Struct, frozen=True, kw_only=True):
    """When, and how much at a time.

    Attributes:
        quiet_ms: After the last turn nothing must come for so long.
        wait_max_ms: However much comes, the first turn waits no longer than this.
        gathered_min: So many turns are read without waiting for quiet.
        batch_max: Turns of one call.
        batch_chars_max: Characters of one call; a longer turn goes alone.
        cooldown_ms: Between the ends of two calls.
        tries_max: Failures of one batch after which it is halved, or set aside when it is a single turn.
        pause_ms: After a batch's first failure it waits so long; the wait doubles with each further one.
        pause_max_ms: The longest such wait.
        keep_ms: Turns that have waited longer are let go.
    """

    quiet_ms: int = 30_000
    wait_max_ms: int = 300_000
    gathered_min: int = 6
    batch_max: int = 12
    batch_chars_max: int = 24_000
    cooldown_ms: int = 60_000
    tries_max: int = 3
    pause_ms: int = 30_000
    pause_max_ms: int = 3_600_000
    keep_ms: int = 30 * 86_400_000


class WaitingTurn(msgspec.Struct, frozen=True, kw_only=True):
    """One turn that no model has read yet.

    Attributes:
        number: Its place in the order of arrival; unique and rising.
        added_ms: When it came.
        chars: Its length.
        group: Number of the first turn of the failed batch it belongs to; 0: it has not failed.
        failures: How often that batch failed.
        paused_until_ms: It is not tried before.
    """

    number: int
    added_ms: int
    chars: int
    group: int = 0
    failures: int = 0
    paused_until_ms: int = 0


class NextStep(msgspec.Struct, frozen=True, kw_only=True):
    """What to do now.

    Attributes:
        batch: Turns to read now, in order of arrival; empty: none.
        expired: Numbers of turns to let go.
        waits_for: Why nothing is read now: `superseded` (quiet is awaited) or `cooled`; None: there is a batch, or
            nothing waits.
        look_at_ms: When to look again; None: when the next turn comes, or the call has ended.
    """

    batch: tuple[WaitingTurn, ...] = ()
    expired: tuple[int, ...] = ()
    waits_for: DebounceCode | None = None
    look_at_ms: int | None = None


class FailedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """What a failure makes of a batch.

    Attributes:
        turns: Those that stay, with what is noted about them.
        set_aside: The number of the turn that failed alone too often; None: none did.
    """

    turns: tuple[WaitingTurn, ...]
    set_aside: int | None = None


def next_step(
    waiting: Sequence[WaitingTurn],
    rules: DebounceRules,
    *,
    now_ms: int,
    cool_until_ms: int = 0,
    is_forced: bool = False,
) -> NextStep:
    """What to read now, or when to look again.

    Args:
        waiting: What waits, in order of arrival.
        rules: When, and how much at a time.
        now_ms: The present.
        cool_until_ms: End of the cooldown after the last call; see `cooled_until`.
        is_forced: Whether somebody asked for it now: neither quiet, cooldown nor pauses are awaited.
    """
    expired = tuple(each.number for each in waiting if now_ms - each.added_ms > rules.keep_ms)
    left = [each for each in waiting if now_ms - each.added_ms <= rules.keep_ms]
    if not left:
        return NextStep(expired=expired)
    first = min(_batches(left, rules), key=lambda each: (each.due_ms, each.turns[0].number))
    if is_forced or max(first.due_ms, cool_until_ms) <= now_ms:
        return NextStep(batch=first.turns, expired=expired)
    is_quiet_awaited = first.due_ms > now_ms and not first.is_pausing
    return NextStep(
        expired=expired,
        waits_for=DebounceCode.SUPERSEDED if is_quiet_awaited else DebounceCode.COOLED,
        look_at_ms=first.due_ms if is_quiet_awaited else max(first.due_ms, cool_until_ms),
    )


def cooled_until(ended_ms: int, rules: DebounceRules) -> int:
    """When the cooldown after a call is over.

    Args:
        ended_ms: When the call ended.
        rules: How long it is.
    """
    return ended_ms + rules.cooldown_ms


def after_failure(
    batch: Sequence[WaitingTurn], rules: DebounceRules, *, now_ms: int, is_sources_fault: bool
) -> FailedBatch:
    """What a failure makes of a batch.

    Args:
        batch: What the model was asked about; not empty.
        rules: How often it is tried.
        now_ms: The present.
        is_sources_fault: Nobody could be asked, or whoever was asked could not work. Then the turns are blameless:
            nothing is counted against them, and they wait.

    Raises:
        ValueError: The batch is empty.
    """
    if not batch:
        message = "batch: is empty; only a batch that was asked about can fail"
        raise ValueError(message)
    if is_sources_fault:
        paused_until_ms = now_ms + rules.pause_ms
        return FailedBatch(turns=tuple(_changed(each, paused_until_ms=paused_until_ms) for each in batch))
    failures = batch[0].failures + 1
    if failures < rules.tries_max:
        paused_until_ms = now_ms + pause_after(failures, rules)
        return FailedBatch(
            turns=tuple(_in_group(each, batch[0].number, failures, paused_until_ms=paused_until_ms) for each in batch)
        )
    if len(batch) == 1:
        return FailedBatch(turns=(), set_aside=batch[0].number)
    middle = len(batch) // 2
    halves = (batch[:middle], batch[middle:])
    return FailedBatch(
        turns=tuple(_in_group(each, half[0].number, 0, paused_until_ms=now_ms) for half in halves for each in half)
    )


def pause_after(failures: int, rules: DebounceRules) -> int:
    """Milliseconds to wait after so many failures: exponential, bounded."""
    doublings = min(failures - 1, _DOUBLINGS_MAX)
    return min(rules.pause_ms << doublings, rules.pause_max_ms)


class _Batch(msgspec.Struct, frozen=True, kw_only=True):
    """Turns that would be read together, from when on, and whether a failure is why they wait."""

    turns: tuple[WaitingTurn, ...]
    due_ms: int
    is_pausing: bool


def _batches(waiting: Sequence[WaitingTurn], rules: DebounceRules) -> list[_Batch]:
    """The first batch of what has not failed, and every failed one: whichever is due first is read first."""
    fresh = [each for each in waiting if not each.group]
    batches = [_fresh_batch(fresh, rules)] if fresh else []
    groups: dict[int, list[WaitingTurn]] = {}
    for turn in waiting:
        if turn.group:
            groups.setdefault(turn.group, []).append(turn)
    batches += [_Batch(turns=tuple(each), due_ms=each[0].paused_until_ms, is_pausing=True) for each in groups.values()]
    return batches


def _fresh_batch(fresh: Sequence[WaitingTurn], rules: DebounceRules) -> _Batch:
    if len(fresh) >= rules.gathered_min:
        due_ms = fresh[rules.gathered_min - 1].added_ms
    else:
        due_ms = min(fresh[-1].added_ms + rules.quiet_ms, fresh[0].added_ms + rules.wait_max_ms)
    turns = _head(fresh, rules)
    paused_until_ms = max(each.paused_until_ms for each in turns)
    return _Batch(turns=turns, due_ms=max(due_ms, paused_until_ms), is_pausing=paused_until_ms > due_ms)


def _head(fresh: Sequence[WaitingTurn], rules: DebounceRules) -> tuple[WaitingTurn, ...]:
    """The oldest turns that fit one call; at least one where there is any."""
    chars = 0
    head: list[WaitingTurn] = []
    for turn in fresh[: rules.batch_max]:
        chars += turn.chars
        if head and chars > rules.batch_chars_max:
            break
        head.append(turn)
    return tuple(head)


def _in_group(turn: WaitingTurn, group: int, failures: int, *, paused_until_ms: int) -> WaitingTurn:
    return msgspec.structs.replace(turn, group=group, failures=failures, paused_until_ms=paused_until_ms)


def _changed(turn: WaitingTurn, *, paused_until_ms: int) -> WaitingTurn:
    return msgspec.structs.replace(turn, paused_until_ms=paused_until_ms)
