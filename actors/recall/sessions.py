"""What each session of a user can already see, so that nothing is injected twice.

A turn sees what the session saw before it: a runtime that asks the same again within one turn, in a tool loop or after
it lost the answer, gets the same memories again.

In memory only: after a restart the worst that happens is that a memory is shown once more.
"""

from __future__ import annotations

import collections

SESSIONS_MAX = 64
"""Sessions remembered per user; the least recently used is forgotten first."""
VISIBLE_MAX = 2_000
"""Memory ids remembered per session, oldest forgotten first: far more than any context window holds."""


class VisibleMemories:
    """Ids injected into each session since it started or was compacted."""

    def __init__(self) -> None:
        # For each id of a session, the turn in which it came in.
        self._sessions: collections.OrderedDict[str, collections.OrderedDict[str, str]] = collections.OrderedDict()

    def visible(self, session: str, turn_id: str = "") -> frozenset[str]:
        """Ids visible in the session before a turn (``""``: up to now); none for the anonymous session ``""``."""
        ids = self._sessions.get(session)
        if ids is None:
            return frozenset()
        self._sessions.move_to_end(session)
        return frozenset(memory_id for memory_id, came_in in ids.items() if not turn_id or came_in != turn_id)

    def mark(self, session: str, memory_ids: tuple[str, ...], turn_id: str = "") -> None:
        """Note that the ids were injected in a turn. The anonymous session ``""`` remembers nothing."""
        if not session or not memory_ids:
            return
        ids = self._sessions.setdefault(session, collections.OrderedDict())
        self._sessions.move_to_end(session)
        for memory_id in memory_ids:
            ids.setdefault(memory_id, turn_id)  # what an earlier turn brought in stays visible to this one
            ids.move_to_end(memory_id)
        while len(ids) > VISIBLE_MAX:
            ids.popitem(last=False)
        while len(self._sessions) > SESSIONS_MAX:
            self._sessions.popitem(last=False)

    def reset(self, session: str) -> None:
        """The session started anew, was compacted, or ended: nothing is visible in it any more."""
        self._sessions.pop(session, None)
