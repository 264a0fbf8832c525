"""A real HTTP server on the loopback interface that answers chat completions in every wrong way."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import anyio.abc

TRICKLE_PAUSE_S = 0.01


class Script:
    """What the server answers, one answer a request, the last one for ever after; and what it was asked."""

    def __init__(self, *answers: bytes, is_trickling: bool = False) -> None:
        self.answers: Sequence[bytes] = answers
        self.is_trickling = is_trickling
        self.requests: list[bytes] = []
        self.url = ""

    def body(self, place: int = 0) -> dict[str, object]:
        """The JSON body of a request."""
        decoded: dict[str, object] = json.loads(self.requests[place].partition(b"\r\n\r\n")[2])
        return decoded


@asynccontextmanager
async def endpoint(script: Script) -> AsyncIterator[Script]:
    """Serve a script until the block ends; its `url` is set."""
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener, anyio.create_task_group() as tasks:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)  # noqa: S610 - no Django
        script.url = f"http://127.0.0.1:{port}/v1"
        tasks.start_soon(listener.serve, _Connection(script).serve)
        yield script
        tasks.cancel_scope.cancel()


def response(body: bytes, *, status: str = "200 OK", headers: str = "") -> bytes:
    """A complete response."""
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nContent-Type: application/json\r\n{headers}\r\n"
    return head.encode() + body


def completion(text: str | None, *, finish_reason: str = "stop") -> bytes:
    """A response with one choice."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return response(json.dumps({"id": "c1", "object": "chat.completion", "choices": [choice]}).encode())


class _Connection:
    def __init__(self, script: Script) -> None:
        self._script = script

    async def serve(self, stream: anyio.abc.SocketStream) -> None:
        async with stream:
            try:
                request = await _read_request(stream)
                answers = self._script.answers
                answer = answers[min(len(self._script.requests), len(answers) - 1)]
                self._script.requests.append(request)
                if not self._script.is_trickling:
                    await stream.send(answer)
                    return
                for place in range(len(answer)):
                    await stream.send(answer[place : place + 1])
                    await anyio.sleep(TRICKLE_PAUSE_S)
            except (anyio.BrokenResourceError, anyio.EndOfStream):
                return


async def _read_request(stream: anyio.abc.SocketStream) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive()
    head, _, body = received.partition(b"\r\n\r\n")
    lengths = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    while len(body) < int(lengths[0]):
        body += await stream.receive()
    return head + b"\r\n\r\n" + body
