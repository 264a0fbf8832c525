"""Peers that misbehave, and who must not notice."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import anyio
import msgspec
import pytest
from gateway_harness import WAIT_S, FakeService, RawClient, Running, StartGateway, WallClock

from recalld.daemon.gateway import connection, server
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.listener import bind_listener
from recalld.daemon.gateway.peer import AccessPolicy
from recalld.daemon.gateway.server import Gateway
from recalld.protocol import replies, requests
from recalld.protocol.codec import encode_message
from recalld.protocol.framing import frame
from recalld.protocol.unix_stream import UnixStream

pytestmark = [pytest.mark.anyio, pytest.mark.integration]


async def assert_alive(running: Running) -> None:
    async with running.greeted() as client:
        await client.send(requests.Ping(id=2))
        assert await client.receive() == replies.Pong(id=2)


async def send_until_refused(client: RawClient, first: bytes, *, then: bytes) -> None:
    """Send the same bytes again and again until the server has closed."""
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        await client.stream.send(first)
        while True:
            await client.stream.send(then)


async def assert_error_then_end(client: RawClient, code: str) -> None:
    error = await client.receive()
    assert isinstance(error, replies.Error)
    assert error.code == code
    await client.receive_end()


async def test_one_peers_garbage_and_anothers_flight_leave_a_third_mid_recall_alone(start: StartGateway) -> None:  # P05
    async with start() as running, running.greeted() as third:
        await third.send(requests.Recall(id=2, user="u", session="s", text="wait"))
        async with running.greeted() as first:
            await first.send(requests.Recall(id=2, user="u", session="s", text="wait"))
            await running.until(lambda: running.service.waiting == 2)
        async with running.greeted() as second:
            await second.stream.send(b"GET / HTTP/1.1\r\n\r\n")
            await assert_error_then_end(second, "frame_too_large")
        running.service.go.set()
        assert isinstance(await third.receive(), replies.Recalled)
        await running.until(lambda: running.gateway.open_connections == 1)
        assert running.counters[GatewayCount.PEER_FAULTS] == 1
        assert running.counters[GatewayCount.PEERS_LOST] == 1
        assert running.counters[GatewayCount.CONNECTIONS_FAILED] == 0


@pytest.mark.parametrize(("header", "code"), [(b"\xff\xff\xff\xff", "frame_too_large"), (bytes(4), "bad_frame")])
async def test_a_bad_length_is_refused_before_any_body(start: StartGateway, header: bytes, code: str) -> None:  # P04
    async with start() as running, running.greeted() as client:
        await client.stream.send(header)
        await assert_error_then_end(client, code)


async def test_what_was_in_flight_before_a_framing_fault_is_still_answered(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        await client.send(requests.Recall(id=2, user="u", session="s", text="wait"))
        await client.stream.send(bytes(4))
        assert getattr(await client.receive(), "code", "") == "bad_frame"
        running.service.go.set()
        assert (await client.receive()).id == 2
        await client.receive_end()


async def test_an_unreadable_message_in_an_intact_frame_leaves_the_connection_open(start: StartGateway) -> None:
    bad = [b"\xc1", msgspec.msgpack.encode({"type": "nonsense", "id": 7}), b"\x81\xa1x" + b"\x91" * 50_000 + b"\xc0"]
    async with start() as running, running.greeted() as client:
        errors = []
        for body in bad:
            await client.stream.send(frame(body))
            errors.append(await client.receive())
        await client.send(requests.Ping(id=8))
        assert await client.receive() == replies.Pong(id=8)
        assert running.counters[GatewayCount.PEER_FAULTS] == len(bad)
    assert [(getattr(error, "id", 0), getattr(error, "code", "")) for error in errors] == [
        (None, "bad_frame"),
        (7, "bad_request"),
        (None, "bad_request"),
    ]


async def test_a_peer_that_sends_nothing_but_garbage_is_closed(start: StartGateway) -> None:
    async with start(faults_max=3) as running, running.greeted() as client:
        await client.stream.send(frame(b"\xc1") * 10)
        for _ in range(3):
            assert getattr(await client.receive(), "code", "") == "bad_frame"
        await client.receive_end()


async def test_the_end_of_the_stream_inside_a_frame_applies_nothing(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        whole = encode_message(requests.Remember(id=2, user="u", text="never"))
        await client.stream.send(whole[:-1])
        client.stream.end_writing()
        await assert_error_then_end(client, "bad_frame")
        assert not running.service.saves


async def test_requests_byte_by_byte_are_answered(start: StartGateway) -> None:
    async with start() as running, running.raw() as client:
        for byte in encode_message(requests.Hello(id=1)) + encode_message(requests.Ping(id=2)):
            await client.stream.send(bytes([byte]))
        assert isinstance(await client.receive(), replies.Welcome)
        assert await client.receive() == replies.Pong(id=2)


async def test_a_frame_that_trickles_is_cut_off_from_its_first_byte(start: StartGateway) -> None:  # P04
    async with start(partial_frame_timeout_s=0.05) as running, running.greeted() as client:
        endless = b"\x00\x10\x00\x00"  # a frame of 1 MiB, one byte at a time: no single read waits long
        with anyio.fail_after(WAIT_S):
            await send_until_refused(client, endless, then=b"x")
        assert not running.service.saves
        await assert_alive(running)


async def test_a_silent_connection_is_closed_before_hello_and_when_idle(start: StartGateway) -> None:
    async with start(hello_timeout_s=0.02, idle_timeout_s=0.02) as running:
        async with running.raw() as silent:
            await silent.receive_end()
        async with running.greeted() as idle:
            await idle.receive_end()
        assert running.counters[GatewayCount.PEER_FAULTS] == 1
        assert running.counters[GatewayCount.CONNECTIONS_IDLE] == 1


async def test_a_connection_that_waits_for_its_reply_or_for_events_is_not_idle(start: StartGateway) -> None:
    async with start(idle_timeout_s=0.02) as running, running.greeted() as waiter, running.greeted() as listener:
        await listener.send(requests.Subscribe(id=3))
        await waiter.send(requests.Recall(id=2, user="u", session="s", text="wait"))
        async with running.greeted() as idle:
            await idle.receive_end()  # several idle timeouts of the others' reads have passed by then
        running.service.go.set()
        assert (await waiter.receive()).id == 2
        assert await listener.receive() == replies.Subscribed(id=3)
        assert running.gateway.open_connections >= 1


async def test_too_many_requests_of_a_connection_or_of_a_uid_are_busy(start: StartGateway) -> None:
    async with (
        start(in_flight_per_connection_max=2, in_flight_per_uid_max=3) as running,
        running.greeted() as first,
        running.greeted() as second,
    ):
        for request_id in (2, 3, 4):
            await first.send(requests.Recall(id=request_id, user="u", session="s", text="wait"))
        busy = await first.receive()
        for request_id in (2, 3):
            await second.send(requests.Recall(id=request_id, user="u", session="s", text="wait"))
        also_busy = await second.receive()
        running.service.go.set()
        assert {(await first.receive()).id, (await first.receive()).id} == {2, 3}
        assert (await second.receive()).id == 2
        await second.send(requests.Ping(id=5))  # what was taken has been given back
        assert await second.receive() == replies.Pong(id=5)
    assert isinstance(busy, replies.Error)
    assert (busy.id, busy.code, busy.retryable) == (4, "busy", True)
    assert isinstance(also_busy, replies.Error)
    assert (also_busy.id, also_busy.code) == (3, "busy")


async def test_a_peer_that_stops_reading_is_closed_and_nobody_else_waits(start: StartGateway) -> None:
    async with start(stall_timeout_s=0.1, outgoing_bytes_max=100_000) as running, running.greeted() as deaf:
        running.service.padding = "x" * 50_000
        one = encode_message(requests.Recall(id=2, user="u", session="s", text="x"))
        with anyio.fail_after(WAIT_S):
            await send_until_refused(deaf, one, then=one)
        assert running.counters[GatewayCount.CONNECTIONS_STALLED] == 1
        assert len(running.service.queries) < 30  # what it asked was not even read any more, let alone refused
        assert running.counters[GatewayCount.REQUESTS_BUSY] == 0
        await assert_alive(running)


async def test_a_slow_reader_gets_every_reply_through_a_small_buffer(start: StartGateway) -> None:
    async with start(outgoing_bytes_max=1_000) as running, running.greeted() as client:
        running.service.padding = "x" * 5_000

        async def send_all() -> None:
            for request_id in range(2, 102):
                await client.send(requests.Recall(id=request_id, user="u", session="s", text="x"))
            client.stream.end_writing()

        got = set()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send_all)
            for _ in range(100):
                reply = await client.receive()
                got.add(reply.id)
        assert got == set(range(2, 102))
        assert running.counters[GatewayCount.CONNECTIONS_STALLED] == 0


async def test_more_connections_than_allowed_are_told_busy(start: StartGateway) -> None:
    async with start(connections_max=2) as running:
        async with running.greeted(), running.greeted(), running.raw() as third:
            await assert_error_then_end(third, "busy")
        await running.until(lambda: running.gateway.open_connections == 0)
        await assert_alive(running)
        assert running.counters[GatewayCount.CONNECTIONS_REFUSED] == 1


async def test_descriptors_are_kept_free_for_the_database(start: StartGateway) -> None:  # P06
    soft = 1 << 20
    async with start(fds_reserve=soft) as running, running.raw() as client:
        await assert_error_then_end(client, "busy")


async def test_a_foreign_uid_is_refused_in_user_mode(start: StartGateway) -> None:
    policy = AccessPolicy(own_uid=os.geteuid() + 1)
    if os.geteuid() == 0:
        policy = _NobodyAllowed(own_uid=1)
    async with start(policy=policy) as running, running.raw() as client:
        await assert_error_then_end(client, "forbidden")
        assert running.counters[GatewayCount.CONNECTIONS_FORBIDDEN] == 1


class _NobodyAllowed(AccessPolicy, frozen=True, kw_only=True):
    """Root is always allowed, so a test that runs as root must take that away."""

    def may_act_for_all(self, uid: int) -> bool:
        return False


async def test_in_system_mode_a_uid_acts_only_under_its_own_prefix(start: StartGateway) -> None:
    uid = os.geteuid()
    async with (
        start(policy=_NobodyAllowed(own_uid=0, is_system=True)) as running,
        running.raw() as client,
    ):
        await client.send(requests.Hello(id=1))
        welcome = await client.receive()
        for request in (
            requests.Recall(id=2, user=f"uid:{uid + 1}/u", session="s", text="x"),
            requests.Get(id=3, user=f"uid:{uid}", memory_id="mem_1"),
            requests.Subscribe(id=4),
            requests.Subscribe(id=5, user="somebody"),
        ):
            await client.send(request)
            error = await client.receive()
            assert (error.id, getattr(error, "code", "")) == (request.id, "forbidden")
        await client.send(requests.Recall(id=6, user=f"uid:{uid}/u", session="s", text="x"))
        assert isinstance(await client.receive(), replies.Recalled)
    assert isinstance(welcome, replies.Welcome)
    assert welcome.session_defaults.user_prefix == f"uid:{uid}/"
    assert len(running.service.queries) == 1


async def test_draining_answers_what_is_in_flight_refuses_what_comes_after_and_closes(start: StartGateway) -> None:
    async with start() as running, running.greeted() as busy, running.greeted() as idle:
        await busy.send(requests.Recall(id=2, user="u", session="s", text="wait"))
        await running.until(lambda: running.service.waiting == 1)
        outcome: list[bool] = []

        async def drain() -> None:
            outcome.append(await running.gateway.drain(WAIT_S))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(drain)
            await idle.receive_end()
            await busy.send(requests.Ping(id=3))
            refused = await busy.receive()
            running.service.go.set()
            assert (await busy.receive()).id == 2
            await busy.receive_end()
        assert isinstance(refused, replies.Error)
        assert (refused.id, refused.code, refused.retryable) == (3, "draining", True)
        assert outcome == [True]
        assert not running.path.exists()


async def test_a_request_sent_just_before_draining_is_answered_draining(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        await client.send(requests.Ping(id=2))  # with the kernel when drain begins, and not read yet
        assert await running.gateway.drain(WAIT_S)
        assert getattr(await client.receive(), "code", "") == "draining"
        await client.receive_end()


async def test_draining_gives_up_on_a_stuck_request_after_its_timeout(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        await client.send(requests.Recall(id=2, user="u", session="s", text="wait"))
        await running.until(lambda: running.service.waiting == 1)
        with anyio.fail_after(WAIT_S):
            assert not await running.gateway.drain(0.01)
        await client.receive_end()


async def test_a_fault_of_the_gateways_own_ends_one_connection_and_is_counted(
    start: StartGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode = connection.decode_request

    def decode_or_break(body: bytes) -> object:
        request = decode(body)
        if isinstance(request, requests.Stats):
            raise ZeroDivisionError
        return request

    monkeypatch.setattr(connection, "decode_request", decode_or_break)
    async with start() as running, running.greeted() as bystander, running.greeted() as victim:
        await victim.send(requests.Stats(id=2))
        await victim.receive_end()
        await bystander.send(requests.Ping(id=2))
        assert await bystander.receive() == replies.Pong(id=2)
        assert running.counters[GatewayCount.CONNECTIONS_FAILED] == 1


async def test_a_peer_the_kernel_does_not_name_is_not_served(
    start: StartGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_: object) -> object:
        raise OSError

    monkeypatch.setattr(server, "peer_of", nobody)
    async with start() as running, running.raw() as client:
        await assert_error_then_end(client, "forbidden")


async def test_draining_a_gateway_that_never_served_closes_its_listener(socket_path: Path) -> None:
    gateway = Gateway(
        listener=bind_listener(socket_path),
        service=FakeService(),
        policy=AccessPolicy(own_uid=os.geteuid()),
        clock=WallClock(),
        counters=GatewayCounters(),
        version="1",
    )
    assert await gateway.drain()
    with pytest.raises(FileNotFoundError):
        await UnixStream.connect(str(socket_path))
