"""Asking a model behind an OpenAI-compatible endpoint.

Nothing is sent unless an endpoint is configured, and then to that address alone: redirects are refused, and neither
proxies nor credentials are taken from the environment. Whatever the endpoint does (nothing, too slowly, too much, or
something else than was agreed), the answer is a failure from a closed list, in bounded time and memory.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread
import msgspec

from recalld.actors.ports import Clock
from recalld.daemon.extraction.completion import ChatMessage, ChatRequest, failure_of_status, read_completion
from recalld.models.domain.extraction import SourceFailure, SourceFault
from recalld.models.domain.runtime_model import RuntimePrompt, RuntimeReply

if TYPE_CHECKING:
    import httpx2

PATH: Final = "/chat/completions"
BODY_BYTES_MAX: Final = 1 << 20
"""Bytes of an answer that are read: many times what the longest usable one has."""
KEY_BYTES_MAX: Final = 4_096
BACKOFF_S: Final = 1.0
"""Before the second try; doubles with each further one."""
BACKOFF_S_MAX: Final = 30.0
_TRIED_AGAIN: Final = frozenset(
    {SourceFault.RATE_LIMITED, SourceFault.SERVER_ERROR, SourceFault.UNREACHABLE, SourceFault.DISCONNECTED}
)
"""What may have passed in a moment. Any other answer would be the same again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """Where a model is, and how long it may take.

    Attributes:
        url: Address of the API, up to and without `/chat/completions`.
        model: Its name there.
        api_key_file: File with the key; None: none is needed. Read at each question, so that a key can be changed.
        timeout_s: Seconds one try may take, from the first byte sent to the last one read.
        retries: Tries after the first one.
        max_tokens: The model's token ceiling.
    """

    url: str
    model: str
    api_key_file: Path | None
    timeout_s: float
    retries: int
    max_tokens: int


class EndpointModel:
    """Implements `ExtractionSource` over HTTP.

    Args:
        endpoint: Where the model is.
        clock: Monotonic time, for the deadline of all tries together.
        sleep: Waits between two tries.
    """

    def __init__(
        self, endpoint: Endpoint, *, clock: Clock, sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    ) -> None:
        self._endpoint = endpoint
        self._clock = clock
        self._sleep = sleep
        self._address = f"{endpoint.url.rstrip('/')}{PATH}"

    def is_available(self, user: str) -> bool:  # noqa: ARG002 - the protocol's
        """Always: whether the endpoint answers is known when it is asked."""
        return True

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | SourceFailure:  # noqa: ARG002 - the protocol's
        """The model's answer; a failure by the deadline, too.

        Args:
            user: Whose words the prompt holds; no name of a user is sent.
            prompt: What to ask.
            deadline_s: When to give up, in seconds on the monotonic clock.
        """
        try:
            headers = await anyio.to_thread.run_sync(self._headers)
            # Loading the library, and the trusted certificates for each client, would hold up the event loop.
            make_client = await anyio.to_thread.run_sync(_client_maker)
            client = await anyio.to_thread.run_sync(make_client)
        except (OSError, ValueError) as error:
            return SourceFailure(fault=SourceFault.NO_KEY, detail=type(error).__name__)
        body = self._body(prompt)
        started_s = self._clock.monotonic_s()
        async with client:
            outcome = await self._tries(client, headers, body, deadline_s)
        if isinstance(outcome, SourceFailure):
            return outcome
        if len(outcome.text) > prompt.reply_chars_max:
            return SourceFailure(fault=SourceFault.TOO_LONG)
        return msgspec.structs.replace(outcome, elapsed_ms=1000 * (self._clock.monotonic_s() - started_s))

    async def _tries(
        self, client: httpx2.AsyncClient, headers: dict[str, str], body: bytes, deadline_s: float
    ) -> RuntimeReply | SourceFailure:
        for tried in range(self._endpoint.retries + 1):
            left_s = deadline_s - self._clock.monotonic_s()
            if left_s <= 0:
                return SourceFailure(fault=SourceFault.TIMEOUT, detail="no time left")
            outcome = await self._try(client, headers, body, min(self._endpoint.timeout_s, left_s))
            is_last = tried == self._endpoint.retries
            if isinstance(outcome, RuntimeReply) or outcome.fault not in _TRIED_AGAIN or is_last:
                return outcome
            pause_s = min(BACKOFF_S * 2.0**tried, BACKOFF_S_MAX)
            if self._clock.monotonic_s() + pause_s >= deadline_s:
                return outcome
            await self._sleep(pause_s)
        return SourceFailure(fault=SourceFault.TIMEOUT)

    async def _try(
        self, client: httpx2.AsyncClient, headers: dict[str, str], body: bytes, timeout_s: float
    ) -> RuntimeReply | SourceFailure:
        """One question. The timeout is one for all of it: an answer that trickles must not keep it from ending."""
        import httpx2  # noqa: PLC0415 - loaded by `_client_maker` already; nobody else pays for it

        outcome: RuntimeReply | SourceFailure = SourceFailure(fault=SourceFault.TIMEOUT)
        with anyio.move_on_after(timeout_s):
            try:
                outcome = await _exchange(client, self._address, headers, body)
            except (httpx2.ConnectError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
                outcome = SourceFailure(fault=SourceFault.UNREACHABLE, detail=type(error).__name__)
            except httpx2.RemoteProtocolError as error:
                outcome = SourceFailure(fault=SourceFault.DISCONNECTED, detail=type(error).__name__)
            except (httpx2.HTTPError, httpx2.StreamError) as error:
                outcome = SourceFailure(fault=SourceFault.DISCONNECTED, detail=type(error).__name__)
        return outcome

    def _headers(self) -> dict[str, str]:
        """Raises OSError when the key cannot be read, and ValueError when it is no key."""
        headers = {"Content-Type": "application/json", "Accept": "application/json", "Accept-Encoding": "identity"}
        if self._endpoint.api_key_file is not None:
            with self._endpoint.api_key_file.open("rb") as file:
                key = file.read(KEY_BYTES_MAX + 1).decode("ascii").strip()
            if not key or len(key) > KEY_BYTES_MAX or not key.isprintable():
                message = "the file with the key holds no key"
                raise ValueError(message)
            headers["Authorization"] = f"Bearer {key}"
        return headers

    def _body(self, prompt: RuntimePrompt) -> bytes:
        request = ChatRequest(
            model=self._endpoint.model,
            messages=(
                ChatMessage(role="system", content=prompt.prompt),
                ChatMessage(role="user", content="\n".join(prompt.turns)),
            ),
            max_tokens=self._endpoint.max_tokens,
        )
        return msgspec.json.encode(request)


def _client_maker() -> Callable[[], httpx2.AsyncClient]:
    """Load the library, and say how a client of ours is made."""
    import httpx2  # noqa: PLC0415 - only a daemon with an endpoint needs it, and it takes a while to load

    return partial(httpx2.AsyncClient, follow_redirects=False, trust_env=False, timeout=None)


async def _exchange(
    client: httpx2.AsyncClient, address: str, headers: dict[str, str], body: bytes
) -> RuntimeReply | SourceFailure:
    async with client.stream("POST", address, content=body, headers=headers) as response:
        failure = failure_of_status(response.status_code)
        if failure is not None:
            return failure
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            # It was asked for plain bytes; what a compressed answer would grow to is not known.
            return SourceFailure(fault=SourceFault.MALFORMED, detail="content-encoding")
        declared = response.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > BODY_BYTES_MAX:
            return SourceFailure(fault=SourceFault.OVERSIZED, detail="content-length")
        received = bytearray()
        async for chunk in response.aiter_raw():
            received += chunk
            if len(received) > BODY_BYTES_MAX:
                return SourceFailure(fault=SourceFault.OVERSIZED)
    return read_completion(bytes(received))
