"""Having a model read one batch: the question, the answer, and one admission for each turn it quotes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.actors.extraction.dependencies import ExtractionDependencies
from recalld.models.domain.admission import ObservedTurn, Speaker
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.extraction import BLAMELESS, ExtractedFact, PendingTurn, SourceFailure
from recalld.models.domain.runtime_model import RuntimeReply
from recalld.models.policy.extraction_prompt import extraction_prompt
from recalld.models.policy.extraction_reply import ExtractionFault, ExtractionReply, parse_extraction_reply

READ_MAX: Final = 200
"""Turns looked at at a time: the oldest come first, and no batch is nearly that large."""
ADMIT_S: Final = 10.0
"""Seconds the facts of one turn may take to be embedded and written."""


class BatchRead(msgspec.Struct, frozen=True, kw_only=True):
    """How a batch went.

    Attributes:
        is_read: Whether the model read it, and what it found is decided about.
        facts: How many facts it found.
        is_sources_fault: Where it was not read: whether the turns had no part in that.
    """

    is_read: bool
    facts: int = 0
    is_sources_fault: bool = False


class BatchReader:
    """Has batches of one user read."""

    def __init__(self, user: str, deps: ExtractionDependencies) -> None:
        self._user = user
        self._deps = deps

    async def read(self, batch: Sequence[PendingTurn]) -> BatchRead:
        """Ask the model, and hand on what it found. Nothing that goes wrong is raised; it is counted."""
        deps = self._deps
        deps.counters["extraction_calls"] += 1
        deadline_s = deps.clock.monotonic_s() + deps.ask_s
        prompt = extraction_prompt(batch)
        deps.counters["extraction_chars"] += len(prompt.prompt) + sum(map(len, prompt.turns))
        match await deps.source.ask(self._user, prompt, deadline_s=deadline_s):
            case SourceFailure(fault=fault):
                deps.counters[f"extraction_fault_{fault}"] += 1
                return BatchRead(is_read=False, is_sources_fault=fault in BLAMELESS)
            case RuntimeReply(text=text, was_truncated=was_truncated):
                deps.counters["extraction_chars"] += len(text)
                reply = parse_extraction_reply(text, batch, was_truncated=was_truncated)
        match reply:
            case ExtractionFault():
                deps.counters[f"extraction_fault_{reply}"] += 1
                return BatchRead(is_read=False)
            case ExtractionReply():
                return await self._admitted(batch, reply)

    async def _admitted(self, batch: Sequence[PendingTurn], reply: ExtractionReply) -> BatchRead:
        for fault in reply.refused:
            self._deps.counters[f"extraction_refused_{fault}"] += 1
        for turn in batch:
            facts = tuple(each for each in reply.facts if each.turn_number == turn.number)
            if not facts:
                continue
            try:
                if await self._is_waiting(turn):
                    await self._deps.admit(self._observed(turn, facts))
            except RecalldError as error:
                # What was admitted before stays so: each turn is admitted once, whatever is found in it next time.
                self._deps.counters[f"extraction_not_admitted_{error.code}"] += 1
                return BatchRead(is_read=False, is_sources_fault=True)
        self._deps.counters["extraction_facts"] += len(reply.facts)
        return BatchRead(is_read=True, facts=len(reply.facts))

    async def _is_waiting(self, turn: PendingTurn) -> bool:
        """Whether a turn is still there: what was forgotten while the model read it must not come back."""
        waiting = await self._deps.reader.pending_turns(self._user, limit=READ_MAX)
        return any(each.number == turn.number for each in waiting)

    def _observed(self, turn: PendingTurn, facts: Sequence[ExtractedFact]) -> ObservedTurn:
        return ObservedTurn(
            user=self._user,
            session=turn.session,
            turn_id=turn.turn_id,
            speaker=Speaker.USER,
            text=turn.text,
            at_ms=turn.at_ms,
            time_zone=turn.time_zone,
            scope=turn.scope,
            offered=tuple(each.fact for each in facts),
            injected=turn.injected,
            client=turn.client if self._deps.is_clients_model else "",
            deadline_s=self._deps.clock.monotonic_s() + ADMIT_S,
        )
