"""A stand-in for the daemon: a real socket, real frames, and replies that the test chooses."""

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from recalld.protocol import replies, requests
from recalld.protocol.codec import decode_request, encode_message
from recalld.protocol.errors import ErrorCode
from recalld.protocol.framing import Frame, FrameReader
from recalld.protocol.items import ServerInfo, ServerLimits, SessionDefaults
from recalld.protocol.messages import Reply, Request

LIMITS = ServerLimits(
    frame_bytes_max=1 << 20,
    in_flight_max=32,
    turn_chars_max=65_536,
    memory_chars_max=8_000,
    recall_items_max=20,
    list_limit_max=100,
    idle_timeout_ms=0,
)


class StandIn:
    """Answers each request with what was planned for its type, and notes what it was asked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: list[Request] = []
        self._answers: dict[type, list[list[Reply] | replies.Error]] = {}
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def plan(self, kind: type, *answers: Reply) -> None:
        """Answer the next requests of this kind with one of these each; the last one is kept for all later ones."""
        self._answers[kind] = [[answer] for answer in answers]

    def plan_events(self, *events: replies.Event) -> None:
        """Answer the next subscription with these events, and then nothing."""
        self._answers.setdefault(requests.Subscribe, []).append([replies.Subscribed(), *events])

    def close(self) -> None:
        # shutdown wakes the thread that waits in accept; closing alone would not
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(timeout=10)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        reader = FrameReader()
        with connection, contextlib.suppress(OSError):
            while data := connection.recv(65_536):
                reader.receive(data)
                while isinstance(event := reader.next_event(), Frame):
                    request = decode_request(event.body)
                    for reply in self._answer(request):
                        connection.sendall(encode_message(msgspec.structs.replace(reply, id=request.id)))

    def _answer(self, request: Request) -> list[Reply]:
        if isinstance(request, requests.Hello):
            return [
                replies.Welcome(
                    protocol=1,
                    server=ServerInfo(name="recalld", version="0"),
                    limits=LIMITS,
                    session_defaults=SessionDefaults(budget_ms=300, user_prefix=""),
                )
            ]
        self.seen.append(request)
        if isinstance(request, requests.Ping):
            return [replies.Pong()]
        planned = self._answers.get(type(request))
        if not planned:
            return [replies.Error(code=ErrorCode.INTERNAL, message=f"nothing planned for {type(request).__name__}")]
        return planned.pop(0) if len(planned) > 1 else planned[0]


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


Run = Callable[..., Ended]
