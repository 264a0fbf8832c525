"""Which sessions have had their standing block.

In memory only: after a restart the worst that happens is that a block is given once more.
"""

from __future__ import annotations

import collections

SESSIONS_MAX = 64
"""Sessions remembered per user, as many as `VisibleMemories` does; the least recently used is forgotten first."""
SCOPES_MAX = 16
"""Scopes remembered per session: a session works in one, or in a few."""


class Grant:
    """One block that is being given; its identity tells it from a later one of the same session."""


class GivenBlocks:
    """Blocks by session and scope, noted when they are begun, so that two requests at once give one block."""

    def __init__(self) -> None:
        self._sessions: collections.OrderedDict[str, collections.OrderedDict[str, Grant]] = collections.OrderedDict()

    def begin(self, session: str, scope: str) -> Grant | None:
        """Note that the block of a scope is given to a session; None when it was before.

        The anonymous session ``""`` is given one each time.
        """
        if not session:
            return Grant()
        scopes = self._sessions.setdefault(session, collections.OrderedDict())
        self._sessions.move_to_end(session)
        if scope in scopes:
            return None
        grant = scopes[scope] = Grant()
        while len(scopes) > SCOPES_MAX:
            scopes.popitem(last=False)
        while len(self._sessions) > SESSIONS_MAX:
            self._sessions.popitem(last=False)
        return grant

    def holds(self, session: str, scope: str, grant: Grant) -> bool:
        """Whether the grant still stands: the session was not reset since."""
        scopes = self._sessions.get(session)
        return scopes is not None and scopes.get(scope) is grant

    def undo(self, session: str, scope: str, grant: Grant) -> None:
        """The block was not given after all. Nothing happens when the session was reset meanwhile."""
        if self.holds(session, scope, grant):
            del self._sessions[session][scope]

    def reset(self, session: str) -> None:
        """The session started anew, was compacted, or ended."""
        self._sessions.pop(session, None)
