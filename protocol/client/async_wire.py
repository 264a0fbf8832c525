"""One asynchronous connection, up to and including its greeting: messages out, messages in."""

from __future__ import annotations

from typing import Self

import anyio
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
from recalld.protocol.unix_stream import UnixStream


class AsyncWire:
    """A greeted connection without any task of its own. One task may send while another receives."""

    def __init__(self, stream: UnixStream) -> None:
        self._stream = stream
        self._frames = FrameReader()
        self._ids = RequestIds()
        self._welcome: Welcome | None = None

    @classmethod
    async def open(cls, settings: ClientSettings, wants: tuple[str, ...] = ()) -> Self:
        """Connect and greet.

        Args:
            settings: Where to connect and as whom.
            wants: Features to name in the greeting; `extractor` among them promises to answer `extract_request`s.

        Raises:
            ClientError: Nobody listens, or the server refused.
        """
        try:
            stream = await UnixStream.connect(settings.socket_path)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the path
            message = f"cannot connect to {settings.socket_path!r}: {error}"
            raise ClientError(ClientFault.CONNECT_FAILED, message) from error
        wire = cls(stream)
        try:
            await wire._greet(settings, wants)
        except BaseException:
            wire.close()
            raise
        return wire

    @property
    def welcome(self) -> Welcome:
        """What the server said of itself."""
        if self._welcome is None:
            raise ClientError(ClientFault.CONNECTION_LOST, "the server has not greeted yet")
        return self._welcome

    def prepare(self, request: Request) -> tuple[int, bytes]:
        """Give a request a fresh id and encode it; return the id and the frame.

        Raises:
            ClientError: It cannot be encoded, or does not fit a frame.
        """
        request_id = self._ids.next_id()
        try:
            return request_id, encode_message(msgspec.structs.replace(request, id=request_id))
        except WireError as error:
            raise from_wire(error) from error

    async def send(self, frame: bytes) -> None:
        """Send a whole frame. If this is interrupted, the connection must not be used for sending again.

        Raises:
            ClientError: The connection broke.
        """
        try:
            await self._stream.send(frame)
        except (OSError, anyio.ClosedResourceError) as error:
            raise ClientError(ClientFault.CONNECTION_LOST, "the connection broke while sending") from error

    async def receive(self) -> Reply:
        """Wait for the next message, whatever it answers.

        Raises:
            ClientError: The connection ended, its bytes make no sense, or the server said why it closes.
        """
        while True:
            match self._frames.next_event():
                case Frame(body):
                    return _read_reply(body)
                case FrameFault(_, message):
                    raise bad_reply(message)
                case NeedData():
                    self._frames.receive(await self._receive_bytes())

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    async def _greet(self, settings: ClientSettings, wants: tuple[str, ...]) -> None:
        _, frame = self.prepare(settings.hello(wants))
        try:
            await self.send(frame)
        except ClientError as error:
            raise await self._explained(error) from error
        try:
            answer = read_welcome(await self.receive())
        except WireError as error:
            raise bad_reply(error.message) from error
        if isinstance(answer, Error):
            raise from_reply(answer)
        self._welcome = answer

    async def _explained(self, failure: ClientError) -> ClientError:
        """What the server said before it closed: one that turns a client away does not wait for its hello."""
        try:
            await self.receive()
        except ClientError as said:
            return failure if said.code == ClientFault.CONNECTION_LOST else said
        return failure

    async def _receive_bytes(self) -> bytes:
        try:
            data = await self._stream.receive()
        except (OSError, anyio.ClosedResourceError) as error:
            raise ClientError(ClientFault.CONNECTION_LOST, "the connection broke while waiting") from error
        if not data:
            raise ClientError(ClientFault.CONNECTION_LOST, "the server closed the connection")
        return data


def _read_reply(body: bytes) -> Reply:
    try:
        reply = decode_reply(body)
    except WireError as error:
        raise bad_reply(error.message) from error
    if isinstance(reply, Error) and reply.id is None:
        raise from_reply(reply)
    return reply
