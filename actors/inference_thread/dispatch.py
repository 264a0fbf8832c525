"""Which lane runs what, which running call is to be abandoned, and when a lane counts as stuck. Pure: time comes in."""

from __future__ import annotations

from dataclasses import dataclass

from recalld.actors.inference_thread.call import AnyCall
from recalld.actors.inference_thread.work_queue import Job, WorkQueue
from recalld.models.domain.errors import InvariantError


@dataclass(frozen=True, slots=True)
class Assignment:
    """A call for an idle lane."""

    lane: int
    call: AnyCall


@dataclass(slots=True)
class _Running:
    job_id: int
    stop_at_s: float
    stopped_at_s: float | None = None


class Dispatch:
    """The books of a fixed set of lanes over one queue."""

    def __init__(self, *, lanes: int, grace_s: float, stuck_after_s: float) -> None:
        """Make books in which every lane is idle.

        Args:
            lanes: How many calls may run at once.
            grace_s: How long after its job's deadline a running call is abandoned, in seconds.
            stuck_after_s: How long an abandoned call may take to come back before its lane counts as stuck, in seconds.
        """
        if lanes < 1:
            msg = f"lanes is {lanes}: give 1 or more"
            raise ValueError(msg)
        self._queue = WorkQueue()
        self._lanes: list[_Running | None] = [None] * lanes
        self._grace_s = grace_s
        self._stuck_after_s = stuck_after_s

    @property
    def queued_calls(self) -> int:
        """Calls that have not started."""
        return len(self._queue)

    def submit(self, job: Job) -> None:
        """Queue a job."""
        self._queue.add(job)

    def cancel(self, job_id: int) -> None:
        """Drop what has not started of a job, and have what runs of it abandoned at the next `overdue`."""
        self._queue.cancel(job_id)
        for running in self._lanes:
            if running is not None and running.job_id == job_id:
                running.stop_at_s = float("-inf")

    def finished(self, lane: int) -> None:
        """A lane has come back."""
        if self._lanes[lane] is None:
            msg = f"lane {lane} came back without having been sent"
            raise InvariantError(msg)
        self._lanes[lane] = None

    def assign(self, now_s: float) -> list[Assignment]:
        """Give work to idle lanes; they are running from now on."""
        assignments: list[Assignment] = []
        for lane, running in enumerate(self._lanes):
            if running is not None:
                continue
            taken = self._queue.take(now_s)
            if taken is None:
                break
            job, call = taken
            self._lanes[lane] = _Running(job.job_id, job.deadline_s + self._grace_s)
            call.note_assigned(now_s)
            assignments.append(Assignment(lane, call))
        return assignments

    def overdue(self, now_s: float) -> list[int]:
        """Lanes whose call is to be abandoned now; each is named once."""
        lanes: list[int] = []
        for lane, running in enumerate(self._lanes):
            if running is not None and running.stopped_at_s is None and running.stop_at_s <= now_s:
                running.stopped_at_s = now_s
                lanes.append(lane)
        return lanes

    def is_stuck(self, now_s: float) -> bool:
        """Whether a lane was told to abandon its call and has not come back within the bound."""
        return any(
            running is not None
            and running.stopped_at_s is not None
            and now_s - running.stopped_at_s >= self._stuck_after_s
            for running in self._lanes
        )

    def next_check_s(self) -> float | None:
        """When `overdue` or `is_stuck` may next have something to say; None while no lane is running."""
        times_s = [
            running.stop_at_s if running.stopped_at_s is None else running.stopped_at_s + self._stuck_after_s
            for running in self._lanes
            if running is not None
        ]
        return min(times_s, default=None)
