"""Mistakes of the calling program, told apart from outages.

A runtime must go on without its memory, so a recall that fails is answered with nothing. A recall that can never
succeed would look the same for ever: it is logged, once for each kind of mistake. What is no request at all is raised
at once.
"""

from __future__ import annotations

import logging

import msgspec

from recalld.protocol import replies, requests
from recalld.protocol.client.errors import ClientError
from recalld.protocol.errors import ErrorCode

NEVER_VALID = frozenset(
    {ErrorCode.BAD_REQUEST, ErrorCode.FRAME_TOO_LARGE, ErrorCode.FORBIDDEN, ErrorCode.UNSUPPORTED_VERSION}
)
"""Codes of requests that no repetition makes right: somebody has to change the calling program or its configuration."""

_REQUESTS: dict[type[object], type[msgspec.Struct]] = {
    replies.Recalled: requests.Recall,
    replies.Admitted: requests.Observe,
    replies.Confirmed: requests.Confirm,
    replies.Proposals: requests.ListProposals,
    replies.Observations: requests.ListObservations,
    replies.Lineage: requests.GetLineage,
    replies.Settled: requests.Settle,
    replies.Exported: requests.Export,
    replies.Imported: requests.Import,
    replies.Purged: requests.PurgeUser,
    replies.Remembered: requests.Remember,
    replies.Forgotten: requests.Forget,
    replies.Memory: requests.Get,
    replies.Memories: requests.ListMemories,
    replies.Updated: requests.Update,
    replies.Backfilled: requests.Backfill,
    replies.Decision: requests.Decide,
    replies.Explanation: requests.Explain,
    replies.StandingBlock: requests.Standing,
    replies.StandingSet: requests.SetStanding,
    replies.OutcomeReport: requests.Outcomes,
    replies.Samples: requests.ListSamples,
    replies.Ok: requests.Session,
    replies.HealthReport: requests.Health,
    replies.StatsReport: requests.Stats,
    replies.Pong: requests.Ping,
    replies.Subscribed: requests.Subscribe,
}
"""The request that each reply answers."""

_log = logging.getLogger("recalld.protocol.client")


def check_request(request: object, answer: type[object], kind: type[msgspec.Struct] | None = None) -> None:
    """See to it that a call was given its own kind of request.

    Args:
        request: What the caller passed.
        answer: The reply that the call returns.
        kind: The request, where another one has the same reply.

    Raises:
        TypeError: It is something else; the message says what to pass.
    """
    expected = _REQUESTS[answer] if kind is None else kind
    if not isinstance(request, expected):
        required = ", ".join(f"{field.name}=…" for field in msgspec.structs.fields(expected) if field.required)
        message = f"pass a request, {expected.__name__}({required}) of recalld.protocol.requests, not {request!r:.80}"
        raise TypeError(message)


class MisuseLog:
    """Warns about recalls, and requests for standing blocks, that can never succeed: once for each code.

    Once in the life of a client, that is.
    """

    def __init__(self) -> None:
        self._warned: set[tuple[str, str]] = set()

    def note(self, error: ClientError, call: str = "recall") -> None:
        """Log a failed call if it can never succeed as it is. Never raises, never quotes more than the error does."""
        if error.code in NEVER_VALID and (call, error.code) not in self._warned:
            self._warned.add((call, error.code))
            _log.warning("%s can never succeed as it is called: %s", call, error)
