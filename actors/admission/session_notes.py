"""What one user's sessions have come to, as far as it bears on the next turn. In memory only.

After a restart the worst that happens is that a "yes" answers nothing, and that a session which was started anew is
asked no more than it was before.
"""

from __future__ import annotations

import collections
from dataclasses import dataclass, field
from typing import Final

from recalld.models.domain.admission import SessionEvent
from recalld.models.domain.admission_store import Proposal
from recalld.models.policy.put_question import SAID_CHARS_MAX, puts_question

SESSIONS_MAX: Final = 64
"""Sessions remembered per user; the least recently used is forgotten first."""
SAID_TURNS_MAX: Final = 64
"""Turns of the assistant between two of the user that are read for what they ask; beyond, nobody says what they ask."""
ANSWER_CHARS_MAX: Final = 4_000
"""Characters kept of what the assistant said last."""


@dataclass(kw_only=True, slots=True)
class SessionNote:
    """One session.

    Attributes:
        started_ms: When it was started anew, Unix epoch milliseconds; 0: not since the daemon knows it.
        last_turn: The user's last turn; empty: none since the daemon knows the session.
        proposal: What the user is to be asked since then; None: nothing.
        said_since: What the assistant said since that turn, by turn, up to where no question in it counts any more.
        previous_answer: What the assistant said last.
    """

    started_ms: int = field(default=0)
    last_turn: str = field(default="")
    proposal: Proposal | None = field(default=None)
    said_since: dict[str, str] = field(default_factory=dict)
    previous_answer: str = field(default="")


class SessionNotes:
    """The sessions of one user."""

    def __init__(self) -> None:
        self._notes: collections.OrderedDict[str, SessionNote] = collections.OrderedDict()

    def of(self, session: str) -> SessionNote:
        """The note of a session. That of the anonymous session ``""`` is a new one each time."""
        if not session:
            return SessionNote()
        note = self._notes.setdefault(session, SessionNote())
        self._notes.move_to_end(session)
        while len(self._notes) > SESSIONS_MAX:
            self._notes.popitem(last=False)
        return note

    def assistant_said(self, session: str, turn_id: str, text: str) -> None:
        """Note what the assistant said. A turn that is delivered again was said once."""
        note = self.of(session)
        note.previous_answer = text[:ANSWER_CHARS_MAX]
        if sum(map(len, note.said_since.values())) <= SAID_CHARS_MAX and len(note.said_since) < SAID_TURNS_MAX:
            note.said_since[turn_id] = text[: SAID_CHARS_MAX + 1] or " "

    def answerable(self, session: str, turn_id: str) -> str:
        """The proposal that this turn of the user may answer; empty: none.

        That is what came of the turn before it, if the assistant has put it to the user since, and asked nothing else.
        The very turn that it came of, delivered again, answers nothing.
        """
        note = self.of(session)
        if note.last_turn == turn_id or note.proposal is None:
            return ""
        if len(note.said_since) >= SAID_TURNS_MAX:
            return ""
        said = "\n".join(note.said_since.values())
        return note.proposal.id if puts_question(said, note.proposal.text) else ""

    def user_said(self, session: str, turn_id: str, *, asked: Proposal | None, is_repeat: bool) -> None:
        """Note a turn of the user that is done with: whatever was asked before it can no longer be answered.

        Args:
            session: Of the turn.
            turn_id: Of the turn.
            asked: The proposal that waits for an answer since; None: none does.
            is_repeat: Whether the turn had been seen before. An old one, delivered again, changes nothing.
        """
        note = self.of(session)
        if is_repeat and note.last_turn not in {"", turn_id}:
            return
        if note.last_turn != turn_id:
            note.said_since = {}
        note.last_turn, note.proposal = turn_id, asked

    def changed(self, session: str, event: SessionEvent, *, now_ms: int) -> None:
        """A session was started anew, and may be asked again; or it ended, and is forgotten."""
        match event:
            case SessionEvent.STARTED:
                self._notes.pop(session, None)
                self.of(session).started_ms = now_ms
            case SessionEvent.ENDED:
                self._notes.pop(session, None)
            case SessionEvent.COMPACTED:
                pass
