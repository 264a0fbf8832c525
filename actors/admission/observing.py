"""Deciding about a turn as it was said.

Only explicit saves ("remember that …") become records here; every decision is durable under (user, session, turn id),
so that the same turn delivered again, also after a crash, gets the same answer and changes nothing.
"""

from __future__ import annotations

from functools import partial

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.saving import Saver
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.admission import ObservedTurn, ObserveReply, Speaker, Verdict
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.reasons import AdmissionReason, Op, RememberOutcome
from recalld.models.domain.records import NewMemory
from recalld.models.domain.store import DecisionRow, RecordTurn, Remembered, TurnRecorded
from recalld.models.policy.explicit_save import NotSaved, find_explicit_saves
from recalld.models.policy.save_statement import ExplicitSave

KEY_SEPARATOR = "\x1f"
"""Joins session and turn id; refused inside either at the gateway."""


class Observer:
    """Decides about observed turns of one user."""

    def __init__(self, deps: AdmissionDependencies, saver: Saver) -> None:
        self._deps = deps
        self._saver = saver

    async def observe(self, turn: ObservedTurn) -> ObserveReply:
        """Decide about a turn, once.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`; the turn may then be sent again.
        """
        # Speaker first: whatever an assistant or a tool says, it is not the user's.
        if turn.speaker is not Speaker.USER:
            return await self._nothing(turn, AdmissionReason.NOT_USER_SPEAKER)
        found = await self._deps.text_work.run(partial(find_explicit_saves, turn.text), chars=len(turn.text))
        if isinstance(found, NotSaved):
            return await self._nothing(turn, found.reason)
        kept: list[Verdict] = []
        decision_id = ""
        for place, save in enumerate(found):
            remembered = await self._save(turn, save, place)
            if remembered.outcome is None:
                # The turn id was used before, for a turn that led to nothing: the first decision stands.
                return await self._nothing(turn, AdmissionReason.NOT_EXPLICIT)
            decision_id = decision_id or remembered.decision_id
            is_new = remembered.outcome is not RememberOutcome.DUPLICATE
            reason = AdmissionReason.EXPLICIT_SAVE if is_new else AdmissionReason.DUPLICATE
            kept.append(Verdict(reason=reason, memory=remembered.memory))
        return ObserveReply(decision_id=decision_id, kept=tuple(kept))

    async def _save(self, turn: ObservedTurn, save: ExplicitSave, place: int) -> Remembered:
        memory = NewMemory(user=turn.user, text=save.statement, kind=save.kind, scope=turn.scope)
        remembered, _ = await self._saver.save(
            memory, op=Op.OBSERVE, session=turn.session, deadline_s=turn.deadline_s, turn_key=_turn_key(turn, place)
        )
        return remembered

    async def _nothing(self, turn: ObservedTurn, reason: AdmissionReason) -> ObserveReply:
        deps = self._deps
        command = RecordTurn(
            user=turn.user,
            turn_key=_turn_key(turn, 0),
            reason=reason,
            decision=DecisionRow(
                id=deps.ids.new_id("adm"),
                user=turn.user,
                session=turn.session,
                op=Op.OBSERVE,
                at_ms=deps.clock.now_ms(),
                decision="dropped",
                reason=reason,
            ),
        )
        recorded = await answered_by_store(ask_store(deps.store, command, deadline_s=turn.deadline_s))
        self._announce(turn, recorded)
        if recorded.memory is not None:
            # The turn id was used before, for a turn that was kept: the first decision stands.
            return ObserveReply(
                decision_id=recorded.decision_id, kept=(Verdict(reason=recorded.reason, memory=recorded.memory),)
            )
        return ObserveReply(decision_id=recorded.decision_id, dropped=(Verdict(reason=recorded.reason),))

    def _announce(self, turn: ObservedTurn, recorded: TurnRecorded) -> None:
        self._deps.events.publish(
            Event(
                name=EventName.MEMORY_ADMITTED,
                at_ms=self._deps.clock.now_ms(),
                user=turn.user,
                fields={
                    "decision_id": recorded.decision_id,
                    "op": Op.OBSERVE,
                    "outcome": "dropped" if recorded.memory is None else "repeated",
                    "reason": recorded.reason,
                    "memory_id": "" if recorded.memory is None else recorded.memory.id,
                },
            )
        )


def _turn_key(turn: ObservedTurn, place: int) -> str:
    """Key of the turn's first save, and of each further one."""
    base = f"{turn.session}{KEY_SEPARATOR}{turn.turn_id}"
    return base if place == 0 else f"{base}{KEY_SEPARATOR}{place}"
