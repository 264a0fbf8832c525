"""One blocking connection: frames out, replies in, each by a deadline."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import msgspec

from recalld.protocol.client.errors import ClientError, ClientFault, bad_reply, from_reply, from_wire
from recalld.protocol.client.ids import RequestIds
from recalld.protocol.client.settings import ClientSettings
from recalld.protocol.codec import decode_reply, encode_message
from recalld.protocol.errors import WireError
from recalld.protocol.framing import Frame, FrameFault, FrameReader, NeedData
from recalld.protocol.handshake import read_welcome
from recalld.protocol.messages import Reply, Request
from recalld.protocol.replies import Error, Welcome

_RECEIVE_BYTES = 65_536
_CONNECT_RETRY_S = 0.01
"""Pause before trying again at a listener whose backlog is full: the kernel gives nothing to wait on."""

MonotonicClock = Callable[[], float]

monotonic_s: MonotonicClock = time.monotonic  # noqa: TID251 - a client runs outside the daemon, on its own clock


class BlockingLink:
    """An open, greeted connection. Not thread-safe; every failure but a timeout while reading leaves it unusable.

    Args:
        settings: Where to connect and as whom.
        deadline_s: On the monotonic clock, for connecting and greeting.

    Raises:
        ClientError: Nobody answers, or the server refused.
    """

    def __init__(self, settings: ClientSettings, deadline_s: float) -> None:
        self._socket = _connect(settings.socket_path, deadline_s)
        self._frames = FrameReader()
        self._ids = RequestIds()
        try:
            self.welcome: Welcome = self._greet(settings, deadline_s)
        except BaseException:
            self.close()
            raise

    def send(self, request: Request, deadline_s: float) -> int:
        """Send a request under a fresh id, which is returned.

        Raises:
            ClientError: The request cannot be encoded (nothing was sent, the link stays usable), or sending failed.
        """
        request_id = self._ids.next_id()
        try:
            frame = encode_message(msgspec.structs.replace(request, id=request_id))
        except WireError as error:
            raise from_wire(error) from error
        try:
            self._socket.settimeout(_left_s(deadline_s))
            self._socket.sendall(frame)
        except TimeoutError as error:
            raise ClientError(ClientFault.TIMEOUT, "the server did not take the request in time") from error
        except OSError as error:
            raise ClientError(ClientFault.CONNECTION_LOST, f"the connection broke while sending: {error}") from error
        return request_id

    def receive(self, request_id: int, deadline_s: float | None) -> Reply:
        """Wait for the reply to `request_id`; late replies to requests given up earlier are passed over.

        Raises:
            ClientError: `timeout`, `connection_lost`, `bad_reply`, or what the server said about the connection.
        """
        while True:
            reply = self._next_reply(deadline_s)
            if isinstance(reply, Error) and reply.id is None:
                raise from_reply(reply)
            if reply.id == request_id:
                return reply

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _greet(self, settings: ClientSettings, deadline_s: float) -> Welcome:
        try:
            hello_id = self.send(settings.hello(), deadline_s)
        except ClientError as error:
            raise self._explained(error, deadline_s) from error
        try:
            answer = read_welcome(self.receive(hello_id, deadline_s))
        except WireError as error:
            raise bad_reply(error.message) from error
        if isinstance(answer, Error):
            raise from_reply(answer)
        return answer

    def _explained(self, failure: ClientError, deadline_s: float) -> ClientError:
        """What the server said before it closed: one that turns a client away does not wait for its hello."""
        if failure.code != ClientFault.CONNECTION_LOST:
            return failure
        try:
            reply = self._next_reply(deadline_s)
        except ClientError:
            return failure
        return from_reply(reply) if isinstance(reply, Error) else failure

    def _next_reply(self, deadline_s: float | None) -> Reply:
        while True:
            match self._frames.next_event():
                case Frame(body):
                    return _read_reply(body)
                case FrameFault(_, message):
                    raise bad_reply(message)
                case NeedData():
                    self._frames.receive(self._receive_bytes(deadline_s))

    def _receive_bytes(self, deadline_s: float | None) -> bytes:
        try:
            self._socket.settimeout(None if deadline_s is None else _left_s(deadline_s))
            data = self._socket.recv(_RECEIVE_BYTES)
        except TimeoutError as error:
            raise ClientError(ClientFault.TIMEOUT, "the server did not answer in time") from error
        except OSError as error:
            raise ClientError(ClientFault.CONNECTION_LOST, f"the connection broke while waiting: {error}") from error
        if not data:
            raise ClientError(ClientFault.CONNECTION_LOST, "the server closed the connection")
        return data


def _connect(path: str, deadline_s: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _dial(connection, path, deadline_s)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        connection.close()
        raise ClientError(ClientFault.CONNECT_FAILED, f"cannot connect to {path!r}: {error}") from error
    except BaseException:
        connection.close()
        raise
    return connection


def _dial(connection: socket.socket, path: str, deadline_s: float) -> None:
    while True:
        connection.settimeout(_left_s(deadline_s))
        try:
            connection.connect(path)
        except BlockingIOError:  # its backlog is full
            time.sleep(_CONNECT_RETRY_S)
        else:
            return


def _left_s(deadline_s: float) -> float:
    left_s = deadline_s - monotonic_s()
    if left_s <= 0:
        raise ClientError(ClientFault.TIMEOUT, "the time for this call is used up")
    return left_s


def _read_reply(body: bytes) -> Reply:
    try:
        return decode_reply(body)
    except WireError as error:
        raise bad_reply(error.message) from error
