"""Users that this program keeps for its own checks."""

from __future__ import annotations

from typing import Final

RESERVED_NAME: Final = "__doctor__"
"""First part of the last part of a reserved user's name: `__doctor__:4711`, or `uid:1000/__doctor__:4711`."""


def reserved_user(prefix: str, pid: int) -> str:
    """The reserved user of one process.

    Args:
        prefix: Where the account may act: empty, or its own prefix with the slash at its end.
        pid: Of the process that checks.
    """
    return f"{prefix}{RESERVED_NAME}:{pid}"


def is_reserved_user(user: str) -> bool:
    """Whether the user belongs to a check of this program, so that nothing of it needs to be kept."""
    return user.rpartition("/")[2].startswith(f"{RESERVED_NAME}:")
