"""The asynchronous client against a real gateway, and against servers that fail it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from gateway_harness import WAIT_S, StartGateway, run_gateway
from wire_examples import REPLIES

from recalld.models.domain.events import Event, EventName
from recalld.protocol import requests
from recalld.protocol.client import UNAVAILABLE, AsyncClient, ClientError
from recalld.protocol.codec import decode_request, encode_message
from recalld.protocol.framing import Frame, FrameReader, NeedData, frame
from recalld.protocol.replies import Error
from recalld.protocol.unix_stream import UnixStream

pytestmark = [pytest.mark.anyio, pytest.mark.integration]

RECALL = requests.Recall(user="u", session="s", text="tea")


@pytest.fixture
def silent(socket_path: Path) -> Iterator[socket.socket]:
    """A listener that never answers by itself."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(socket_path))
        listener.listen()
        yield listener


async def test_every_call_gets_its_own_kind_of_reply(start: StartGateway, socket_path: Path) -> None:
    async with start(), AsyncClient(socket_path, name="test", version="1") as client:
        welcome = await client.connect()
        assert welcome.server.version == "9.9"
        saved = await client.remember(requests.Remember(user="u", text="drinks tea"))
        assert [item.text for item in (await client.recall(RECALL)).items] == ["drinks tea"]
        assert (await client.get(requests.Get(user="u", memory_id=saved.memory.id))).memory == saved.memory
        assert (await client.list_memories(requests.ListMemories(user="u"))).total == 1
        observe = requests.Observe(user="u", session="s", turn_id="t", speaker="user", text="x")
        assert (await client.observe(observe)).decision_id == "dec_2"
        assert (await client.explain(requests.Explain(user="u", decision_id="rec_1"))).reason == "gated"
        assert (await client.session(requests.Session(user="u", session="s", event="ended"))) is not None
        assert (await client.forget(requests.Forget(user="u", ids=(saved.memory.id,)))).count == 1
        assert (await client.health(deep=True)).probe is not None
        assert (await client.stats()).counters["gateway_connections_accepted"] == 1
        assert await client.ping() is not None


async def test_calls_are_pipelined_and_each_gets_its_own_answer(start: StartGateway, socket_path: Path) -> None:
    async with start() as running, AsyncClient(socket_path) as client, anyio.create_task_group() as tasks:

        async def save(number: int) -> None:
            reply = await client.remember(requests.Remember(user="u", text=f"fact {number}"))
            assert reply.memory.text == f"fact {number}"

        async def recall_slowly() -> None:
            reply = await client.recall(requests.Recall(user="u", session="s", text="wait"), timeout_s=WAIT_S)
            assert reply.mode == "gated"

        tasks.start_soon(recall_slowly)
        await running.until(lambda: running.service.waiting == 1)
        async with anyio.create_task_group() as saves:
            for number in range(20):
                saves.start_soon(save, number)
        running.service.go.set()
        assert running.gateway.open_connections == 1


async def test_an_error_reply_is_raised_with_its_code(start: StartGateway, socket_path: Path) -> None:
    async with start(), AsyncClient(socket_path) as client:
        with pytest.raises(ClientError, match="not_found") as caught:
            await client.get(requests.Get(user="u", memory_id="mem_9"))
    assert (caught.value.code, caught.value.retryable) == ("not_found", False)


async def test_a_recall_without_a_server_is_empty_and_says_why(socket_path: Path) -> None:
    async with AsyncClient(socket_path) as client:
        answer = await client.recall(RECALL)
    assert (answer.mode, answer.decision, answer.reason, answer.items) == (UNAVAILABLE, "error", "connect_failed", ())
    assert str(socket_path) in answer.degraded_detail


async def test_a_strict_client_raises_from_recall(socket_path: Path) -> None:
    async with AsyncClient(socket_path, strict=True) as client:
        with pytest.raises(ClientError, match="connect_failed"):
            await client.recall(RECALL)


@pytest.mark.usefixtures("silent")
async def test_a_recall_that_is_never_answered_is_empty_after_its_timeout(socket_path: Path) -> None:
    async with AsyncClient(socket_path, recall_timeout_s=0.02) as client:
        assert (await client.recall(RECALL)).reason == "timeout"


async def test_a_recall_that_fails_on_the_server_is_empty_and_carries_the_code(
    start: StartGateway, socket_path: Path
) -> None:
    async with start(), AsyncClient(socket_path) as client:
        answer = await client.recall(requests.Recall(user="u", session="s", text="crash"))
        assert (answer.mode, answer.reason) == (UNAVAILABLE, "internal")
        too_long = requests.Recall(user="u", session="s", text="\ud800")
        assert (await client.recall(too_long)).reason == "bad_request"
        assert (await client.recall(RECALL)).mode == "gated"  # the connection was not hurt


@pytest.mark.parametrize(
    ("request_", "detail"),
    [
        (requests.Recall(user="", session="s"), "user: is empty; give at least 1 character"),
        (
            requests.Recall(user="u", session="s", text="x" * 70_000),
            "text: is longer than 65536 characters; shorten it",
        ),
        (requests.Recall(user="u", session="s", max_items=0), "max_items: is too small; give at least 1"),
        (requests.Recall(user="u", session="s", now="yesterday"), "now: 'yesterday' is not understood"),
    ],
)
async def test_a_recall_that_can_never_succeed_is_empty_names_the_field_and_is_logged_once(
    start: StartGateway,
    socket_path: Path,
    caplog: pytest.LogCaptureFixture,
    request_: requests.Recall,
    detail: str,
) -> None:
    async with start(), AsyncClient(socket_path) as client:
        for _ in range(2):
            answer = await client.recall(request_)
            assert (answer.mode, answer.decision, answer.reason) == (UNAVAILABLE, "error", "bad_request")
            assert answer.degraded_detail.startswith(detail)
        assert (await client.recall(RECALL)).mode == "gated"
    (record,) = caplog.records
    assert (record.levelname, record.name) == ("WARNING", "recalld.protocol.client")
    assert detail in record.getMessage()


async def test_what_is_no_request_is_a_type_error_even_where_failures_are_answered_with_nothing(
    socket_path: Path,
) -> None:
    async with AsyncClient(socket_path) as client:
        with pytest.raises(TypeError, match="pass a request, Recall"):
            await client.recall("hi")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="pass a request, Subscribe"):
            client.subscribe("model_ready")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "raised",
    [
        ClientError("busy", "m"),
        ZeroDivisionError(),
        KeyboardInterrupt(),
        ExceptionGroup("of the body", [ZeroDivisionError()]),
    ],
)
async def test_what_the_body_raises_leaves_the_client_as_it_was_raised(
    start: StartGateway, socket_path: Path, raised: BaseException
) -> None:
    async def fail_inside() -> None:
        async with AsyncClient(socket_path) as client:
            await client.ping()
            raise raised

    async with start():
        with pytest.raises(type(raised)) as caught:
            await fail_inside()
    assert caught.value is raised


async def test_a_body_that_is_cancelled_leaves_nothing_behind(start: StartGateway, socket_path: Path) -> None:
    async with start() as running:
        with anyio.CancelScope() as scope:
            async with AsyncClient(socket_path) as client:
                await client.ping()
                scope.cancel()
                await anyio.sleep_forever()
        assert scope.cancelled_caught
        await running.until(lambda: running.gateway.open_connections == 0)


async def test_garbage_from_the_server_makes_a_recall_empty(silent: socket.socket, socket_path: Path) -> None:
    silent.settimeout(0)

    async def answer_garbage() -> None:
        await anyio.wait_readable(silent)
        connection, _ = silent.accept()
        with connection:
            connection.sendall(frame(b"\xc1"))

    async with AsyncClient(socket_path) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(answer_garbage)
        assert (await client.recall(RECALL)).reason == "bad_reply"


async def test_the_client_reconnects_after_the_server_was_replaced(socket_path: Path) -> None:
    async with AsyncClient(socket_path) as client:
        for _ in range(3):
            async with run_gateway(socket_path) as running:
                assert await client.ping() is not None
                await running.gateway.drain(WAIT_S)
            with pytest.raises(ClientError, match="connect_failed"):
                await client.ping()


async def test_a_call_given_up_leaves_the_connection_to_the_others(start: StartGateway, socket_path: Path) -> None:
    async with start() as running, AsyncClient(socket_path) as client:
        waits = requests.Recall(user="u", session="s", text="wait")
        assert (await client.recall(waits, timeout_s=0.02)).reason == "timeout"
        running.service.go.set()  # the late reply comes now, and belongs to nobody
        assert (await client.recall(RECALL)).mode == "gated"
        assert running.gateway.open_connections == 1


async def test_closing_the_client_ends_its_pending_calls(start: StartGateway, socket_path: Path) -> None:
    reasons = []

    async def recall(client: AsyncClient) -> None:
        waits = requests.Recall(user="u", session="s", text="wait")
        reasons.append((await client.recall(waits, timeout_s=WAIT_S)).reason)

    async with start() as running, anyio.create_task_group() as tasks, AsyncClient(socket_path) as client:
        tasks.start_soon(recall, client)
        await running.until(lambda: running.service.waiting == 1)
    assert reasons == ["closed"]
    with pytest.raises(ClientError, match="closed"):
        await client.ping()


async def test_events_are_iterated_until_the_server_ends_and_closed_with_the_client(
    start: StartGateway, socket_path: Path
) -> None:
    async with start() as running, AsyncClient(socket_path) as client:
        got = []

        async def put() -> None:
            await running.until(lambda: bool(running.service.streams))
            running.service.streams[0].put(Event(name=EventName.MODEL_READY, at_ms=1))
            running.service.streams[0].put(Event(name=EventName.DAEMON_STOPPING, at_ms=2))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(put)
            async for event in client.subscribe(requests.Subscribe()):
                got.append(event.name)
                if len(got) == 2:
                    tasks.start_soon(running.gateway.drain, WAIT_S)
        assert got == ["model_ready", "daemon_stopping"]


async def test_a_refused_subscription_raises(start: StartGateway, socket_path: Path) -> None:
    async with start(), AsyncClient(socket_path) as client:
        with pytest.raises(ClientError, match="bad_request"):
            await anext(client.subscribe(requests.Subscribe(events=("nonsense",))))


async def test_open_subscriptions_are_closed_with_the_client(start: StartGateway, socket_path: Path) -> None:
    async with start() as running:
        async with AsyncClient(socket_path) as client:
            subscription = client.subscribe(requests.Subscribe())
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_put_one, running.service.streams)
                assert (await anext(subscription)).name == "model_ready"
        with pytest.raises(StopAsyncIteration):
            await anext(subscription)
        await running.until(lambda: running.service.streams[0].is_closed)


async def _put_one(streams: list[object]) -> None:
    while not streams:
        await anyio.lowlevel.checkpoint()
    streams[0].put(Event(name=EventName.MODEL_READY, at_ms=1))  # type: ignore[attr-defined]


async def test_connecting_waits_while_the_backlog_is_full(socket_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(socket_path))
        listener.listen(0)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as filler:
            filler.connect(str(socket_path))
            async with AsyncClient(socket_path) as client:
                with pytest.raises(ClientError, match="timeout"):  # and not refused: it waits its turn
                    await client.ping(timeout_s=0.05)


async def test_a_call_interrupted_while_sending_never_splits_the_frames_of_others(
    silent: socket.socket, socket_path: Path
) -> None:
    silent.settimeout(0)
    welcome = encode_message(REPLIES["welcome"])
    long = requests.Recall(user="u", session="s", exclude=("x" * 64,) * 1_000, text="𝄞" * 65_536)
    reasons: list[str] = []
    received = FrameReader()
    pieces: list[bytes] = []

    async def recall(client: AsyncClient) -> None:
        reasons.append((await client.recall(long, timeout_s=0.1)).reason)

    async def greet_and_read_late() -> None:
        await anyio.wait_readable(silent)
        with UnixStream(silent.accept()[0]) as peer:
            await peer.send(welcome)
            while len(reasons) < 3:
                await anyio.lowlevel.checkpoint()
            while data := await peer.receive():
                received.receive(data)
                pieces.append(data)

    async with anyio.create_task_group() as tasks, AsyncClient(socket_path) as client:
        tasks.start_soon(greet_and_read_late)
        await client.connect()
        async with anyio.create_task_group() as calls:
            for _ in range(3):  # more than the socket takes
                calls.start_soon(recall, client)
        with pytest.raises(ClientError, match="timeout"):
            await client.ping(timeout_s=0.1)  # on a connection of its own, which nobody greets
    whole = 0
    while isinstance(event := received.next_event(), Frame):
        assert decode_request(event.body)
        whole += 1
    assert isinstance(event, NeedData)  # the last one was cut, and nothing came after it
    assert whole < 4
    assert b"ping" not in b"".join(pieces)
    assert set(reasons) <= {"timeout", "connection_lost"}


async def test_a_client_turned_away_before_it_could_say_hello_is_told_why(
    silent: socket.socket, socket_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = UnixStream.connect

    async def connect_and_be_turned_away(path: str) -> UnixStream:
        stream = await connect(path)
        with silent.accept()[0] as peer:
            peer.sendall(encode_message(Error(code="busy", message="too many connections are open", retryable=True)))
        return stream

    monkeypatch.setattr(UnixStream, "connect", connect_and_be_turned_away)
    async with AsyncClient(socket_path) as client:
        with pytest.raises(ClientError, match="too many") as caught:
            await client.ping()
    assert (caught.value.code, caught.value.retryable) == ("busy", True)


async def test_a_subscription_that_is_not_answered_times_out(silent: socket.socket, socket_path: Path) -> None:
    async with AsyncClient(socket_path, timeout_s=0.02) as client:
        with pytest.raises(ClientError, match="timeout"):
            await anext(client.subscribe(requests.Subscribe()))


async def test_a_client_in_use_cannot_be_entered_again(socket_path: Path) -> None:
    async with AsyncClient(socket_path) as client:
        with pytest.raises(RuntimeError, match="in use"):
            await client.__aenter__()
