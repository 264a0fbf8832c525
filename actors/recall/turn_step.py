"""Step 1 of a recall: is a search warranted, and for what? In the order of cost: rules, the store, a model.

Guards and fails as `policy.turn_gate` says. Here is who is asked, and for how long: the store only where no rule has
decided, a model only where the store has not either, and each within a deadline of its own.
"""

from __future__ import annotations

import dataclasses
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import anyio
import msgspec

from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.turn_memo import TurnMemo, turn_key
from recalld.actors.text_work import is_long
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.recall import RecallQuery
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimeFailureKind, RuntimePrompt, RuntimeReply
from recalld.models.domain.turn_report import TurnReport
from recalld.models.policy.deadline import model_window_s, probe_deadline_s, reply_reserve_s
from recalld.models.policy.query_reading import QueryReading, read_verdict, turn_of
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.turn.directions import GateCause
from recalld.models.policy.turn.model_answer import ModelAnswer, ModelAnswerError, parse_model_answer
from recalld.models.policy.turn.model_prompt import PROMPT_VERSION, turn_gate_prompt
from recalld.models.policy.turn.probe import ProbeResult, TermPostings
from recalld.models.policy.turn.references import RECENT_CHARS_MAX, RECENT_TURNS_MAX
from recalld.models.policy.turn.reporting import report_turn
from recalld.models.policy.turn.turn_input import TurnInput
from recalld.models.policy.turn.verdict import TurnGateVerdict
from recalld.models.policy.turn_cut import READ_CHARS_MAX
from recalld.models.policy.turn_gate import decide, decide_again

T = TypeVar("T")

MODEL_GRACE = 0.1
"""A model's answer may be late by this share of its time; then the recall goes on without it."""
ANSWERED = "answered"

_CAUSES = {
    RuntimeFailureKind.NOT_CONNECTED: GateCause.ERROR,
    RuntimeFailureKind.DISCONNECTED: GateCause.ERROR,
    RuntimeFailureKind.REFUSED: GateCause.ERROR,
    RuntimeFailureKind.TOO_LONG: GateCause.ERROR,
    RuntimeFailureKind.BUSY: GateCause.BUDGET,
    RuntimeFailureKind.TIMEOUT: GateCause.TIMEOUT,
}


class TurnRead(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn says, and what the gate saw of it."""

    reading: QueryReading
    report: TurnReport


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """A model's answer as the gate takes it, and in a word for the ledger; empty when nobody was asked."""

    answer: ModelAnswer | ModelAnswerError | GateCause | None = None
    outcome: str = ""
    chars: int = 0
    """What the model read and wrote."""


class TurnStep:
    """Reads the turns of one user.

    Args:
        user: Whose.
        memo: Decisions of turns that are still going on.
        deps: What all recall actors share.
    """

    def __init__(self, user: str, memo: TurnMemo[TurnRead], deps: RecallDependencies) -> None:
        self._user = user
        self._memo = memo
        self._deps = deps

    async def read(self, query: RecallQuery, *, now_ms: int) -> TurnRead:
        """Decide about a turn and read it; at once, when the same turn has been decided before.

        Args:
            query: The request.
            now_ms: The server's present, Unix epoch milliseconds.
        """
        key = turn_key(query)
        if key is None:
            return await self._read(query, now_ms)
        turn, is_repeat = await self._memo.once(key, partial(self._read, query, now_ms))
        if not is_repeat:
            return turn
        return TurnRead(
            reading=turn.reading, report=msgspec.structs.replace(turn.report, is_repeat=True, model_chars=0)
        )

    async def _read(self, query: RecallQuery, now_ms: int) -> TurnRead:
        turn = turn_of(query, now_ms=now_ms)
        is_unconditional = query.is_search or not self._deps.turn_gate.is_enabled
        verdict, asked = await self._decide(turn), _Asked()
        if verdict.is_open and not is_unconditional:
            probe = await self._probe(verdict.evidence.terms, query.deadline_s)
            turn = msgspec.structs.replace(turn, probe=probe)
            verdict = await self._decide_again(turn, verdict)
        if verdict.is_open and not is_unconditional:
            asked = await self._ask_model(verdict.user_text, turn, query.deadline_s)
            if asked.outcome:
                verdict = await self._decide_again(turn, verdict, asked.answer)
        reading = await self._work(
            partial(
                read_verdict,
                verdict,
                query.text,
                is_unconditional=is_unconditional,
                is_search=query.is_search,
                is_zone_known=bool(query.time_zone),
            ),
            len(verdict.user_text),
        )
        report = report_turn(
            verdict,
            reading.times,
            is_store_asked=isinstance(turn.probe, ProbeResult),
            model=asked.outcome,
            model_prompt=PROMPT_VERSION if asked.outcome else "",
            model_chars=asked.chars,
        )
        return TurnRead(reading=reading, report=report)

    async def _decide(self, turn: TurnInput) -> TurnGateVerdict:
        chars = sum(len(part.text) for part in turn.parts) + _recent_chars(turn)
        settings = self._deps.turn_gate.settings
        return await self._work(partial(decide, turn, settings=settings, find_times=find_intervals), chars)

    async def _decide_again(
        self,
        turn: TurnInput,
        before: TurnGateVerdict,
        model: ModelAnswer | ModelAnswerError | GateCause | None = None,
    ) -> TurnGateVerdict:
        chars = min(len(before.user_text), READ_CHARS_MAX) + _recent_chars(turn)
        settings = self._deps.turn_gate.settings
        return await self._work(partial(decide_again, turn, before, settings=settings, model=model), chars)

    async def _work(self, work: partial[T], chars: int) -> T:
        with self._deps.turns.waiting() if is_long(chars) else nullcontext():
            return await self._deps.text_work.run(work, chars=chars)

    async def _probe(self, terms: tuple[str, ...], deadline_s: float) -> ProbeResult | GateCause:
        """Which of the terms the user's store has; why it could not say, within a small share of the time."""
        if not terms:
            return ProbeResult()
        now_s = self._deps.clock.monotonic_s()
        try:
            with anyio.move_on_after(probe_deadline_s(now_s=now_s, envelope_deadline_s=deadline_s) - now_s):
                posted = await self._deps.reader.posted(self._user, terms)
                return ProbeResult(terms=tuple(TermPostings(term=term, postings=1) for term in terms if term in posted))
        except RecalldError:
            return GateCause.ERROR
        return GateCause.TIMEOUT

    async def _ask_model(self, message: str, turn: TurnInput, deadline_s: float) -> _Asked:
        """The answer of the runtime's own model, where one is wanted, lent, and can still answer in time."""
        options, model = self._deps.turn_gate, self._deps.runtime_model
        if not options.is_model_on or not model.is_connected(self._user):
            return _Asked()
        now_s = self._deps.clock.monotonic_s()
        left_s = deadline_s - now_s
        left_s -= reply_reserve_s(left_s, reserve_s=self._deps.limits.reserve_ms / 1000.0)
        allowed_s = model_window_s(left_s=left_s, model_ms=options.model_ms)
        if allowed_s <= 0.0:
            return _Asked(answer=GateCause.BUDGET, outcome=GateCause.BUDGET.value)
        reply: RuntimeReply | RuntimeFailure | None = None
        prompt = turn_gate_prompt(message, turn.recent)
        with self._deps.turns.waiting(), anyio.move_on_after(allowed_s * (1.0 + MODEL_GRACE)):
            reply = await model.ask(self._user, prompt, deadline_s=now_s + allowed_s)
        return dataclasses.replace(_understood(reply), chars=_model_chars(prompt, reply))


def _recent_chars(turn: TurnInput) -> int:
    """Characters of the turns before that are read at most."""
    if not isinstance(turn.recent, tuple):
        return 0
    return sum(min(len(text), RECENT_CHARS_MAX) for text in turn.recent[-RECENT_TURNS_MAX:])


def _model_chars(prompt: RuntimePrompt, reply: RuntimeReply | RuntimeFailure | None) -> int:
    """What a model read and wrote: a question without an answer was read all the same."""
    written = len(reply.text) if isinstance(reply, RuntimeReply) else 0
    return len(prompt.prompt) + sum(map(len, prompt.turns)) + written


def _understood(reply: RuntimeReply | RuntimeFailure | None) -> _Asked:
    match reply:
        case None:
            return _Asked(answer=GateCause.TIMEOUT, outcome=GateCause.TIMEOUT.value)
        case RuntimeFailure():
            return _Asked(answer=_CAUSES[reply.kind], outcome=reply.kind.value)
        case RuntimeReply():
            answer = parse_model_answer(reply.text, was_truncated=reply.was_truncated)
            outcome = answer.fault.value if isinstance(answer, ModelAnswerError) else ANSWERED
            return _Asked(answer=answer, outcome=outcome)
