"""Turns that wait for a language model to read them, what it finds there, and why it sometimes does not answer."""

from __future__ import annotations

import enum
from typing import Final

import msgspec

from recalld.models.domain.admission import OfferedFact


class PendingTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn of the user that waits for a model.

    Attributes:
        number: Its place in the order of arrival, given by the store; unique and rising.
        session: Of the turn.
        turn_id: Of the turn.
        text: The user's own words, without secrets, private spans and host text.
        at_ms: When it was said, Unix epoch milliseconds.
        time_zone: The user's IANA zone; empty: not said.
        scope: Of the turn.
        client: The client that handed it over.
        injected: Ids of memories that were before the user when it was said.
        added_at_ms: When it was put here, Unix epoch milliseconds.
        group: Number of the first turn of the failed batch it belongs to; 0: it has not failed.
        failures: How often that batch failed.
    """

    number: int = 0
    session: str
    turn_id: str
    text: str
    at_ms: int
    time_zone: str = ""
    scope: str = ""
    client: str = ""
    injected: tuple[str, ...] = ()
    added_at_ms: int
    group: int = 0
    failures: int = 0


class ExtractedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A fact that a model found, and the number of the turn that it quotes."""

    turn_number: int
    fact: OfferedFact


class SourceFault(enum.StrEnum):
    """Why a model has no answer."""

    NOT_CONNECTED = "not_connected"
    """No runtime that lends a model is connected for this user."""
    BUSY = "busy"
    DISCONNECTED = "disconnected"
    UNREACHABLE = "unreachable"
    """No connection to the endpoint could be made, or it broke."""
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    DENIED = "denied"
    """The endpoint does not know the key, the model or the path."""
    REDIRECTED = "redirected"
    """The endpoint sent elsewhere; what users said is not sent to an address that nobody configured."""
    NO_KEY = "no_key"
    """The file with the key cannot be read."""
    TIMEOUT = "timeout"
    REFUSED = "refused"
    """The model, or the endpoint, will not work on this."""
    TOO_LONG = "too_long"
    """The prompt is too long, or the answer has more characters than it may."""
    OVERSIZED = "oversized"
    """The answer has more bytes than are read."""
    MALFORMED = "malformed"
    """The answer is no JSON of the form that endpoints of this kind give."""
    NO_CHOICES = "no_choices"
    TRUNCATED = "truncated"
    """The model stopped at its token ceiling, so what is missing is not known."""


BLAMELESS: Final = frozenset(
    {
        SourceFault.NOT_CONNECTED,
        SourceFault.BUSY,
        SourceFault.DISCONNECTED,
        SourceFault.UNREACHABLE,
        SourceFault.RATE_LIMITED,
        SourceFault.SERVER_ERROR,
        SourceFault.DENIED,
        SourceFault.REDIRECTED,
        SourceFault.NO_KEY,
        SourceFault.TIMEOUT,
    }
)
"""Faults of the source alone: whatever it had been asked about, it could not have answered."""


class SourceFailure(msgspec.Struct, frozen=True, kw_only=True):
    """No answer, and why. `detail` is for the log: a status or a type, never a word of prompt, answer or key."""

    fault: SourceFault
    detail: str = ""


# --- store commands: each one is one transaction ----------------------------------------------------------------------


class AppendPending(msgspec.Struct, frozen=True, kw_only=True):
    """Put a turn among those that wait. The same turn is put there once, however often it is delivered.

    Attributes:
        pending_max: Turns of the user that may wait; with more, the new one is not taken.
    """

    user: str
    turn: PendingTurn
    pending_max: int


class FailedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What is noted about a turn of a failed batch; see `PendingTurn`."""

    number: int
    group: int
    failures: int


class SettlePending(msgspec.Struct, frozen=True, kw_only=True):
    """Note what became of turns that waited. Numbers that are no longer there are passed over.

    Attributes:
        read: Turns that a model has read; they are removed.
        expired: Turns that waited too long; they are removed and counted.
        failed: Turns of a failed batch, with their new `group` and `failures`.
        set_aside: Turns that failed alone too often: they stay, and are not tried again before they are retried.
        retried: So many of those set aside, that failed least often first, wait again, each alone: one more failure
            sets it aside again.
    """

    user: str
    read: tuple[int, ...] = ()
    expired: tuple[int, ...] = ()
    failed: tuple[FailedTurn, ...] = ()
    set_aside: tuple[int, ...] = ()
    retried: int = 0


class PendingCounts(msgspec.Struct, frozen=True, kw_only=True):
    """How many turns wait.

    Attributes:
        waiting: That will be read.
        set_aside: That failed alone too often.
        expired: That were let go unread, ever.
        overflowed: That were not taken, ever, because too many waited.
        oldest_at_ms: When the oldest of the waiting was put there, Unix epoch milliseconds; None: none waits.
    """

    waiting: int = 0
    set_aside: int = 0
    expired: int = 0
    overflowed: int = 0
    oldest_at_ms: int | None = None
