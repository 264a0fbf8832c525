"""Asking the store from the write side: an unanswered ask becomes an operating error that the user can be told."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from recalld.actors.asking import as_operating_error
from recalld.actors.kernel import AskError

R = TypeVar("R")


async def answered_by_store(asked: Awaitable[R]) -> R:
    """The store's answer.

    Raises:
        RecalldError: The store's own error, or `BUSY` or `DRAINING` when it gave no answer.
    """
    try:
        return await asked
    except AskError as error:
        raise as_operating_error(error, "the store") from error
