"""What a check finds."""

from __future__ import annotations

import enum

import msgspec


class Status(enum.StrEnum):
    """How a check ended, best first."""

    PASS = "pass"  # noqa: S105 - no password
    INFO = "info"
    """Worth knowing, nothing to do; or not checked, and that is fine."""
    WARN = "warn"
    FAIL = "fail"
    CRASH = "crash"
    """The check itself broke or took too long, so what it looks after is unknown."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a check function returns.

    Attributes:
        status: How bad it is.
        seen: What was seen, in one line, with the numbers.
        remedy: What to do; empty when there is nothing to do.
        is_checked: False when there was nothing to look at, or no way to; then the status is never PASS.
    """

    status: Status
    seen: str
    remedy: str = ""
    is_checked: bool = True


class CheckResult(msgspec.Struct, frozen=True, kw_only=True):
    """A finding with the name of its check and the time it took."""

    name: str
    status: Status
    seen: str
    remedy: str
    is_checked: bool
    elapsed_ms: float


def passed(seen: str) -> Finding:
    """All is well."""
    return Finding(status=Status.PASS, seen=seen)


def noted(seen: str, remedy: str = "") -> Finding:
    """Worth knowing."""
    return Finding(status=Status.INFO, seen=seen, remedy=remedy)


def warned(seen: str, remedy: str) -> Finding:
    """Works, but not as it should."""
    return Finding(status=Status.WARN, seen=seen, remedy=remedy)


def failed(seen: str, remedy: str) -> Finding:
    """Broken."""
    return Finding(status=Status.FAIL, seen=seen, remedy=remedy)


def not_checked(why: str, *, matters: bool = False, remedy: str = "") -> Finding:
    """Nothing was looked at, which is never a pass.

    Args:
        why: What stood in the way.
        matters: Whether something could be broken behind it that no other check would notice: then it is a warning.
        remedy: How to get it checked.
    """
    return Finding(
        status=Status.WARN if matters else Status.INFO, seen=f"not checked: {why}", remedy=remedy, is_checked=False
    )
