"""A model behind HTTP: what is sent, and every way in which an endpoint can misbehave."""

from __future__ import annotations

import time
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from misbehaving_endpoint import Script, completion, endpoint, response

from recalld.daemon.clock import SystemClock
from recalld.daemon.extraction.endpoint import BODY_BYTES_MAX, Endpoint, EndpointModel
from recalld.models.domain.extraction import BLAMELESS, SourceFailure, SourceFault
from recalld.models.domain.runtime_model import PromptPurpose, RuntimePrompt, RuntimeReply

pytestmark = [pytest.mark.anyio, pytest.mark.integration]

PROMPT = RuntimePrompt(
    purpose=PromptPurpose.EXTRACT,
    prompt_version="extraction.v1",
    prompt="Choose what to keep.",
    turns=('{"turn": "t1"}', '{"turn": "t2"}'),
    reply_chars_max=1_000,
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Naps:
    """Notes how long it was asked to wait, and does not."""

    def __init__(self) -> None:
        self.naps_s: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.naps_s.append(seconds)
        await anyio.lowlevel.checkpoint()


async def ask(
    script: Script,
    *,
    retries: int = 2,
    timeout_s: float = 20.0,
    allowed_s: float = 60.0,
    key_file: Path | None = None,
    naps: Naps | None = None,
) -> RuntimeReply | SourceFailure:
    async with endpoint(script) as served:
        configured = Endpoint(
            url=served.url,
            model="small",
            api_key_file=key_file,
            timeout_s=timeout_s,
            retries=retries,
            max_tokens=500,
        )
        clock = SystemClock()
        model = EndpointModel(configured, clock=clock, sleep=naps or Naps())
        return await model.ask("ines", PROMPT, deadline_s=clock.monotonic_s() + allowed_s)


def fault_of(outcome: RuntimeReply | SourceFailure) -> SourceFault:
    assert isinstance(outcome, SourceFailure)
    return outcome.fault


async def test_the_prompt_and_the_turns_are_sent_and_the_text_comes_back(tmp_path: Path) -> None:
    key_file = tmp_path / "key"
    key_file.write_text("k-123\n")
    script = Script(completion("[]"))
    outcome = await ask(script, key_file=key_file)
    assert isinstance(outcome, RuntimeReply)
    assert outcome.text == "[]"
    head = script.requests[0].partition(b"\r\n\r\n")[0]
    assert head.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert b"Authorization: Bearer k-123" in head
    assert b"ines" not in script.requests[0]
    assert script.body() == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Choose what to keep."},
            {"role": "user", "content": '{"turn": "t1"}\n{"turn": "t2"}'},
        ],
        "max_tokens": 500,
        "temperature": 0.0,
        "stream": False,
    }


@pytest.mark.parametrize("content", [None, "", "  \n", "kü", "a\nb"])
async def test_without_a_readable_key_nothing_is_sent(tmp_path: Path, content: str | None) -> None:
    key_file = tmp_path / "key"
    if content is not None:
        key_file.write_text(content)
    script = Script(completion("[]"))
    assert fault_of(await ask(script, key_file=key_file)) is SourceFault.NO_KEY
    assert script.requests == []


@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Oops", "503 Unavailable"])
async def test_what_may_pass_is_tried_again_with_growing_pauses(status: str) -> None:
    naps = Naps()
    script = Script(response(b"{}", status=status), response(b"{}", status=status), completion("[]"))
    assert isinstance(await ask(script, naps=naps), RuntimeReply)
    assert naps.naps_s == [1.0, 2.0]


async def test_tries_are_limited() -> None:
    script = Script(response(b"{}", status="503 Unavailable"))
    assert fault_of(await ask(script, retries=2)) is SourceFault.SERVER_ERROR
    assert len(script.requests) == 3


async def test_no_pause_reaches_beyond_the_deadline() -> None:
    naps = Naps()
    script = Script(response(b"{}", status="429 Slow down"))
    assert fault_of(await ask(script, retries=9, allowed_s=0.9, naps=naps)) is SourceFault.RATE_LIMITED
    assert (naps.naps_s, len(script.requests)) == ([], 1)


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        ("400 Bad Request", SourceFault.REFUSED),
        ("401 Unauthorized", SourceFault.DENIED),
        ("404 Not Found", SourceFault.DENIED),
        ("413 Too Large", SourceFault.TOO_LONG),
        ("422 Unprocessable", SourceFault.REFUSED),
        ("204 No Content", SourceFault.MALFORMED),
    ],
)
async def test_other_errors_are_final(status: str, fault: SourceFault) -> None:
    script = Script(response(b"", status=status))
    assert fault_of(await ask(script)) is fault
    assert len(script.requests) == 1


async def test_a_redirect_is_refused_and_not_followed() -> None:
    elsewhere = Script(completion("[]"))
    async with endpoint(elsewhere) as other:
        script = Script(response(b"", status="307 Moved", headers=f"Location: {other.url}/chat/completions\r\n"))
        assert fault_of(await ask(script)) is SourceFault.REDIRECTED
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (completion("[", finish_reason="length"), SourceFault.TRUNCATED),
        (completion("no", finish_reason="content_filter"), SourceFault.REFUSED),
        (completion(None), SourceFault.NO_CHOICES),
        (completion(""), SourceFault.NO_CHOICES),
        (completion("x" * 1_001), SourceFault.TOO_LONG),
        (response(b'{"choices": []}'), SourceFault.NO_CHOICES),
        (response(b"{}"), SourceFault.NO_CHOICES),
        (response(b'{"choices": [{}]}'), SourceFault.MALFORMED),
        (response(b'{"choices": "x"}'), SourceFault.MALFORMED),
        (response(b"<html>Please sign in</html>"), SourceFault.MALFORMED),
        (response(b'{"choices": [{"message": {"content": "\xff"}}]}'), SourceFault.MALFORMED),
        (response(b""), SourceFault.MALFORMED),
        (response(b"x", headers="Content-Encoding: gzip\r\n"), SourceFault.MALFORMED),
    ],
)
async def test_an_answer_of_another_form_is_a_failure_of_its_own(answer: bytes, fault: SourceFault) -> None:
    script = Script(answer)
    assert fault_of(await ask(script)) is fault
    assert len(script.requests) == 1


@pytest.mark.parametrize("is_declared", [True, False])
async def test_a_body_that_is_too_large_is_not_read_to_its_end(is_declared: bool) -> None:  # noqa: FBT001 - a case
    body = b" " * (2 * BODY_BYTES_MAX)
    answer = response(body) if is_declared else b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body
    assert fault_of(await ask(Script(answer))) is SourceFault.OVERSIZED


async def test_a_trickle_ends_with_the_timeout_however_steadily_it_comes() -> None:
    started_s = time.perf_counter()
    script = Script(completion("x" * 900), is_trickling=True)
    assert fault_of(await ask(script, timeout_s=0.2)) is SourceFault.TIMEOUT
    assert time.perf_counter() - started_s < 5


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", b"SSH-2.0-nope\r\n"])
async def test_a_connection_that_ends_early_or_speaks_something_else_is_tried_again(answer: bytes) -> None:
    script = Script(answer, completion("[]"))
    assert isinstance(await ask(script), RuntimeReply)
    assert len(script.requests) == 2


async def test_an_endpoint_that_is_not_there_is_the_sources_fault() -> None:
    async with endpoint(Script(b"")) as served:
        url = served.url
    configured = Endpoint(url=url, model="m", api_key_file=None, timeout_s=5, retries=0, max_tokens=9)
    clock = SystemClock()
    outcome = await EndpointModel(configured, clock=clock).ask("u", PROMPT, deadline_s=clock.monotonic_s() + 9)
    assert fault_of(outcome) is SourceFault.UNREACHABLE
    assert SourceFault.UNREACHABLE in BLAMELESS


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert isinstance(await ask(Script(completion("[]"))), RuntimeReply)
