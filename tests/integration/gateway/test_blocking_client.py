"""The blocking client against a real gateway that runs in a thread of its own."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import anyio
import anyio.from_thread
import pytest
from gateway_harness import WAIT_S, Running, run_gateway

from recalld.models.domain.events import Event, EventName
from recalld.protocol import requests
from recalld.protocol.client import UNAVAILABLE, Client, ClientError, blocking_link
from recalld.protocol.client.blocking_link import BlockingLink, monotonic_s
from recalld.protocol.client.settings import ClientSettings
from recalld.protocol.codec import encode_message
from recalld.protocol.framing import frame
from recalld.protocol.replies import Error

pytestmark = pytest.mark.integration

RECALL = requests.Recall(user="u", session="s", text="tea")


@contextlib.contextmanager
def serving(path: Path) -> Iterator[tuple[Running, anyio.from_thread.BlockingPortal]]:
    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(run_gateway(path)) as running,
    ):
        yield running, portal


def test_every_call_gets_its_own_kind_of_reply(socket_path: Path) -> None:
    with serving(socket_path), Client(socket_path, name="test", version="1") as client:
        assert client.connect().server.name == "recalld"
        saved = client.remember(requests.Remember(user="u", text="drinks tea"))
        assert [item.text for item in client.recall(RECALL).items] == ["drinks tea"]
        assert client.get(requests.Get(user="u", memory_id=saved.memory.id)).memory == saved.memory
        assert client.list_memories(requests.ListMemories(user="u")).total == 1
        observe = requests.Observe(user="u", session="s", turn_id="t", speaker="user", text="x")
        assert client.observe(observe).decision_id == "dec_2"
        assert client.explain(requests.Explain(user="u", decision_id="rec_1")).reason == "gated"
        assert client.session(requests.Session(user="u", session="s", event="started")) is not None
        assert client.forget(requests.Forget(user="u", ids=(saved.memory.id,))).count == 1
        assert client.health(deep=True).probe is not None
        assert client.stats().counters["gateway_connections_accepted"] == 1
        assert client.ping() is not None


def test_a_recall_without_a_server_is_empty_and_every_other_call_raises(socket_path: Path) -> None:
    with Client(socket_path) as client:
        answer = client.recall(RECALL)
        with pytest.raises(ClientError, match="connect_failed") as caught:
            client.ping()
    assert (answer.mode, answer.reason) == (UNAVAILABLE, "connect_failed")
    assert caught.value.retryable


def test_a_strict_client_raises_from_recall(socket_path: Path) -> None:
    with Client(socket_path, strict=True) as client, pytest.raises(ClientError, match="connect_failed"):
        client.recall(RECALL)


def test_a_late_reply_to_a_call_given_up_is_passed_over(socket_path: Path) -> None:
    with serving(socket_path) as (running, portal), Client(socket_path) as client:
        client.connect()
        waits = requests.Recall(user="u", session="s", text="wait")
        assert client.recall(waits, timeout_s=0.05).reason == "timeout"
        portal.call(running.service.go.set)
        assert client.recall(RECALL).mode == "gated"
        assert running.gateway.open_connections == 1


def test_the_client_reconnects_after_the_server_was_replaced(socket_path: Path) -> None:
    with Client(socket_path) as client:
        for _ in range(2):
            with serving(socket_path) as (running, portal):
                assert client.ping() is not None
                portal.call(running.gateway.drain, WAIT_S)
            with pytest.raises(ClientError, match="connect_failed"):
                client.ping()


def test_text_that_is_no_unicode_is_refused_and_the_connection_goes_on(socket_path: Path) -> None:
    with serving(socket_path) as (running, _), Client(socket_path) as client:
        with pytest.raises(ClientError, match="lone surrogate"):
            client.remember(requests.Remember(user="u", text="\ud800"))
        assert client.ping() is not None
        assert running.gateway.open_connections == 1


def test_a_recall_that_can_never_succeed_is_empty_names_the_field_and_is_logged_once(
    socket_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(socket_path), Client(socket_path) as client:
        for _ in range(2):
            answer = client.recall(requests.Recall(user="", session="s", text="tea"))
            assert (answer.mode, answer.reason) == (UNAVAILABLE, "bad_request")
            assert answer.degraded_detail == "user: is empty; give at least 1 character"
    (warned,) = [record for record in caplog.records if record.name == "recalld.protocol.client"]
    assert "user: is empty" in warned.getMessage()


def test_what_is_no_request_is_a_type_error_even_where_failures_are_answered_with_nothing(socket_path: Path) -> None:
    with Client(socket_path) as client:
        with pytest.raises(TypeError, match="pass a request, Recall"):
            client.recall("hi")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="pass a request, Remember"):
            client.remember(RECALL)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="pass a request, Subscribe"):
            next(client.subscribe(RECALL))  # type: ignore[arg-type]


def test_a_closed_client_says_so(socket_path: Path) -> None:
    client = Client(socket_path)
    client.close()
    with pytest.raises(ClientError, match="closed"):
        client.ping()
    assert client.recall(RECALL).reason == "closed"


def test_threads_take_turns_on_one_client(socket_path: Path) -> None:
    with serving(socket_path) as (running, _), Client(socket_path) as client:
        texts: list[str] = []

        def save(number: int) -> None:
            texts.append(client.remember(requests.Remember(user="u", text=f"fact {number}")).memory.text)

        threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert sorted(texts) == [f"fact {number}" for number in range(8)]
        assert running.gateway.open_connections == 1


def test_events_are_iterated_until_the_iterator_is_closed(socket_path: Path) -> None:
    with serving(socket_path) as (running, portal), Client(socket_path) as client:

        async def put() -> None:
            await running.until(lambda: bool(running.service.streams))
            running.service.streams[0].put(Event(name=EventName.MODEL_READY, at_ms=1))

        portal.start_task_soon(put)
        with contextlib.closing(client.subscribe(requests.Subscribe())) as events:
            assert next(events).name == "model_ready"


@pytest.fixture
def listener(socket_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.settimeout(WAIT_S)
        sock.bind(str(socket_path))
        sock.listen()
        yield sock


def _answer(listener: socket.socket, *replies: bytes) -> threading.Thread:
    """Send the same bytes to each connection that comes, whatever it asks, then close it."""

    def serve() -> None:
        for reply in replies:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(reply)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):
                    pass

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (frame(b"\xc1"), "bad_reply"),
        (b"\xff\xff\xff\xff", "bad_reply"),
        (encode_message(requests.Ping(id=1)), "bad_reply"),
        (b"", "connection_lost"),
    ],
)
def test_a_server_that_greets_with_garbage_is_a_bad_reply(
    listener: socket.socket, socket_path: Path, reply: bytes, code: str
) -> None:
    server = _answer(listener, reply)
    with pytest.raises(ClientError) as caught, Client(socket_path) as client:
        client.ping()
    server.join(WAIT_S)
    assert caught.value.code == code


def test_a_client_turned_away_before_it_could_say_hello_is_told_why(
    listener: socket.socket, socket_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = blocking_link._connect

    def connect_and_be_turned_away(path: str, deadline_s: float) -> socket.socket:
        connection = connect(path, deadline_s)
        with listener.accept()[0] as peer:
            peer.sendall(encode_message(Error(code="busy", message="too many connections are open", retryable=True)))
        return connection

    monkeypatch.setattr(blocking_link, "_connect", connect_and_be_turned_away)
    with pytest.raises(ClientError, match="too many") as caught, Client(socket_path) as client:
        client.ping()
    assert (caught.value.code, caught.value.retryable) == ("busy", True)


def test_a_server_that_never_answers_costs_the_timeout(listener: socket.socket, socket_path: Path) -> None:
    with Client(socket_path, recall_timeout_s=0.02) as client:
        assert client.recall(RECALL).reason == "timeout"


def test_connecting_waits_while_the_backlog_is_full(socket_path: Path) -> None:
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as full,
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as filler,
    ):
        full.bind(str(socket_path))
        full.listen(0)
        filler.connect(str(socket_path))
        with pytest.raises(ClientError, match="timeout"):
            BlockingLink(ClientSettings(socket_path=str(socket_path)), monotonic_s() + 0.05)
