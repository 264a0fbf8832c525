"""Leaving nothing of a user behind."""

from __future__ import annotations

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.writing import answered_by_store
from recalld.actors.store import ask_store
from recalld.models.domain.events import Event, EventName
from recalld.models.domain.user_data import PurgeRequest, PurgeUser, UserPurged


class Purger:
    """Purges one user: behind every write that was asked for earlier, and before every later one."""

    def __init__(self, deps: AdmissionDependencies) -> None:
        self._deps = deps

    async def purge(self, request: PurgeRequest) -> UserPurged:
        """Leave nothing of the user behind, neither tombstones nor ledger rows.

        Raises:
            RecalldError: `BUSY`, `STORAGE_FULL`, `STORAGE_UNAVAILABLE`.
        """
        deps = self._deps
        command = PurgeUser(user=request.user)
        purged = await answered_by_store(ask_store(deps.store, command, deadline_s=request.deadline_s))
        deps.events.publish(
            Event(
                name=EventName.MEMORY_FORGOTTEN,
                at_ms=deps.clock.now_ms(),
                user=request.user,
                fields={"decision_id": "", "count": purged.memories, "is_hard": True},
            )
        )
        return purged
