"""How long a new job would wait behind the work that a model's threads already have, before it is queued at all.

Guards: an asker's time. Work that cannot be done before its deadline is refused at once, so that its asker goes on
without it instead of waiting for nothing, and so that what was taken can be finished.
Cost: one pass over the open jobs.
Fails: towards trying. Behind an empty queue everything is tried, whatever it is predicted to cost.

The prediction follows the order in which the threads take calls: owners take turns call by call, and the jobs of one
owner go earliest deadline first.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

FILLED_SHARE = 0.7
"""Share of the time left that may be promised away. Predicted costs are medians of the last calls; in the burst that
fills a queue, calls compete for the cores and take longer than those before it."""


class QueuedJob(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of one job.

    Attributes:
        owner: Whose it is; jobs with the same owner share one turn.
        deadline_s: When it is given up, in seconds on the monotonic clock.
        costs_ms: Predicted milliseconds of each call that has not ended, in the order of their starts.
        is_bulk: Only what runs of it is in anybody's way: one call.
    """

    owner: str
    deadline_s: float
    costs_ms: tuple[float, ...]
    is_bulk: bool = False


def wait_ms(queued: Iterable[QueuedJob], *, owner: str, deadline_s: float, calls: int, lanes: int) -> float:
    """Milliseconds until the last of an owner's new calls can start.

    Args:
        queued: What the threads have already.
        owner: Whose calls are to be added.
        deadline_s: Their deadline.
        calls: How many of them must run.
        lanes: Calls that run at the same time, from 1.
    """
    ahead_ms = 0.0
    of_others: dict[str, list[float]] = {}
    for job in queued:
        if job.is_bulk:
            ahead_ms += sum(job.costs_ms[:1])
        elif job.owner != owner:
            of_others.setdefault(job.owner, []).extend(job.costs_ms)
        elif job.deadline_s <= deadline_s:
            ahead_ms += sum(job.costs_ms)
    ahead_ms += sum(sum(costs_ms[:calls]) for costs_ms in of_others.values())
    return ahead_ms / lanes


def fits(waiting_ms: float, own_ms: float, *, left_ms: float) -> bool:
    """Whether calls that wait so long and then take so long should be tried in the time that is left.

    Args:
        waiting_ms: From `wait_ms`; 0 always fits.
        own_ms: Predicted time of the calls themselves.
        left_ms: Time until their deadline.
    """
    return waiting_ms <= 0.0 or waiting_ms + own_ms <= FILLED_SHARE * left_ms
