from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_examples import REPLIES

from recalld.protocol import replies, requests
from recalld.protocol.errors import WireError
from recalld.protocol.handshake import Agreed, HandshakeState, Proceed, Rejected, ServerHandshake, read_welcome
from recalld.protocol.version import choose_version


def test_a_hello_opens_the_connection_and_requests_proceed() -> None:
    handshake = ServerHandshake()
    hello = requests.Hello(id=1, protocol=(1, 9))
    assert handshake.receive(hello) == Agreed(hello, 1)
    assert handshake.state is HandshakeState.OPEN
    assert handshake.receive(requests.Ping(id=2)) == Proceed(requests.Ping(id=2))


def test_anything_before_hello_is_refused_for_good() -> None:
    handshake = ServerHandshake()
    for request in (requests.Ping(id=5), requests.Hello(id=6)):
        step = handshake.receive(request)
        assert isinstance(step, Rejected)
        assert step.error.id == request.id
        assert handshake.state is HandshakeState.REFUSED


def test_a_version_that_is_not_spoken_is_refused_and_both_ranges_named() -> None:
    handshake = ServerHandshake()
    step = handshake.receive(requests.Hello(id=1, protocol=(2, 3)))
    assert isinstance(step, Rejected)
    assert step.is_final
    assert step.error.code == "unsupported_version"
    assert "1 to 1" in step.error.message
    assert "2 to 3" in step.error.message


def test_a_second_hello_is_refused_and_changes_nothing() -> None:
    handshake = ServerHandshake()
    handshake.receive(requests.Hello())
    step = handshake.receive(requests.Hello(id=2))
    assert isinstance(step, Rejected)
    assert not step.is_final
    assert handshake.state is HandshakeState.OPEN


@given(low=st.integers(0, 5), high=st.integers(0, 5))
def test_version_1_is_chosen_exactly_when_the_range_holds_it(low: int, high: int) -> None:
    assert choose_version((low, high)) == (1 if low <= 1 <= high else None)


def test_a_client_takes_a_welcome_or_an_error_and_nothing_else() -> None:
    assert read_welcome(REPLIES["welcome"]) is REPLIES["welcome"]
    assert read_welcome(REPLIES["error"]) is REPLIES["error"]
    with pytest.raises(WireError, match="welcome"):
        read_welcome(replies.Pong(id=1))


def test_a_client_refuses_a_version_it_does_not_speak() -> None:
    import msgspec

    with pytest.raises(WireError, match="version 2"):
        read_welcome(msgspec.structs.replace(REPLIES["welcome"], protocol=2))
