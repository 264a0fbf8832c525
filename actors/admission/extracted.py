"""Deciding about what a model found in a turn that was decided about before.

Only what the model found is looked at: commands to save and rules have had their say when the turn was observed. The
decision is durable under the turn, with a key of its own, so that a batch that is read twice is admitted once.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from recalld.actors.admission.dependencies import WRITE_RESERVE_S, AdmissionDependencies
from recalld.actors.admission.fact_writes import FactWrites
from recalld.actors.admission.recall_view import RecallView
from recalld.actors.admission.turn_command import KEY_SEPARATOR, turn_command
from recalld.actors.admission.turn_reply import admitted_event, turn_reply
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.admission import ObservedTurn, ObserveReply
from recalld.models.domain.facts import Generator
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.admission.shadow import shadowed
from recalld.models.policy.extraction_prompt import PROMPT_VERSION
from recalld.models.policy.turn_facts import TurnFacts, read_turn
from recalld.models.policy.turn_rulings import rule_turn

KEY: Final = "extract"
"""Ends the turn key of such a decision."""


class ExtractedAdmitter:
    """Decides about facts that a model found later, for one user."""

    def __init__(self, deps: AdmissionDependencies, view: RecallView) -> None:
        self._deps = deps
        self._view = view
        self._writes = FactWrites(deps, view)

    async def admit(self, turn: ObservedTurn) -> ObserveReply:
        """Decide about the offered facts of a turn, once.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`; the same may then be handed over again.
        """
        deps = self._deps
        now_ms = deps.clock.now_ms()
        work = partial(read_turn, turn.text, turn.offered, client=turn.client, has_rules=False)
        facts = await deps.text_work.run(work, chars=len(turn.text))
        found = tuple(
            msgspec.structs.replace(each, rule=PROMPT_VERSION)
            for each in facts.candidates
            if each.generator is Generator.MODEL
        )
        context = await self._context(turn, facts, now_ms)
        rulings = await deps.text_work.run(partial(rule_turn, found, context), chars=len(turn.text))
        ruled = shadowed(rulings.facts) if deps.options.is_shadow else rulings.facts
        ready = await self._writes.ready(turn, ruled, now_ms=now_ms)
        left_out = tuple(each for each in facts.dropped if each.generator is Generator.MODEL)
        command = turn_command(
            turn,
            decision_id=deps.ids.new_id("adm"),
            now_ms=now_ms,
            writes=ready.writes,
            dropped=(*left_out, *rulings.dropped, *ready.dropped),
            limits=deps.options.limits,
        )
        command = msgspec.structs.replace(command, turn_key=f"{command.turn_key}{KEY_SEPARATOR}{KEY}")
        admitted = await answered_by_store(ask_store(deps.store, command, deadline_s=turn.deadline_s))
        reply = turn_reply(admitted)
        deps.events.publish(admitted_event(turn.user, reply, is_repeat=admitted.is_repeat, at_ms=now_ms))
        return reply

    async def _context(self, turn: ObservedTurn, facts: TurnFacts, now_ms: int) -> AdmissionContext:
        options = self._deps.options
        shown = await self._view.shown(turn.session, deadline_s=turn.deadline_s - WRITE_RESERVE_S)
        ids = tuple(dict.fromkeys((*turn.injected, *shown)))
        memories = await self._deps.reader.memories(turn.user, ids) if ids else {}
        return AdmissionContext(
            turn=facts.turn,
            speaker=turn.speaker,
            said=facts.said,
            at_ms=turn.at_ms,
            zone=turn.time_zone,
            now_ms=now_ms,
            injected={memory_id: memory.text for memory_id, memory in memories.items()},
            position=options.position,
            judge_strict=options.judge_strict,
        )
