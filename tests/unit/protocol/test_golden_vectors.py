"""The bytes that clients in the field read and write, message by message."""

from __future__ import annotations

import typing

import msgspec
import pytest
from wire_examples import REPLIES, REQUESTS, VECTORS, as_json

from recalld.protocol.codec import decode_reply, decode_request, encode_message
from recalld.protocol.framing import Frame, FrameReader
from recalld.protocol.messages import Reply, Request


def vector(name: str) -> bytes:
    return bytes.fromhex((VECTORS / f"{name}.hex").read_text())


def body(data: bytes) -> bytes:
    reader = FrameReader()
    reader.receive(data)
    event = reader.next_event()
    assert isinstance(event, Frame)
    assert not reader.is_mid_frame
    return event.body


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_reads_and_writes_as_its_vector(name: str) -> None:
    assert decode_request(body(vector(name))) == REQUESTS[name]
    assert encode_message(REQUESTS[name]) == vector(name)


@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_reads_and_writes_as_its_vector(name: str) -> None:
    assert decode_reply(body(vector(name))) == REPLIES[name]
    assert encode_message(REPLIES[name]) == vector(name)


@pytest.mark.parametrize("name", [*REQUESTS, *REPLIES])
def test_the_readable_form_of_a_vector_shows_the_same_map(name: str) -> None:
    assert (VECTORS / f"{name}.json").read_text() == as_json({**REQUESTS, **REPLIES}[name])


def test_every_message_has_a_vector_and_every_vector_a_message() -> None:
    assert {type(message) for message in REQUESTS.values()} == set(typing.get_args(Request))
    assert {type(message) for message in REPLIES.values()} == set(typing.get_args(Reply))
    assert {path.stem for path in VECTORS.glob("*.hex")} == {*REQUESTS, *REPLIES}
    assert {path.stem for path in VECTORS.glob("*.json")} == {*REQUESTS, *REPLIES}


@pytest.mark.parametrize("name", REQUESTS)
def test_an_unknown_field_is_ignored(name: str) -> None:
    fields = msgspec.msgpack.decode(body(vector(name)))
    newer = msgspec.msgpack.encode({**fields, "not_yet_invented": [{"deep": [1, None, "x"]}]})
    assert decode_request(newer) == REQUESTS[name]
