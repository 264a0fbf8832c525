"""Runtimes that lend their model, well and badly, against a real gateway on a real socket."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Self

import anyio
import pytest
from gateway_harness import WAIT_S, RawClient, Running, StartGateway

from recalld.daemon.gateway.counters import GatewayCount
from recalld.models.domain.runtime_model import (
    PromptPurpose,
    RuntimeFailure,
    RuntimeFailureKind,
    RuntimePrompt,
    RuntimeReply,
)
from recalld.protocol import replies, requests
from recalld.protocol.client import AsyncClient
from recalld.protocol.client.lending import ExtractReply
from recalld.protocol.framing import frame
from recalld.protocol.unix_stream import UnixStream

pytestmark = [pytest.mark.anyio, pytest.mark.integration]

PROMPT = RuntimePrompt(
    purpose=PromptPurpose.CUES, prompt_version="cues.v1", prompt="Which?", turns=("a", "b"), reply_chars_max=100
)
SHORT_S = 0.1
Outcome = RuntimeReply | RuntimeFailure


@contextlib.asynccontextmanager
async def lending(running: Running, *, hello_id: int = 1) -> AsyncIterator[RawClient]:
    """A peer that lends a model and answers by hand."""
    async with running.raw() as client:
        await client.send(requests.Hello(id=hello_id, wants=("extractor",)))
        welcome = await client.receive()
        assert isinstance(welcome, replies.Welcome)
        assert welcome.features == ("extractor",)
        yield client


class Asking:
    """Questions asked in the background, and what came of them."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._tasks = anyio.create_task_group()
        self.outcomes: list[Outcome] = []

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> None:
        await self._tasks.__aexit__(*failure)  # type: ignore[arg-type]

    def ask(self, *, user: str = "u", within_s: float = WAIT_S, prompt: RuntimePrompt = PROMPT) -> None:
        self._tasks.start_soon(self._ask, user, within_s, prompt)

    async def _ask(self, user: str, within_s: float, prompt: RuntimePrompt) -> None:
        outcome = await self._running.lent.ask(user, prompt, deadline_s=time.monotonic() + within_s)
        self.outcomes.append(outcome)

    async def outcome(self) -> Outcome:
        """The outcome of the only question."""
        await self._running.until(lambda: bool(self.outcomes))
        return self.outcomes[0]


def kind_of(outcome: Outcome) -> RuntimeFailureKind:
    assert isinstance(outcome, RuntimeFailure)
    return outcome.kind


async def asked(client: RawClient) -> replies.ExtractRequest:
    request = await client.receive()
    assert isinstance(request, replies.ExtractRequest)
    return request


async def test_a_question_reaches_the_runtime_whole_and_its_answer_comes_back(start: StartGateway) -> None:
    async with start() as running, lending(running, hello_id=9) as runtime, Asking(running) as asking:
        asking.ask(user="ines", within_s=1.1)
        request = await asked(runtime)
        assert (request.id, request.user, request.purpose) == (9, "ines", "cues")
        assert (request.prompt, request.prompt_version, request.turns) == ("Which?", "cues.v1", ("a", "b"))
        assert request.reply_chars_max == 100
        assert 900 < request.deadline_ms <= 1000  # a tenth is kept for an answer sent at the last moment
        await runtime.send(requests.ExtractResult(id=2, batch_id=request.batch_id, reply="this", was_truncated=True))
        outcome = await asking.outcome()
        assert isinstance(outcome, RuntimeReply)
        assert (outcome.text, outcome.was_truncated) == ("this", True)
        assert outcome.elapsed_ms > 0
        assert running.counters[GatewayCount.EXTRACT_REQUESTS] == 1


async def test_nobody_is_connected_until_somebody_lends(start: StartGateway) -> None:
    async with start() as running, running.greeted():  # a hello without wants promises nothing
        assert not running.lent.is_connected("u")
        outcome = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() + WAIT_S)
        assert kind_of(outcome) is RuntimeFailureKind.NOT_CONNECTED
        async with lending(running):
            assert running.lent.is_connected("u")
        await running.until(lambda: not running.lent.is_connected("u"))


async def test_a_refusal_is_a_typed_failure(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        request = await asked(runtime)
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="secret", refused=True))
        assert kind_of(await asking.outcome()) is RuntimeFailureKind.REFUSED


async def test_a_runtime_that_never_answers_costs_the_asker_no_more_than_its_deadline(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask(within_s=SHORT_S)
        late = await asked(runtime)
        outcome = await asking.outcome()
        assert kind_of(outcome) is RuntimeFailureKind.TIMEOUT
        await runtime.send(requests.ExtractResult(batch_id=late.batch_id, reply="late"))
        await runtime.send(requests.Ping(id=5))
        assert await runtime.receive() == replies.Pong(id=5)  # the late answer had no reply
        assert running.counters[GatewayCount.EXTRACT_RESULTS_IGNORED] == 1


async def test_a_question_without_time_is_not_sent(start: StartGateway) -> None:
    async with start() as running, lending(running):
        outcome = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() - 1)
        assert kind_of(outcome) is RuntimeFailureKind.TIMEOUT
        assert running.counters[GatewayCount.EXTRACT_REQUESTS] == 0


async def test_a_wrong_id_and_a_second_answer_are_passed_over_and_counted(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        request = await asked(runtime)
        await runtime.send(requests.ExtractResult(batch_id="batch_of_nobody", reply="wrong"))
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="right"))
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="again"))
        outcome = await asking.outcome()
        assert isinstance(outcome, RuntimeReply)
        assert outcome.text == "right"
        await running.until(lambda: running.counters[GatewayCount.EXTRACT_RESULTS_IGNORED] == 2)


async def test_one_runtime_cannot_answer_what_another_was_asked(start: StartGateway) -> None:
    async with start() as running, lending(running) as first, lending(running) as second, Asking(running) as asking:
        asking.ask()
        asking.ask()
        question = await asked(first)
        await asked(first)
        await second.send(requests.ExtractResult(id=3, batch_id=question.batch_id, reply="forged"))
        error = await second.receive()
        assert isinstance(error, replies.Error)
        assert (error.id, error.code) == (3, "bad_request")
        assert asking.outcomes == []
        await first.send(requests.ExtractResult(batch_id=question.batch_id, reply="own"))
        outcome = await asking.outcome()
        assert isinstance(outcome, RuntimeReply)
        assert outcome.text == "own"
        first.stream.end_writing()
        await running.until(lambda: len(asking.outcomes) == 2)


async def test_an_answer_from_a_connection_that_lends_nothing_is_an_error(start: StartGateway) -> None:
    async with start() as running, running.greeted() as client:
        await client.send(requests.ExtractResult(id=4, batch_id="batch_1", reply="x"))
        error = await client.receive()
        assert isinstance(error, replies.Error)
        assert (error.id, error.code) == (4, "bad_request")
        assert "was not asked" in error.message
        await client.send(requests.Ping(id=5))
        assert await client.receive() == replies.Pong(id=5)


async def test_an_answer_that_is_too_long_is_thrown_away_at_once(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        request = await asked(runtime)
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="x" * 900_000))
        assert kind_of(await asking.outcome()) is RuntimeFailureKind.TOO_LONG


async def test_an_answer_longer_than_a_frame_ends_the_connection_and_its_questions(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        await asked(runtime)
        await runtime.stream.send(((1 << 20) + 1).to_bytes(4, "big"))
        assert kind_of(await asking.outcome()) is RuntimeFailureKind.DISCONNECTED
        assert not running.lent.is_connected("u")


async def test_garbage_for_an_answer_is_an_error_and_a_proper_answer_still_counts(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        request = await asked(runtime)
        await runtime.stream.send(frame(b"\x82\xa4type\xaeextract_result\xa8batch_id\x07"))
        error = await runtime.receive()
        assert isinstance(error, replies.Error)
        assert error.code == "bad_request"
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="well"))
        assert isinstance(await asking.outcome(), RuntimeReply)


@pytest.mark.parametrize("leave", [UnixStream.close, UnixStream.end_writing])
async def test_a_runtime_that_leaves_fails_its_questions_at_once(
    start: StartGateway, leave: Callable[[UnixStream], None]
) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        await asked(runtime)
        leave(runtime.stream)
        assert kind_of(await asking.outcome()) is RuntimeFailureKind.DISCONNECTED
        await running.until(lambda: not running.lent.is_connected("u"))


async def test_whoever_answered_last_is_asked_first(start: StartGateway) -> None:
    async with (
        start(questions_per_connection_max=1) as running,
        lending(running) as first,
        lending(running) as second,
        Asking(running) as asking,
    ):
        batches: list[str] = []
        for runtime in (first, second):  # the second one is asked because the first has its hands full
            asking.ask()
            batches.append((await asked(runtime)).batch_id)
        await first.send(requests.ExtractResult(batch_id=batches[0], reply="x"))
        await running.until(lambda: len(asking.outcomes) == 1)
        await second.send(requests.ExtractResult(batch_id=batches[1], reply="x"))
        await running.until(lambda: len(asking.outcomes) == 2)
        asking.ask()
        question = await asked(second)
        await second.send(requests.ExtractResult(batch_id=question.batch_id, reply="x"))


async def test_a_runtime_with_its_hands_full_is_busy_and_free_again_once_it_answers(start: StartGateway) -> None:
    async with (
        start(questions_per_connection_max=1) as running,
        lending(running) as runtime,
        Asking(running) as asking,
    ):
        asking.ask()
        request = await asked(runtime)
        outcome = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() + WAIT_S)
        assert kind_of(outcome) is RuntimeFailureKind.BUSY
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="x"))
        await asking.outcome()
        asking.ask()
        request = await asked(runtime)
        await runtime.send(requests.ExtractResult(batch_id=request.batch_id, reply="x"))


async def test_a_runtime_that_does_not_read_blocks_nobody(start: StartGateway) -> None:
    big = RuntimePrompt(purpose=PromptPurpose.CUES, prompt_version="v", prompt="x" * 900_000)
    async with (
        start(outgoing_bytes_max=1 << 20, questions_per_connection_max=100) as running,
        lending(running),
        running.greeted() as other,
        Asking(running) as asking,
    ):
        for _ in range(5):
            asking.ask(prompt=big, within_s=SHORT_S)
        await running.until(lambda: RuntimeFailureKind.BUSY in map(kind_of, asking.outcomes))
        await other.send(requests.Ping(id=2))
        assert await other.receive() == replies.Pong(id=2)
        await running.until(lambda: len(asking.outcomes) == 5)
        assert set(map(kind_of, asking.outcomes)) == {RuntimeFailureKind.BUSY, RuntimeFailureKind.TIMEOUT}


async def test_a_prompt_that_fits_no_frame_is_a_failure_and_the_runtime_stays(start: StartGateway) -> None:
    too_big = RuntimePrompt(purpose=PromptPurpose.CUES, prompt_version="v", prompt="x" * (1 << 20))
    async with start() as running, lending(running):
        outcome = await running.lent.ask("u", too_big, deadline_s=time.monotonic() + WAIT_S)
        assert kind_of(outcome) is RuntimeFailureKind.TOO_LONG
        assert running.lent.is_connected("u")


async def test_a_lending_connection_is_not_closed_for_being_idle(start: StartGateway) -> None:
    async with start(idle_timeout_s=SHORT_S) as running, lending(running), running.greeted() as idle:
        await idle.receive_end()  # which waits as long as the timeout takes
        assert running.counters[GatewayCount.CONNECTIONS_IDLE] == 1
        assert running.lent.is_connected("u")


async def test_a_draining_gateway_waits_for_no_model(start: StartGateway) -> None:
    async with start() as running, lending(running) as runtime, Asking(running) as asking:
        asking.ask()
        await asked(runtime)
        assert await running.gateway.drain(WAIT_S)
        assert kind_of(await asking.outcome()) is RuntimeFailureKind.DISCONNECTED


async def test_the_client_answers_questions_beside_its_own_calls(start: StartGateway, socket_path: Path) -> None:
    seen: list[replies.ExtractRequest] = []
    may_answer = anyio.Event()

    async def extractor(request: replies.ExtractRequest) -> str:
        seen.append(request)
        await may_answer.wait()
        return f"answer to {request.prompt}"

    async with start() as running, AsyncClient(socket_path, extractor=extractor) as client, Asking(running) as asking:
        assert set((await client.connect()).features) >= {"extractor", "events"}
        asking.ask()
        await running.until(lambda: bool(seen))
        await client.ping()  # an ordinary call while the model thinks
        may_answer.set()
        outcome = await asking.outcome()
        assert isinstance(outcome, RuntimeReply)
        assert outcome.text == "answer to Which?"
        assert seen[0].turns == ("a", "b")


async def test_a_client_can_say_that_the_model_was_cut_off_or_refused(start: StartGateway, socket_path: Path) -> None:
    answers = iter([ExtractReply(text="half", was_truncated=True), ExtractReply(refused=True)])

    async def extractor(_request: replies.ExtractRequest) -> ExtractReply:
        return next(answers)

    async with start() as running, AsyncClient(socket_path, extractor=extractor) as client:
        await client.connect()
        first = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() + WAIT_S)
        assert isinstance(first, RuntimeReply)
        assert first.was_truncated
        second = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() + WAIT_S)
        assert kind_of(second) is RuntimeFailureKind.REFUSED


async def test_a_failing_extractor_is_a_refusal_and_the_client_goes_on(
    start: StartGateway, socket_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def extractor(_request: replies.ExtractRequest) -> str:
        raise ZeroDivisionError

    async with start() as running, AsyncClient(socket_path, extractor=extractor) as client:
        await client.connect()
        with caplog.at_level(logging.ERROR, "recalld.protocol.client"):
            outcome = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() + WAIT_S)
        assert kind_of(outcome) is RuntimeFailureKind.REFUSED
        assert "the extractor failed (cues)" in caplog.text
        await client.ping()


async def test_an_extractor_that_takes_too_long_is_cancelled(start: StartGateway, socket_path: Path) -> None:
    cancelled = anyio.Event()

    async def extractor(_request: replies.ExtractRequest) -> str:
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()
        return ""

    async with start() as running, AsyncClient(socket_path, extractor=extractor) as client:
        await client.connect()
        outcome = await running.lent.ask("u", PROMPT, deadline_s=time.monotonic() + SHORT_S)
        assert kind_of(outcome) is RuntimeFailureKind.TIMEOUT
        with anyio.fail_after(WAIT_S):
            await cancelled.wait()
        await client.ping()


async def test_closing_the_client_ends_an_answer_under_way(start: StartGateway, socket_path: Path) -> None:
    has_begun = anyio.Event()

    async def extractor(_request: replies.ExtractRequest) -> str:
        has_begun.set()
        await anyio.sleep_forever()
        return ""

    async with start() as running, Asking(running) as asking:
        async with AsyncClient(socket_path, extractor=extractor) as client:
            await client.connect()
            asking.ask()
            with anyio.fail_after(WAIT_S):
                await has_begun.wait()
        assert kind_of(await asking.outcome()) is RuntimeFailureKind.DISCONNECTED


async def test_a_subscription_of_a_lending_client_lends_nothing(start: StartGateway, socket_path: Path) -> None:
    async def extractor(_request: replies.ExtractRequest) -> str:
        return "x"

    async with start() as running, AsyncClient(socket_path, extractor=extractor) as client:
        events = client.subscribe(requests.Subscribe(user="u"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(events.__anext__)
            await running.until(lambda: bool(running.service.streams))
            assert not running.lent.is_connected("u")
            tasks.cancel_scope.cancel()
