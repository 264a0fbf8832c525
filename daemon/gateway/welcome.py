"""What a client is told when it connects."""

from __future__ import annotations

from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.peer import AccessPolicy, Peer
from recalld.protocol import fields, items, replies, requests

FEATURES = ("events", "explain", "extractor", "search")
"""What this server has beyond the plain request and reply: subscriptions, ledger rows and dropped candidates, questions
to the model of a runtime that lends it, and the `search` mode of recall."""

SERVER_NAME = "recalld"


class Greeter:
    """Makes the `welcome` of each connection.

    Args:
        version: The daemon's version.
        limits: What is told of limits and defaults.
        policy: Which users a peer may act for.
    """

    def __init__(self, *, version: str, limits: GatewayLimits, policy: AccessPolicy) -> None:
        self._server = items.ServerInfo(name=SERVER_NAME, version=version)
        self._budget_ms = round(limits.envelope_s * 1000)
        self._policy = policy
        self._limits = items.ServerLimits(
            frame_bytes_max=fields.FRAME_BYTES_MAX,
            in_flight_max=limits.in_flight_per_connection_max,
            turn_chars_max=fields.TURN_CHARS_MAX,
            memory_chars_max=fields.MEMORY_CHARS_MAX,
            recall_items_max=fields.RECALL_ITEMS_MAX,
            list_limit_max=fields.LIST_LIMIT_MAX,
            idle_timeout_ms=round((limits.idle_timeout_s or 0) * 1000),
        )

    def welcome(self, hello: requests.Hello, version: int, peer: Peer) -> replies.Welcome:
        """The answer to a hello: of the features it wants, those there are; all of them when it names none."""
        features = tuple(name for name in FEATURES if not hello.wants or name in hello.wants)
        defaults = items.SessionDefaults(budget_ms=self._budget_ms, user_prefix=self._policy.user_prefix(peer.uid))
        return replies.Welcome(
            id=hello.id,
            protocol=version,
            server=self._server,
            limits=self._limits,
            features=features,
            session_defaults=defaults,
        )
