"""Which call runs next. Pure: no clock, no threads.

Interactive jobs go before bulk jobs. Among equals, owners take turns call by call, so that the burst of one user delays
another user's single job by at most one call per lane. Jobs of one owner run earliest deadline first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from recalld.actors.inference_thread.call import AnyCall
from recalld.models.domain.errors import InvariantError


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """Calls that belong together.

    Attributes:
        job_id: Unique within the life of a thread; grows with each job.
        calls: In the order in which they are to start.
        deadline_s: No call starts at or after it, in seconds on the monotonic clock.
        owner: Jobs of one owner share one turn; empty: the job is its own owner.
        is_bulk: Runs only while no other job has anything to run.
    """

    job_id: int
    calls: tuple[AnyCall, ...]
    deadline_s: float
    owner: str = ""
    is_bulk: bool = False


@dataclass(slots=True)
class _Waiting:
    job: Job
    started: int = 0

    @property
    def urgency(self) -> tuple[float, int]:
        return (self.job.deadline_s, self.job.job_id)


@dataclass(slots=True)
class _Turns:
    """Owners in the order of their turns, each with its waiting jobs."""

    owners: OrderedDict[str, list[_Waiting]] = field(default_factory=OrderedDict)

    def remove(self, is_gone: Callable[[_Waiting], bool]) -> None:
        for owner, jobs in tuple(self.owners.items()):
            jobs[:] = [waiting for waiting in jobs if not is_gone(waiting)]
            if not jobs:
                del self.owners[owner]


class WorkQueue:
    """Jobs with calls that have not started yet."""

    def __init__(self) -> None:
        self._interactive = _Turns()
        self._bulk = _Turns()

    def __len__(self) -> int:
        """Calls that have not started."""
        return sum(
            len(waiting.job.calls) - waiting.started
            for turns in (self._interactive, self._bulk)
            for jobs in turns.owners.values()
            for waiting in jobs
        )

    def add(self, job: Job) -> None:
        """Queue a job."""
        if not job.calls:
            msg = f"job {job.job_id} has no calls"
            raise InvariantError(msg)
        turns = self._bulk if job.is_bulk else self._interactive
        turns.owners.setdefault(job.owner or f"\N{NULL}{job.job_id}", []).append(_Waiting(job))

    def cancel(self, job_id: int) -> None:
        """Drop what has not started of a job; unknown jobs are ignored."""
        for turns in (self._interactive, self._bulk):
            turns.remove(lambda waiting: waiting.job.job_id == job_id)

    def take(self, now_s: float) -> tuple[Job, AnyCall] | None:
        """The next call and its job, or None. Jobs whose deadline has passed are dropped unstarted."""
        for turns in (self._interactive, self._bulk):
            turns.remove(lambda waiting: waiting.job.deadline_s <= now_s)
            for owner, jobs in turns.owners.items():
                turns.owners.move_to_end(owner)
                waiting = min(jobs, key=lambda waiting: waiting.urgency)
                call = waiting.job.calls[waiting.started]
                waiting.started += 1
                turns.remove(lambda waiting: waiting.started == len(waiting.job.calls))
                return waiting.job, call
        return None
