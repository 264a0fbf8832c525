"""One connection, from its first byte to its last reply.

The reader runs in the connection's own task; every request runs as a child of it, so that replies come as they are
ready, and the outbox writes in a third. A half-closed connection still gets every reply; a frame cut short applies
nothing.
"""

from __future__ import annotations

import contextlib

import anyio
import anyio.abc

from recalld.actors.ports import Clock
from recalld.actors.service import EventStream
from recalld.daemon.gateway import translate
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.dispatch import Dispatcher, error_frame
from recalld.daemon.gateway.lending import FEATURE, Lender, LentModels
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.outbox import Outbox, PeerStalledError
from recalld.daemon.gateway.peer import Peer
from recalld.daemon.gateway.quota import Quota
from recalld.daemon.gateway.welcome import Greeter
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.protocol import replies, requests
from recalld.protocol.codec import decode_request, encode_message
from recalld.protocol.errors import WireError
from recalld.protocol.framing import Frame, FrameFault, FrameReader, NeedData
from recalld.protocol.handshake import Agreed, HandshakeState, Proceed, Rejected, ServerHandshake
from recalld.protocol.messages import ServiceRequest
from recalld.protocol.unix_stream import UnixStream

RECEIVE_BYTES = 65_536


class Shared:
    """What all connections of a gateway have in common."""

    def __init__(
        self,
        *,
        dispatcher: Dispatcher,
        greeter: Greeter,
        clock: Clock,
        limits: GatewayLimits,
        counters: GatewayCounters,
        lent_models: LentModels,
    ) -> None:
        self.lent_models = lent_models
        self.dispatcher = dispatcher
        self.greeter = greeter
        self.clock = clock
        self.limits = limits
        self.counters = counters
        self.in_flight = Quota(per_uid_max=limits.in_flight_per_uid_max)


class Connection:
    """Serves one peer.

    Args:
        stream: The accepted connection; whoever made it closes it after `run`.
        peer: Who is at the other end.
        shared: The gateway's common parts.
    """

    def __init__(self, stream: UnixStream, peer: Peer, shared: Shared) -> None:
        self._stream = stream
        self._peer = peer
        self._shared = shared
        self._outbox = Outbox(
            stream.send,
            bytes_max=shared.limits.outgoing_bytes_max,
            stall_timeout_s=shared.limits.stall_timeout_s,
        )
        self._frames = FrameReader()
        self._handshake = ServerHandshake()
        self._client = ""
        self._in_flight = 0
        self._streams: set[EventStream] = set()
        self._lender: Lender | None = None
        self._faults = 0
        self._is_draining = False
        self._frame_began_s: float | None = None
        self._quiet_since_s = shared.clock.monotonic_s()
        self._all_answered = anyio.Event()

    async def run(self) -> None:
        """Serve until the peer has gone, or is done and has every reply, or a limit is broken."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._write, tasks.cancel_scope)
                await self._read(tasks)
                await self._settle()
                tasks.cancel_scope.cancel()
        finally:
            self._close_streams()
            self._stop_lending()

    def drain(self) -> None:
        """Answer what is in flight, refuse what comes after it, and end."""
        self._is_draining = True
        self._stop_lending()
        self._stop_reading_if_quiet()

    # --- reading -----------------------------------------------------------------------------------------------------

    async def _read(self, tasks: anyio.abc.TaskGroup) -> None:
        while True:
            await self._wait_for_room()
            data = await self._receive()
            if not data:
                break
            self._frames.receive(data)
            if not await self._handle_frames(tasks):
                return
        fault = self._frames.finish()
        if fault is not None:  # the stream ended, or its peer stopped, inside a frame: it applies nothing
            await self._refuse_stream(fault)

    async def _wait_for_room(self) -> None:
        """A peer that does not read its replies is not read from either; that time is not held against its frame."""
        began_s = self._shared.clock.monotonic_s()
        await self._outbox.has_room()
        if self._frame_began_s is not None:
            self._frame_began_s += self._shared.clock.monotonic_s() - began_s

    async def _receive(self) -> bytes:
        """The next bytes; empty at the end of the stream, and when the peer took too long."""
        while True:
            deadline_s = self._read_deadline_s()
            left_s = None if deadline_s is None else max(0.0, deadline_s - self._shared.clock.monotonic_s())
            with anyio.move_on_after(left_s):
                try:
                    data = await self._stream.receive(RECEIVE_BYTES)
                except OSError:
                    return b""  # reset by the peer; if replies wait, sending them will tell
                self._quiet_since_s = self._shared.clock.monotonic_s()
                return data
            if self._is_overdue():
                return b""

    def _read_deadline_s(self) -> float | None:
        """When the peer must have sent something: the earliest of the three timeouts that apply now."""
        limits = self._shared.limits
        deadlines: list[float] = []
        if self._frame_began_s is not None:
            deadlines.append(self._frame_began_s + limits.partial_frame_timeout_s)
        if self._handshake.state is HandshakeState.AWAITING_HELLO:
            deadlines.append(self._quiet_since_s + limits.hello_timeout_s)
        elif limits.idle_timeout_s is not None and self._frame_began_s is None:
            deadlines.append(self._quiet_since_s + limits.idle_timeout_s)
        return min(deadlines, default=None)

    def _is_overdue(self) -> bool:
        """Whether a timeout ends the connection; counts which one."""
        counters = self._shared.counters
        if self._frame_began_s is not None:
            return True  # counted with the fault that ends the stream
        if self._handshake.state is HandshakeState.AWAITING_HELLO:
            counters.add(GatewayCount.PEER_FAULTS)
            return True
        if self._in_flight or self._streams or self._lender is not None:
            self._quiet_since_s = self._shared.clock.monotonic_s()  # it waits for us, not we for it
            return False
        counters.add(GatewayCount.CONNECTIONS_IDLE)
        return True

    async def _handle_frames(self, tasks: anyio.abc.TaskGroup) -> bool:
        """Handle every complete frame; return whether to go on reading."""
        while True:
            match self._frames.next_event():
                case Frame(body):
                    self._frame_began_s = None
                    if not await self._handle_body(body, tasks):
                        return False
                    await self._wait_for_room()
                case FrameFault() as fault:
                    await self._refuse_stream(fault)
                    return False
                case NeedData():
                    if self._frames.is_mid_frame and self._frame_began_s is None:
                        self._frame_began_s = self._shared.clock.monotonic_s()
                    return True

    async def _handle_body(self, body: bytes, tasks: anyio.abc.TaskGroup) -> bool:
        try:
            request = decode_request(body)
        except WireError as fault:
            return await self._refuse_body(fault)
        match self._handshake.receive(request):
            case Agreed(hello, version):
                welcome = self._shared.greeter.welcome(hello, version, self._peer)
                await self._outbox.put(encode_message(welcome))
                self._client = hello.client.name
                self._lend(hello)
            case Rejected(error, is_final):
                self._shared.counters.add(GatewayCount.PEER_FAULTS)
                await self._outbox.put(encode_message(error))
                return not is_final
            case Proceed(accepted):
                await self._start(accepted, tasks)
        return True

    async def _refuse_stream(self, fault: FrameFault) -> None:
        self._shared.counters.add(GatewayCount.PEER_FAULTS)
        await self._outbox.put(error_frame(None, ErrorCode(fault.code.value), fault.message))

    async def _refuse_body(self, error: WireError) -> bool:
        """Say what was wrong with a message; framing is intact, so the connection goes on, within reason."""
        self._shared.counters.add(GatewayCount.PEER_FAULTS)
        self._faults += 1
        await self._outbox.put(error_frame(error.request_id, ErrorCode(error.code.value), error.message))
        return self._faults < self._shared.limits.faults_max

    # --- requests ----------------------------------------------------------------------------------------------------

    async def _start(
        self, request: requests.Subscribe | requests.ExtractResult | ServiceRequest, tasks: anyio.abc.TaskGroup
    ) -> None:
        """Start a request as a child task, or refuse it at once."""
        if isinstance(request, requests.ExtractResult):
            await self._take_result(request)
            return
        self._shared.counters.add(GatewayCount.REQUESTS)
        if self._is_draining:
            await self._refuse(request.id, ErrorCode.DRAINING, "the daemon is stopping: connect again shortly")
        elif isinstance(request, requests.Subscribe):
            await self._subscribe(request, tasks)
        elif self._in_flight >= self._shared.limits.in_flight_per_connection_max:
            await self._refuse_busy(request.id, "too many requests of this connection are in flight")
        elif not self._shared.in_flight.try_take(self._peer.uid):
            await self._refuse_busy(request.id, f"too many requests of uid {self._peer.uid} are in flight")
        else:
            self._in_flight += 1
            tasks.start_soon(self._answer, request, self._shared.clock.monotonic_s())

    async def _answer(self, request: ServiceRequest, received_s: float) -> None:
        try:
            with self._shared.in_flight.holding(self._peer.uid):
                frame = await self._shared.dispatcher.answer(
                    request, self._peer, received_s=received_s, client=self._client
                )
                await self._outbox.put(frame)
        finally:
            self._in_flight -= 1
            self._quiet_since_s = self._shared.clock.monotonic_s()
            self._all_answered.set()
            self._all_answered = anyio.Event()
            self._stop_reading_if_quiet()

    async def _subscribe(self, request: requests.Subscribe, tasks: anyio.abc.TaskGroup) -> None:
        if len(self._streams) >= self._shared.limits.subscriptions_per_connection_max:
            await self._refuse_busy(request.id, "too many subscriptions on this connection")
            return
        try:
            stream = self._shared.dispatcher.open_stream(request, self._peer)
        except RecalldError as error:
            await self._refuse(request.id, error.code, error.message)
            return
        self._streams.add(stream)
        await self._outbox.put(encode_message(replies.Subscribed(id=request.id)))
        tasks.start_soon(self._pump, request.id, stream)

    async def _pump(self, request_id: int, stream: EventStream) -> None:
        """Forward events; while the outbox is full they wait in the stream, which drops its oldest."""
        with contextlib.suppress(anyio.EndOfStream):
            while True:
                happened, dropped = await stream.next_event()
                await self._outbox.put(encode_message(translate.event(request_id, happened, dropped=dropped)))

    def _lend(self, hello: requests.Hello) -> None:
        """Take the peer's model into service if it lends one. A hello that wants nothing by name lends nothing."""
        if FEATURE in hello.wants:
            self._lender = Lender(self._peer, hello.id, self._outbox.try_put)
            self._shared.lent_models.lend(self._lender)

    async def _take_result(self, result: requests.ExtractResult) -> None:
        """Hand over what the peer's model answered. It is no request, so it has no reply unless nobody asked."""
        try:
            self._shared.lent_models.receive(self._lender, result)
        except RecalldError as error:
            await self._refuse(result.id, error.code, error.message)

    def _stop_lending(self) -> None:
        """Whoever waits for an answer of this peer learns that none will come."""
        if self._lender is not None:
            self._shared.lent_models.withdraw(self._lender)

    async def _refuse_busy(self, request_id: int, message: str) -> None:
        self._shared.counters.add(GatewayCount.REQUESTS_BUSY)
        await self._refuse(request_id, ErrorCode.BUSY, message)

    async def _refuse(self, request_id: int, code: ErrorCode, message: str) -> None:
        await self._outbox.put(error_frame(request_id, code, message))

    # --- ending ------------------------------------------------------------------------------------------------------

    async def _write(self, scope: anyio.CancelScope) -> None:
        """Send replies; when the peer can no longer take them, end the connection and its requests."""
        try:
            await self._outbox.run()
        except PeerStalledError:
            self._shared.counters.add(GatewayCount.CONNECTIONS_STALLED)
            scope.cancel()
        except OSError:
            self._shared.counters.add(GatewayCount.PEERS_LOST)
            scope.cancel()

    async def _settle(self) -> None:
        """Nothing more is read: let every request finish and every reply leave."""
        self._close_streams()
        self._stop_lending()
        while self._in_flight:
            await self._all_answered.wait()
        await self._outbox.finish()

    def _close_streams(self) -> None:
        while self._streams:
            self._streams.pop().close()

    def _stop_reading_if_quiet(self) -> None:
        """While draining, end the stream once nothing is in flight.

        Shutting down the reading side, instead of closing, still hands over what the peer sent before: that is answered
        `draining`.
        """
        if self._is_draining and not self._in_flight:
            with contextlib.suppress(OSError):  # gone already
                self._stream.end_reading()
