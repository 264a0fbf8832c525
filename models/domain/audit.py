"""That somebody went through the newest memories: what a looser position of the write path rests on."""

from __future__ import annotations

import msgspec


class NoteAudit(msgspec.Struct, frozen=True, kw_only=True):
    """Command: note an audit. It counts for the whole database.

    Attributes:
        at_ms: When it ended, Unix epoch milliseconds.
    """

    at_ms: int
