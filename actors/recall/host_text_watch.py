"""Notices a host that sends its own text in the user's place: recall after recall of a session without a user's word.

Guards: the user of a runtime that marks its parts wrongly, and whose memory therefore never speaks.
Fails: silent. It only warns; each of those recalls was answered `no_user_text` anyway.
"""

from __future__ import annotations

import collections

from recalld.actors.events import EventBus, EventLevel
from recalld.actors.ports import Clock
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import RecallReason
from recalld.models.policy.rate_limit import Cooldowns, Emission, flush, offer

IN_A_ROW_MIN = 5
"""So many in a row are no accident: a user says something between two tool results."""
SESSIONS_MAX = 4_096
"""Sessions watched at once, over all users; the least recently seen is forgotten first."""
COUNTER = "recalls_no_user_text_in_a_row"
"""Counts every recall from the fifth in a row on; the event has a cooldown."""
_CAUSE = "no_user_text"
_HINT = "mark what the user typed as parts of the role user; host text is not searched with"


class HostTextWatch:
    """Watches the recalls of all users.

    Args:
        events: Where the warning goes.
        clock: Time.
        cooldown_s: Seconds between two warnings; what is held back is counted in the next one.
        counters: The daemon's counters, as `stats` shows them.
    """

    def __init__(
        self, *, events: EventBus, clock: Clock, cooldown_s: float, counters: collections.Counter[str]
    ) -> None:
        self._events = events
        self._clock = clock
        self._cooldowns = Cooldowns(cooldown_s=cooldown_s)
        self._counters = counters
        self._in_a_row: collections.OrderedDict[tuple[str, str], int] = collections.OrderedDict()

    def note(self, user: str, session: str, reason: RecallReason) -> None:
        """Take note of how a recall ended. The anonymous session ``""`` is nobody's row."""
        in_a_row = self._count(user, session, reason)
        now_s = self._clock.monotonic_s()
        self._cooldowns, overdue = flush(self._cooldowns, now_s=now_s)
        for emission in overdue:  # of whichever sessions; this recall only woke it up
            self._warn(emission, user="", session="", in_a_row=0)
        if in_a_row < IN_A_ROW_MIN:
            return
        self._counters[COUNTER] += 1
        self._cooldowns, fresh = offer(self._cooldowns, _CAUSE, now_s=now_s)
        if fresh is not None:
            self._warn(fresh, user=user, session=session, in_a_row=in_a_row)

    def _count(self, user: str, session: str, reason: RecallReason) -> int:
        """Recalls of the session in a row without a user's word, this one included."""
        before = self._in_a_row.pop((user, session), 0)
        if reason is not RecallReason.NO_USER_TEXT or not session:
            return 0
        self._in_a_row[user, session] = before + 1
        if len(self._in_a_row) > SESSIONS_MAX:
            self._in_a_row.popitem(last=False)
        return before + 1

    def _warn(self, emission: Emission, *, user: str, session: str, in_a_row: int) -> None:
        self._events.publish(
            Event(
                name=EventName.MEMORY_RECALL_NO_USER_TEXT,
                at_ms=self._clock.now_ms(),
                user=user,
                fields={
                    "session": session,
                    "in_a_row": in_a_row,
                    "suppressed_count": emission.suppressed_count,
                    "hint": _HINT,
                },
            ),
            EventLevel.WARNING,
        )
