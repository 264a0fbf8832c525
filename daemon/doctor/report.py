"""The whole examination, and the exit code it comes to."""

from __future__ import annotations

from collections import Counter

import msgspec

from recalld.daemon.doctor.result import CheckResult, Status
from recalld.daemon.exit_codes import DoctorExit


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """What `recalld doctor --json` prints.

    Attributes:
        results: One for each check, in order.
        counts: How many checks ended in each status; all statuses are there.
        not_checked: How many of them had nothing, or no way, to look at.
        is_deep: Whether the deep checks were among them.
        exit_code: See `DoctorExit`.
    """

    results: tuple[CheckResult, ...]
    counts: dict[str, int]
    not_checked: int
    is_deep: bool
    exit_code: int


def report_of(results: tuple[CheckResult, ...], *, is_deep: bool) -> DoctorReport:
    """Add results up."""
    found = Counter(result.status for result in results)
    return DoctorReport(
        results=results,
        counts={status.value: found[status] for status in Status},
        not_checked=sum(not result.is_checked for result in results),
        is_deep=is_deep,
        exit_code=_exit_code(results),
    )


def _exit_code(results: tuple[CheckResult, ...]) -> DoctorExit:
    """The worst result decides; an examination in which nothing could be looked at is none."""
    found = {result.status for result in results}
    if found & {Status.FAIL, Status.CRASH}:
        return DoctorExit.FAILURES
    if not any(result.is_checked for result in results):
        return DoctorExit.COULD_NOT_RUN
    return DoctorExit.WARNINGS if Status.WARN in found else DoctorExit.WELL
