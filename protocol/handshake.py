"""The hello: a state machine for each side, without I/O."""

from __future__ import annotations

import enum

import msgspec

from recalld.protocol.errors import ErrorCode, WireError
from recalld.protocol.messages import Reply, Request, ServiceRequest
from recalld.protocol.replies import Error, Welcome
from recalld.protocol.requests import ExtractResult, Hello, Subscribe
from recalld.protocol.version import PROTOCOL_VERSION_MAX, PROTOCOL_VERSION_MIN, choose_version


class HandshakeState(enum.StrEnum):
    """Where a connection stands."""

    AWAITING_HELLO = "awaiting_hello"
    OPEN = "open"
    REFUSED = "refused"


class Agreed(msgspec.Struct, frozen=True):
    """The hello was good: answer it with `welcome` of this version."""

    hello: Hello
    version: int


class Proceed(msgspec.Struct, frozen=True):
    """An ordinary request, or an answer to the server's own, on an open connection."""

    request: Subscribe | ExtractResult | ServiceRequest


class Rejected(msgspec.Struct, frozen=True):
    """Answer with this error; when `is_final`, close afterwards."""

    error: Error
    is_final: bool


class ServerHandshake:
    """The server's side: the first request must be a hello of a version both sides speak."""

    def __init__(self) -> None:
        self.state = HandshakeState.AWAITING_HELLO

    def receive(self, request: Request) -> Agreed | Proceed | Rejected:
        """Judge a request by where the connection stands; the state moves on with it."""
        match request:
            case Hello() if self.state is HandshakeState.AWAITING_HELLO:
                return self._greet(request)
            case Hello():
                return _reject(request.id, ErrorCode.BAD_REQUEST, "hello was said already on this connection")
            case _ if self.state is HandshakeState.OPEN:
                return Proceed(request)
            case _:
                self.state = HandshakeState.REFUSED
                text = "the first message on a connection must be hello"
                return _reject(request.id, ErrorCode.HELLO_REQUIRED, text, is_final=True)

    def _greet(self, hello: Hello) -> Agreed | Rejected:
        version = choose_version(hello.protocol)
        if version is None:
            self.state = HandshakeState.REFUSED
            text = (
                f"protocol versions {PROTOCOL_VERSION_MIN} to {PROTOCOL_VERSION_MAX} are spoken here, "
                f"not {hello.protocol[0]} to {hello.protocol[1]}"
            )
            return _reject(hello.id, ErrorCode.UNSUPPORTED_VERSION, text, is_final=True)
        self.state = HandshakeState.OPEN
        return Agreed(hello, version)


def read_welcome(reply: Reply) -> Welcome | Error:
    """Judge the first reply on a client's connection.

    Raises:
        WireError: `bad_request` when it is neither a welcome of a version this client speaks nor an error.
    """
    match reply:
        case Welcome(protocol=version) if choose_version((version, version)) is None:
            raise WireError(ErrorCode.BAD_REQUEST, f"the server chose protocol version {version}, unknown here")
        case Welcome() | Error():
            return reply
        case _:
            raise WireError(ErrorCode.BAD_REQUEST, "the server did not answer hello with welcome")


def _reject(request_id: int, code: ErrorCode, message: str, *, is_final: bool = False) -> Rejected:
    return Rejected(Error(id=request_id, code=code, message=message), is_final)
