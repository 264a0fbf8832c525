"""Messages to bytes and back, with every failure mapped to a `WireError`.

One typed decoder per direction: nothing is built that no field asks for, so even a full frame of hostile MessagePack
is read, or refused, within milliseconds.
"""

from __future__ import annotations

import typing

import msgspec

from recalld.protocol import faults, fields
from recalld.protocol.errors import ErrorCode, WireError
from recalld.protocol.framing import frame
from recalld.protocol.messages import Reply, Request
from recalld.protocol.missing import missing_fields
from recalld.protocol.request_id import find_request_id


class _Envelope(msgspec.Struct):
    """Just enough of a message to tell its sender which one was wrong."""

    id: fields.RequestId | None = None


_encoder = msgspec.msgpack.Encoder()
_requests: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)
_envelopes = msgspec.msgpack.Decoder(_Envelope)

_MAP_STARTS = frozenset({*range(0x80, 0x90), 0xDE, 0xDF})
"""First bytes of a MessagePack map: fixmap, map 16 and map 32."""


def encode_message(message: Request | Reply) -> bytes:
    """Encode a message as a frame, header included.

    Raises:
        WireError: `bad_request` for what MessagePack cannot carry (lone surrogates, integers beyond 64 bits, objects of
            other types), `frame_too_large` for a message that does not fit.
    """
    try:
        return frame(_encoder.encode(message))
    except UnicodeEncodeError as error:
        text = f"text is not valid Unicode (a lone surrogate at position {error.start}): replace it before sending"
        raise WireError(ErrorCode.BAD_REQUEST, text, request_id=message.id) from error
    except OverflowError as error:
        text = "an integer does not fit 64 bits"
        raise WireError(ErrorCode.BAD_REQUEST, text, request_id=message.id) from error
    except TypeError as error:
        text = f"a field holds what cannot be sent ({error}): give text, numbers and the structs of this package"
        raise WireError(ErrorCode.BAD_REQUEST, text, request_id=message.id) from error
    except WireError as error:
        raise WireError(error.code, error.message, request_id=message.id) from error


def decode_request(body: bytes) -> Request:
    """Decode what a client sent.

    Raises:
        WireError: `bad_request` with the path of the field at fault, or `bad_frame` for bytes that are no MessagePack
            map.
    """
    return _decode(_requests, body)


def decode_reply(body: bytes) -> Reply:
    """Decode what a server sent. Raises as `decode_request`."""
    return _decode(_replies, body)


_Message = typing.TypeVar("_Message")


def _decode(decoder: msgspec.msgpack.Decoder[_Message], body: bytes) -> _Message:
    if not body or body[0] not in _MAP_STARTS:
        raise WireError(ErrorCode.BAD_FRAME, "the frame is not one MessagePack map: it starts as something else")
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:  # a kind of DecodeError, so it comes first
        raise WireError(ErrorCode.BAD_REQUEST, _describe(str(error), body), request_id=_request_id(body)) from error
    except msgspec.DecodeError as error:
        text = f"the frame is not one MessagePack map: {error}"
        raise WireError(ErrorCode.BAD_FRAME, text, request_id=_request_id(body)) from error
    except RecursionError as error:  # also inside fields that nobody asked for
        text = "the message is nested too deeply"
        raise WireError(ErrorCode.BAD_REQUEST, text, request_id=_request_id(body)) from error
    except (UnicodeError, OverflowError) as error:
        text = f"the message holds a value that cannot be read: {error}"
        raise WireError(ErrorCode.BAD_REQUEST, text, request_id=_request_id(body)) from error


def _request_id(body: bytes) -> int | None:
    try:
        return _envelopes.decode(body).id
    except msgspec.ValidationError:
        return None
    except (msgspec.DecodeError, RecursionError, UnicodeError, OverflowError):
        return find_request_id(body)


def _describe(fault: str, body: bytes) -> str:
    missing = faults.missing_field(fault)
    if missing is None:
        return faults.describe(fault)
    return faults.describe_missing(missing_fields(body) or (missing,))
