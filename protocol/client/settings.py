"""How a client connects and how long it waits."""

from __future__ import annotations

import os

import msgspec

from recalld.protocol import requests
from recalld.protocol.items import ClientInfo
from recalld.protocol.messages import Request

_REPEATABLE = (
    requests.Recall
    | requests.Observe
    | requests.ListProposals
    | requests.ListObservations
    | requests.GetLineage
    | requests.Export
    | requests.Get
    | requests.ListMemories
    | requests.Decide
    | requests.Explain
    | requests.Outcome
    | requests.Outcomes
    | requests.Session
    | requests.Health
    | requests.Stats
    | requests.Ping
)


class ClientSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a client needs to know.

    Attributes:
        socket_path: Path of the daemon's socket.
        client: Name and version of the program that connects; for the daemon's logs.
        is_strict: Whether a failing `recall` or `standing` raises like every other call, instead of answering with
            nothing.
        timeout_s: Seconds a call may take, connecting included.
        recall_timeout_s: The same for `recall` and `standing`. It should exceed the server's budget: the server's own
            degraded answer is better than none.
    """

    socket_path: str
    client: ClientInfo = ClientInfo()
    is_strict: bool = False
    timeout_s: float = 10.0
    recall_timeout_s: float = 1.0

    @classmethod
    def of(
        cls,
        socket_path: str | os.PathLike[str],
        *,
        name: str,
        version: str,
        strict: bool,
        timeout_s: float,
        recall_timeout_s: float,
    ) -> ClientSettings:
        """Settings from a client's constructor arguments.

        Raises:
            ValueError: A timeout is not positive.
        """
        for field, value in (("timeout_s", timeout_s), ("recall_timeout_s", recall_timeout_s)):
            if not value > 0:
                text = f"{field} must be greater than 0 seconds, not {value}"
                raise ValueError(text)
        return cls(
            socket_path=os.fspath(socket_path),
            client=ClientInfo(name=name, version=version),
            is_strict=strict,
            timeout_s=timeout_s,
            recall_timeout_s=recall_timeout_s,
        )

    def hello(self, wants: tuple[str, ...] = ()) -> requests.Hello:
        """The first message on a connection. Naming no feature asks for all of them, and promises none."""
        return requests.Hello(client=self.client, wants=wants)

    def timeout_for(self, request: Request, timeout_s: float | None) -> float:
        """Seconds this call may take: what the caller said, else what its kind is given."""
        if timeout_s is not None:
            return timeout_s
        is_in_a_turn = isinstance(request, requests.Recall | requests.Standing)
        return self.recall_timeout_s if is_in_a_turn else self.timeout_s


def may_repeat(request: Request, *, was_sent: bool) -> bool:
    """Whether a request whose connection broke may be sent again on a new one.

    A frame that was not sent in full is never applied. One that was may have been: then only requests whose second
    answer equals the first are repeated (`remember` would say `duplicate`, `forget` would count nothing).
    """
    return not was_sent or isinstance(request, _REPEATABLE)
