"""Models that connected runtimes lend: who is asked, and what becomes of every question.

A runtime whose `hello` names the feature `extractor` is sent `extract_request`s on that connection and answers with
`extract_result`s, beside its ordinary requests. A question is answered exactly once: by the runtime, by its deadline,
or by the end of the connection. Whatever a runtime does or leaves undone, nobody but its own askers notices.

The runtime is told less time than there is: its answer is taken until `GRACE` of that time more has passed, so that one
sent at the last moment does not arrive too late.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Final

import anyio

from recalld.actors.ports import Clock
from recalld.daemon.gateway.counters import GatewayCount, GatewayCounters
from recalld.daemon.gateway.limits import GatewayLimits
from recalld.daemon.gateway.peer import AccessPolicy, Peer
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply
from recalld.protocol import replies, requests
from recalld.protocol.codec import encode_message
from recalld.protocol.errors import WireError

FEATURE: Final = "extractor"
"""What a runtime's `hello` wants when it lends its model."""
GRACE: Final = 0.1
"""Share of the time a runtime is told for which its answer is waited for beyond it."""

SendFrame = Callable[[bytes], bool]
"""Puts a frame on its way without waiting; False when the peer has not taken what was sent before."""


class _Question:
    """One question on its way; settled once."""

    def __init__(self, prompt: RuntimePrompt, asked_s: float) -> None:
        self.prompt = prompt
        self.asked_s = asked_s
        self.outcome: RuntimeReply | RuntimeFailure | None = None
        self.is_settled = anyio.Event()

    def settle(self, outcome: RuntimeReply | RuntimeFailure) -> None:
        if self.outcome is None:
            self.outcome = outcome
            self.is_settled.set()


class Lender:
    """One connection that lends a model.

    Args:
        peer: Who is at its other end.
        hello_id: Id of the `hello` that declared the feature; every `extract_request` carries it.
        send: Takes frames for the peer without waiting.
    """

    def __init__(self, peer: Peer, hello_id: int, send: SendFrame) -> None:
        self.peer = peer
        self.hello_id = hello_id
        self.send = send
        self.questions: dict[str, _Question] = {}
        self.was_asked = False
        self.preference = 0
        """Rises with each answer, over all lenders: the highest answered most recently. Below zero: it let the time of
        its last question pass, most recently the lowest."""


class LentModels:
    """Implements `RuntimeModel` over the connections of a gateway.

    Args:
        policy: Which peer may act, and so be asked, for which user.
        clock: Monotonic time.
        counters: Where questions and their outcomes are counted.
        limits: How many unanswered questions one connection may have; the gateway's own limits when None.
    """

    def __init__(
        self, *, policy: AccessPolicy, clock: Clock, counters: GatewayCounters, limits: GatewayLimits | None = None
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._counters = counters
        self._questions_max = (limits or GatewayLimits()).questions_per_connection_max
        self._lenders: list[Lender] = []
        self._batches = itertools.count(1)
        self._preferences = itertools.count(1)

    # --- for connections ---------------------------------------------------------------------------------------------

    def lend(self, lender: Lender) -> None:
        """Take a connection's model into service. It comes after those that were there before."""
        self._lenders.append(lender)

    def withdraw(self, lender: Lender) -> None:
        """The connection answers no more: whoever waits for it is told. Withdrawing twice is fine."""
        if lender in self._lenders:
            self._lenders.remove(lender)
        for question in tuple(lender.questions.values()):
            question.settle(self._failure(question, RuntimeFailureKind.DISCONNECTED))

    def receive(self, lender: Lender | None, result: requests.ExtractResult) -> None:
        """Take an answer. A late or unknown one is passed over and counted.

        Args:
            lender: The connection it came on, where that lends a model.
            result: What came.

        Raises:
            RecalldError: `bad_request` when the connection was never asked anything.
        """
        if lender is None or not lender.was_asked:
            self._counters.add(GatewayCount.PEER_FAULTS)
            message = f"batch_id: this connection was not asked; name {FEATURE!r} in the wants of hello, and wait"
            raise RecalldError(ErrorCode.BAD_REQUEST, message)
        question = lender.questions.pop(result.batch_id, None)
        if question is None:
            self._counters.add(GatewayCount.EXTRACT_RESULTS_IGNORED)
            return
        lender.preference = next(self._preferences)
        question.settle(self._read(question, result))

    # --- for actors --------------------------------------------------------------------------------------------------

    def is_connected(self, user: str) -> bool:
        """Whether anybody could be asked for this user now; never blocks."""
        return any(self._policy.may_act_for(lender.peer.uid, user) for lender in self._lenders)

    async def ask(self, user: str, prompt: RuntimePrompt, *, deadline_s: float) -> RuntimeReply | RuntimeFailure:
        """The answer of the runtime that answered last, of those that may act for the user; late ones are asked last.

        Args:
            user: Whose words the prompt holds.
            prompt: What to ask.
            deadline_s: When to have an answer, in seconds on the monotonic clock; a failure comes by then, too.
        """
        question = _Question(prompt, self._clock.monotonic_s())
        left_s = deadline_s - question.asked_s
        if not self.is_connected(user):
            return self._failure(question, RuntimeFailureKind.NOT_CONNECTED)
        deadline_ms = round(1000 * left_s / (1 + GRACE))
        if deadline_ms < 1:
            return self._failure(question, RuntimeFailureKind.TIMEOUT)
        batch_id = f"batch_{next(self._batches)}"
        try:
            lender = self._send(user, batch_id, question, deadline_ms)
        except WireError:  # the prompt does not fit a frame, or is no text
            return self._failure(question, RuntimeFailureKind.TOO_LONG)
        if lender is None:
            return self._failure(question, RuntimeFailureKind.BUSY)
        try:
            with anyio.move_on_after(left_s):
                await question.is_settled.wait()
        finally:
            lender.questions.pop(batch_id, None)
        if question.outcome is None:
            lender.preference = -next(self._preferences)  # one that hangs must not be asked before one that answers
        return question.outcome or self._failure(question, RuntimeFailureKind.TIMEOUT)

    def _send(self, user: str, batch_id: str, question: _Question, deadline_ms: int) -> Lender | None:
        """Send a question to the first lender that takes it; None when none does. Never waits.

        Raises:
            WireError: The question cannot be sent to anybody.
        """
        eligible = [each for each in self._lenders if self._policy.may_act_for(each.peer.uid, user)]
        # Of those that were never asked, whoever came first.
        for lender in sorted(eligible, key=lambda each: each.preference, reverse=True):
            if len(lender.questions) >= self._questions_max:
                continue
            frame = _frame(user, lender, batch_id, question.prompt, deadline_ms)
            if lender.send(frame):
                self._counters.add(GatewayCount.EXTRACT_REQUESTS)
                lender.was_asked = True
                lender.questions[batch_id] = question
                return lender
        return None

    def _read(self, question: _Question, result: requests.ExtractResult) -> RuntimeReply | RuntimeFailure:
        if result.refused:
            return self._failure(question, RuntimeFailureKind.REFUSED)
        if len(result.reply) > question.prompt.reply_chars_max:
            return self._failure(question, RuntimeFailureKind.TOO_LONG)
        elapsed_ms = self._elapsed_ms(question)
        return RuntimeReply(text=result.reply, was_truncated=result.was_truncated, elapsed_ms=elapsed_ms)

    def _failure(self, question: _Question, kind: RuntimeFailureKind) -> RuntimeFailure:
        if kind is not RuntimeFailureKind.NOT_CONNECTED:
            self._counters.add(GatewayCount.EXTRACT_REQUESTS_FAILED)
        return RuntimeFailure(kind=kind, elapsed_ms=self._elapsed_ms(question))

    def _elapsed_ms(self, question: _Question) -> float:
        return 1000 * (self._clock.monotonic_s() - question.asked_s)


def _frame(user: str, lender: Lender, batch_id: str, prompt: RuntimePrompt, deadline_ms: int) -> bytes:
    return encode_message(
        replies.ExtractRequest(
            id=lender.hello_id,
            batch_id=batch_id,
            user=user,
            purpose=prompt.purpose.value,
            prompt=prompt.prompt,
            prompt_version=prompt.prompt_version,
            turns=prompt.turns,
            deadline_ms=deadline_ms,
            reply_chars_max=prompt.reply_chars_max,
        )
    )
