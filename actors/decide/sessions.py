"""What each session was shown unasked, and what its user waved away. In memory alone, and bounded."""

from __future__ import annotations

import msgspec

from recalld.actors.inference_thread.lru import LruCache
from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.decide import DecideOp, DecideRequest
from recalld.models.domain.decision import Decision
from recalld.models.policy.profiles.knowledge import SessionKnowledge
from recalld.models.policy.profiles.reading import content_key

SESSIONS_MAX = 1_024
KEYS_MAX = 512
"""Things remembered of one session; the oldest make room."""


class _Session(msgspec.Struct, frozen=True):
    shown: tuple[str, ...] = ()
    declined: tuple[str, ...] = ()


_NEW = _Session()


class SessionMemory:
    """Sessions by user and name, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._sessions: LruCache[tuple[str, str], _Session] = LruCache(SESSIONS_MAX)

    def knowledge(self, user: str, session: str) -> SessionKnowledge:
        """What is known of a session; nothing of the empty one."""
        known = self._sessions.get((user, session)) or _NEW
        return SessionKnowledge(shown=frozenset(known.shown), declined=frozenset(known.declined))

    def note(self, request: DecideRequest, decision: Decision) -> None:
        """Remember what a decision to show something let through, and what came with the request as waved away."""
        is_shown = decision.op is DecideOp.INJECT
        passed = frozenset(decision.params.items) if is_shown else frozenset()
        declined = frozenset(request.declined)
        shown = tuple(content_key(each) for each in request.candidates if each.id in passed)
        waved = tuple(content_key(each) for each in request.candidates if each.id in declined)
        if not request.session or not (shown or waved):
            return
        known = self._sessions.get((request.user, request.session)) or _NEW
        self._sessions.put(
            (request.user, request.session), _Session(_joined(known.shown, shown), _joined(known.declined, waved))
        )

    def changed(self, user: str, session: str, event: SessionEvent) -> None:
        """A session began, ended or lost its context: nothing is visible in it.

        What was waved away stays so while the session lasts.
        """
        known = self._sessions.get((user, session))
        if known is not None:
            self._sessions.put((user, session), _Session((), known.declined if event is SessionEvent.COMPACTED else ()))


def _joined(known: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*known, *new)))[-KEYS_MAX:]
