"""The gateway: connections in, requests to the service, replies out; one connection's end is nobody else's."""

from __future__ import annotations

import contextlib
import socket

import anyio
import anyio.abc
import structlog

from recalld.actors.ports import Clock
from recalld.actors.service import MemoryService
from recalld.daemon.gateway.accept import accept_connections, has_headroom
from recalld.daemon.gateway.connection import Connection, Shared
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.dispatch import Dispatcher, error_frame
from recalld.daemon.gateway.lending import LentModels
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.listener import BoundListener
from recalld.daemon.gateway.peer import AccessPolicy, Peer, peer_of
from recalld.daemon.gateway.quota import Quota
from recalld.daemon.gateway.welcome import Greeter
from recalld.models.domain.errors import ErrorCode
from recalld.protocol.unix_stream import UnixStream

CONNECTION_FAILED = "gateway_connection_failed"
"""Log line of a connection that ended by a fault of the gateway's own."""

_log: structlog.stdlib.BoundLogger = structlog.get_logger("recalld.gateway")


class Gateway:
    """Serves a memory service on a listening socket.

    Clients may connect from the moment the listener is bound; they are answered once `serve` runs.

    Args:
        listener: From `bind_listener` or `adopt_listener`; the gateway closes it.
        service: What does the work.
        policy: Who may connect, and for whom they may act.
        clock: Monotonic time for deadlines, wall time for ages.
        counters: Where connections, refusals and peers' faults are counted.
        version: The daemon's version, told to clients.
        limits: Every bound.
        lent_models: The models that connected runtimes lend, for whoever asks them; one that nobody asks when None.
    """

    def __init__(
        self,
        *,
        listener: BoundListener,
        service: MemoryService,
        policy: AccessPolicy,
        clock: Clock,
        counters: GatewayCounters,
        version: str,
        limits: GatewayLimits | None = None,
        lent_models: LentModels | None = None,
    ) -> None:
        self._listener = listener
        self._policy = policy
        self._limits = limits if limits is not None else GatewayLimits()
        self._counters = counters
        self._shared = Shared(
            dispatcher=Dispatcher(service=service, policy=policy, clock=clock, limits=self._limits, counters=counters),
            greeter=Greeter(version=version, limits=self._limits, policy=policy),
            clock=clock,
            limits=self._limits,
            counters=counters,
            lent_models=lent_models or LentModels(policy=policy, clock=clock, counters=counters),
        )
        self._places = Quota(
            per_uid_max=self._limits.connections_per_uid_max,
            total_max=self._limits.connections_max,
            kept=self._limits.connections_kept,
            trusted=policy.trusted_uids,
        )
        self._connections: set[Connection] = set()
        self._accepting = anyio.CancelScope()
        self._serving = anyio.CancelScope()
        self._is_serving = False
        self._ended = anyio.Event()

    @property
    def open_connections(self) -> int:
        """Connections being served."""
        return len(self._connections)

    async def serve(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Accept and serve until `drain` has ended every connection, or until cancelled. Call it once."""
        self._is_serving = True
        try:
            with self._serving:
                async with anyio.create_task_group() as tasks:
                    task_status.started()
                    with self._accepting:
                        await accept_connections(
                            self._listener.sock, lambda sock: self._admit(sock, tasks), self._counters
                        )
                    self._listener.close()
        finally:
            self._listener.close()
            self._ended.set()

    async def drain(self, timeout_s: float | None = None) -> bool:
        """Stop accepting, let every connection finish what is in flight, and close them all.

        Args:
            timeout_s: How long to wait before what is left is closed unanswered; the limits' own value when None.

        Returns:
            Whether every connection ended by itself.
        """
        self._accepting.cancel()
        if not self._is_serving:
            self._listener.close()
            return True
        for connection in tuple(self._connections):
            connection.drain()
        with anyio.move_on_after(self._limits.drain_timeout_s if timeout_s is None else timeout_s):
            await self._ended.wait()
        is_clean = self._ended.is_set()
        self._serving.cancel()
        await self._ended.wait()
        return is_clean

    def _admit(self, sock: socket.socket, tasks: anyio.abc.TaskGroup) -> None:
        """Serve an accepted socket, or tell its peer why not."""
        sock.settimeout(0)
        try:
            peer = peer_of(sock)
        except OSError:
            self._turn_away(sock, GatewayCount.CONNECTIONS_FORBIDDEN, ErrorCode.FORBIDDEN, "the peer is not known")
            return
        if not self._policy.may_connect(peer.uid):
            message = f"uid {peer.uid} may not use this daemon, which serves uid {self._policy.own_uid}"
            self._turn_away(sock, GatewayCount.CONNECTIONS_FORBIDDEN, ErrorCode.FORBIDDEN, message)
        elif not has_headroom(sock, self._limits.fds_reserve) or not self._places.try_take(peer.uid):
            self._turn_away(
                sock, GatewayCount.CONNECTIONS_REFUSED, ErrorCode.BUSY, "too many connections are open; close some"
            )
        else:
            self._counters.add(GatewayCount.CONNECTIONS_ACCEPTED)
            tasks.start_soon(self._serve_one, sock, peer)

    async def _serve_one(self, sock: socket.socket, peer: Peer) -> None:
        try:
            with self._places.holding(peer.uid), UnixStream(sock) as stream:
                await self._run(Connection(stream, peer, self._shared))
        except Exception as error:  # noqa: BLE001 - the border: one connection's fault must not end the others
            self._counters.add(GatewayCount.CONNECTIONS_FAILED)
            _log.error(CONNECTION_FAILED, peer_uid=peer.uid, peer_pid=peer.pid, exc_info=error)

    async def _run(self, connection: Connection) -> None:
        self._connections.add(connection)
        if self._accepting.cancel_called:  # drain began between accept and here
            connection.drain()
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)

    def _turn_away(self, sock: socket.socket, count: GatewayCount, code: ErrorCode, message: str) -> None:
        self._counters.add(count)
        with sock, contextlib.suppress(OSError):  # a new socket's buffer has room; if the peer has gone, so be it
            sock.send(error_frame(None, code, message))
