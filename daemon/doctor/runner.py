"""Run checks one after another, each one guarded and timed: a check that breaks or hangs is a result, too."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import msgspec

from recalld.actors.ports import Clock
from recalld.daemon.doctor.result import CheckResult, Finding, Status

C = TypeVar("C")


class Check(msgspec.Struct, Generic[C], frozen=True, kw_only=True):
    """One thing to look at.

    Attributes:
        name: What it looks at, as people read it.
        run: Looks, and says what it found. `C` is whatever it needs to know.
        timeout_s: How long it may take before it counts as crashed.
        is_deep: Whether it runs only when a thorough examination was asked for.
    """

    name: str
    run: Callable[[C], Finding]
    timeout_s: float = 10.0
    is_deep: bool = False


def run_checks(checks: Iterable[Check[C]], context: C, *, clock: Clock, is_deep: bool) -> tuple[CheckResult, ...]:
    """Run every check that was asked for, in order, whatever becomes of the ones before it."""
    return tuple(_run_one(check, context, clock) for check in checks if is_deep or not check.is_deep)


def _run_one(check: Check[C], context: C, clock: Clock) -> CheckResult:
    """Run a check in a thread of its own, which is left behind if it hangs: it is a daemon, so it holds up nothing."""
    found: list[Finding] = []

    def guarded() -> None:
        try:
            found.append(check.run(context))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a check that breaks is a result
            found.append(_crash(f"the check itself failed with {type(error).__name__}: {error}"))

    began_s = clock.monotonic_s()
    thread = threading.Thread(target=guarded, name=f"doctor: {check.name}", daemon=True)
    thread.start()
    thread.join(check.timeout_s)
    finding = found[0] if found else _crash(f"no answer within {check.timeout_s:g} s")
    return CheckResult(
        name=check.name,
        status=finding.status,
        seen=" ".join(finding.seen.split()),
        remedy=finding.remedy,
        is_checked=finding.is_checked,
        elapsed_ms=round((clock.monotonic_s() - began_s) * 1_000, 1),
    )


def _crash(seen: str) -> Finding:
    return Finding(
        status=Status.CRASH,
        seen=seen,
        remedy="what this check looks after is unknown until it runs; if it happens again, report it",
    )
