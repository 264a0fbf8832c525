"""Word once when writing begins to fail, and once when it works again, however often it is tried in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from recalld.models.domain.errors import ErrorCode, RecalldError

TroubleListener = Callable[[RecalldError | None], None]
"""Told the error when writing begins to fail, or fails otherwise than before; None when it works again."""

_TROUBLES: Final = frozenset({ErrorCode.STORAGE_FULL, ErrorCode.STORAGE_UNAVAILABLE, ErrorCode.INTERNAL})
"""Codes of failures that the store has; others are the fault of what was asked."""


def keep_quiet(_error: RecalldError | None) -> None:
    """Whoever writes is told anyway."""


class WriteTrouble:
    """Remembers whether writing fails.

    Args:
        listener: Told of changes.
    """

    def __init__(self, listener: TroubleListener) -> None:
        self._listener = listener
        self._code: ErrorCode | None = None

    def note_failure(self, error: RecalldError) -> None:
        """A write failed."""
        if error.code in _TROUBLES and error.code is not self._code:
            self._code = error.code
            self._listener(error)

    def note_success(self) -> None:
        """A write was committed."""
        if self._code is not None:
            self._code = None
            self._listener(None)
