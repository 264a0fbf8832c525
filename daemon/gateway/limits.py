"""Every bound of the gateway, in one table."""

from __future__ import annotations

import msgspec


class GatewayLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the gateway refuses to exceed. Times in seconds.

    Attributes:
        envelope_s: The most a recall may take; `budget_ms` can only shorten it.
        write_envelope_s: The deadline given to remember, observe and forget.
        request_timeout_s: Any request still unanswered after this long is answered `busy`: a guard against a service
            that breaks its own deadlines, far above all of them.
        connections_max: Open connections. More are told `busy` and closed.
        connections_per_uid_max: The same for one peer uid, so that one account cannot keep the others out. The daemon's
            own uid and root are not bound by it.
        connections_kept: Of all connections, how many only the daemon's own uid and root may have, so that an
            administrator always gets in.
        in_flight_per_connection_max: Requests without a reply yet; more are answered `busy`.
        in_flight_per_uid_max: The same over all connections of one uid.
        questions_per_connection_max: Unanswered questions to a runtime that lends its model on one connection.
        backfill_envelope_s: How long a backfill may take; the guard time comes on top of it.
        subscriptions_per_connection_max: Event streams on one connection.
        outgoing_bytes_max: Replies waiting for a slow reader. Past it, the connection's own requests wait.
        stall_timeout_s: A peer that takes no byte for this long while replies wait is closed.
        hello_timeout_s: A connection that has not said hello by then is closed.
        partial_frame_timeout_s: From the first byte of a frame to its last.
        idle_timeout_s: A connection with nothing in flight, no subscription and no traffic for this long is closed.
            None: never.
        faults_max: Unreadable frames on one connection before it is closed.
        fds_reserve: File descriptors kept free of connections, for the database, its temporary files and the models.
        drain_timeout_s: How long `drain` waits for answers before it closes what is left.
    """

    envelope_s: float = 0.3
    write_envelope_s: float = 10.0
    request_timeout_s: float = 30.0
    connections_max: int = 512
    connections_per_uid_max: int = 64
    connections_kept: int = 16
    in_flight_per_connection_max: int = 32
    in_flight_per_uid_max: int = 128
    questions_per_connection_max: int = 4
    backfill_envelope_s: float = 60.0
    subscriptions_per_connection_max: int = 4
    outgoing_bytes_max: int = 2 << 20
    stall_timeout_s: float = 10.0
    hello_timeout_s: float = 10.0
    partial_frame_timeout_s: float = 10.0
    idle_timeout_s: float | None = 600.0
    faults_max: int = 100
    fds_reserve: int = 32
    drain_timeout_s: float = 10.0
