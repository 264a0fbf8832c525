"""What runtimes and people say about memories that were shown: written down, counted, announced."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from recalld.actors.asking import as_operating_error
from recalld.actors.events import EventBus, EventLevel
from recalld.actors.kernel import Address, AskError
from recalld.actors.ports import Clock, IdSource
from recalld.actors.store import StoreMessage, ask_store
from recalld.actors.supervisor import Conditions
from recalld.models.domain.audit import NoteAudit
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.outcomes import OutcomeReport, RecordOutcome
from recalld.models.domain.reasons import Op
from recalld.models.domain.standing import SetStanding, StandingAction, StandingSet
from recalld.models.domain.store import DecisionRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Feedback:
    """Takes reports and decisions to the store.

    Attributes:
        clock: Time.
        ids: For ledger rows.
        store: The store actor.
        events: Where new reports are announced.
        conditions: Where they are counted, by result.
    """

    clock: Clock
    ids: IdSource
    store: Address[StoreMessage]
    events: EventBus
    conditions: Conditions

    async def record_outcome(self, report: OutcomeReport) -> None:
        """Keep a report, once for each decision, memory and result. It never changes what a recall finds.

        Raises:
            RecalldError: `NOT_FOUND`, `BAD_REQUEST`, `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`.
        """
        now_ms = self.clock.now_ms()
        command = RecordOutcome(
            user=report.user,
            decision_id=report.decision_id,
            memory_id=report.memory_id,
            result=report.result,
            at_ms=report.at_ms,
            now_ms=now_ms,
        )
        try:
            recorded = await ask_store(self.store, command, deadline_s=report.deadline_s)
        except AskError as error:
            raise as_operating_error(error, "the store") from error
        if not recorded.is_new:
            return
        self.conditions.counters[f"outcomes_{report.result}"] += 1
        fields = {"decision_id": report.decision_id, "memory_id": report.memory_id, "result": report.result}
        self.events.publish(
            Event(name=EventName.MEMORY_OUTCOME_RECORDED, at_ms=now_ms, user=report.user, fields={**fields}),
            EventLevel.INFO,
        )

    async def note_audit(self, *, deadline_s: float) -> None:
        """Note that somebody has just gone through the newest memories.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`.
        """
        try:
            await ask_store(self.store, NoteAudit(at_ms=self.clock.now_ms()), deadline_s=deadline_s)
        except AskError as error:
            raise as_operating_error(error, "the store") from error

    async def set_standing(
        self, user: str, memory_id: str, action: StandingAction, *, deadline_s: float
    ) -> StandingSet:
        """Note what a person decided about a memory and the standing block, with a row in the ledger.

        Raises:
            RecalldError: `NOT_FOUND`, `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`, `DRAINING`.
        """
        now_ms = self.clock.now_ms()
        decision = DecisionRow(
            id=self.ids.new_id("sts"),
            user=user,
            session="",
            op=Op.SET_STANDING,
            at_ms=now_ms,
            decision=action.value,
            reason="",
            # So that forgetting the memory finds this row, as it finds all others about it.
            body=msgspec.json.encode({"memory_id": memory_id}),
        )
        command = SetStanding(user=user, memory_id=memory_id, action=action, now_ms=now_ms, decision=decision)
        try:
            return await ask_store(self.store, command, deadline_s=deadline_s)
        except AskError as error:
            raise as_operating_error(error, "the store") from error
