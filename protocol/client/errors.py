"""What a client raises, and what it returns instead where a failure must not break the agent's turn."""

from __future__ import annotations

import enum

from recalld.protocol.errors import RETRYABLE_CODES, WireError
from recalld.protocol.messages import Reply
from recalld.protocol.replies import Error, Recalled, StandingBlock

UNAVAILABLE = "unavailable"
"""The `mode` of a `Recalled` that no server sent."""


class ClientFault(enum.StrEnum):
    """Codes of failures on the client's side, beside the wire's own `ErrorCode`."""

    CONNECT_FAILED = "connect_failed"
    """Nobody listens on the socket, or it may not be opened."""
    CONNECTION_LOST = "connection_lost"
    """The connection ended before the reply; whether the request was carried out is not known."""
    TIMEOUT = "timeout"
    BAD_REPLY = "bad_reply"
    """The server sent what this client cannot read."""
    CLOSED = "closed"
    """The client was closed."""


_RETRYABLE = frozenset({*RETRYABLE_CODES, ClientFault.CONNECT_FAILED, ClientFault.CONNECTION_LOST, ClientFault.TIMEOUT})


class ClientError(Exception):
    """A call that failed.

    Attributes:
        code: A value of `ErrorCode` (said by the server) or of `ClientFault`.
        message: One sentence.
        retryable: Whether the same call may succeed later.
    """

    def __init__(self, code: str, message: str, *, retryable: bool | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.retryable = code in _RETRYABLE if retryable is None else retryable


def from_reply(error: Error) -> ClientError:
    """The exception for an `error` reply."""
    return ClientError(error.code, error.message, retryable=error.retryable)


def from_wire(error: WireError) -> ClientError:
    """The exception for a message that could not be encoded."""
    return ClientError(error.code, error.message)


def bad_reply(message: str) -> ClientError:
    """The exception for bytes from the server that make no sense."""
    return ClientError(ClientFault.BAD_REPLY, message)


def unexpected(reply: Reply, expected: type[object]) -> ClientError:
    """The exception for a reply of another kind than the request asks for: what an `error` says, else `bad_reply`."""
    if isinstance(reply, Error):
        return from_reply(reply)
    return bad_reply(f"expected {expected.__name__}, got {type(reply).__name__}")


class LinkBrokenError(Exception):
    """The connection ended before the reply; caught inside the clients.

    Attributes:
        cause: What the caller is told.
        was_sent: Whether the whole request had gone out before.
    """

    def __init__(self, cause: ClientError, *, was_sent: bool) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.was_sent = was_sent


def unavailable(error: ClientError) -> Recalled:
    """An empty answer to a recall, for a runtime that goes on without its memory.

    Its `decision` is `error`, its `mode` is `unavailable`, `reason` is the failure's code, and `degraded_detail` its
    sentence.
    """
    return Recalled(recall_id="", decision="error", mode=UNAVAILABLE, reason=error.code, degraded_detail=error.message)


def no_block(error: ClientError) -> StandingBlock:
    """An empty standing block, for a runtime that goes on without its memory.

    Its `reason` is the failure's code, and `detail` its sentence. When the reply was lost on its way, the daemon takes
    the block for given: ask again with `again`.
    """
    return StandingBlock(decision_id="", reason=error.code, detail=error.message)
