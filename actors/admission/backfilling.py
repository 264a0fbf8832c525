"""Having a lent model write cues and asks for memories that have no asks: one memory, one question, one update.

Nobody waits for it but whoever asked for it: between two questions everything else of the user goes on, and each update
is a transaction of its own, so that what was done stays done whenever it ends.
"""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Final

from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.updating import Updater
from recalld.models.domain.cues import (
    BackfillEnd,
    BackfillFailure,
    BackfillReply,
    BackfillRequest,
    MemoryChanges,
    UpdateReason,
    UpdateRequest,
)
from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.domain.records import Memory, TextOrigin
from recalld.models.domain.runtime_model import RuntimeFailure, RuntimePrompt, RuntimeReply
from recalld.models.domain.store import ListFilter
from recalld.models.policy.cue_prompt import cue_prompt
from recalld.models.policy.cue_reply import CueReply, CueReplyError, CueReplyFault, parse_cue_reply
from recalld.models.policy.memory_changes import joined_cues

ASK_S_MAX: Final = 45.0
"""Seconds a model gets for one memory: models on a processor write two hundred tokens in a good half of that."""
ASK_S_MIN: Final = 5.0
"""Below that a memory is left for the next backfill: an answer would come too late and be thrown away."""
UPDATE_S: Final = 5.0
"""Seconds of the time allowed that are left for embedding and storing what the model wrote."""
FAILURES_MAX: Final = 3
"""Questions in a row without an answer after which the model is left alone."""
_MISSING: Final = ListFilter(without_asks=True)
_PASSING: Final = frozenset({ErrorCode.CONFLICT, ErrorCode.NOT_FOUND})
"""Errors of an update that concern one memory alone."""

Outcome = CueReplyFault | BackfillFailure | None
"""What became of one memory: refused, failed, or (None) updated."""


class Backfiller:
    """Backfills memories of one user."""

    def __init__(self, deps: AdmissionDependencies, updater: Updater) -> None:
        self._deps = deps
        self._updater = updater

    async def backfill(self, request: BackfillRequest, is_wanted: Callable[[], bool]) -> BackfillReply:
        """Go through memories without asks, newest first, until the limit or the end of the time allowed.

        Args:
            request: Whose memories, and how many.
            is_wanted: Whether to go on; if not, no further memory is asked about.

        Raises:
            RecalldError: `BAD_REQUEST` for a cursor that the store did not make; `BUSY`, `STORAGE_FULL`,
                `STORAGE_UNAVAILABLE`. What was updated before stays updated.
        """
        run = _Run(request)
        if request.is_dry_run:
            is_possible = self._deps.runtime_model.is_connected(request.user)
            return await self._reply(run, BackfillEnd.DRY_RUN if is_possible else BackfillEnd.NO_RUNTIME)
        while (found := await self._next_missing(run)) is not None:
            end = self._why_stop(run)
            if end is not None or not is_wanted():
                return await self._reply(run, end or BackfillEnd.TIME)
            memory, behind = found
            run.note(await self._fill(memory, request))
            run.go_on(behind)
        return await self._reply(run, BackfillEnd.DONE)

    async def _next_missing(self, run: _Run) -> tuple[Memory, str | None] | None:
        """The next memory without asks, and the cursor that goes on behind it; None when there is none."""
        while not run.is_at_end:
            now_ms = self._deps.clock.now_ms()
            page = await self._deps.reader.list_memories(
                run.request.user, _MISSING, now_ms=now_ms, limit=1, cursor=run.cursor
            )
            if page.memories:
                return page.memories[0], page.cursor
            run.go_on(page.cursor)  # nothing is left, or a damaged memory was left out
        return None

    def _why_stop(self, run: _Run) -> BackfillEnd | None:
        """Why no further memory is asked about; None when one is."""
        deps = self._deps
        if run.done >= run.request.limit:
            return BackfillEnd.LIMIT
        if not deps.runtime_model.is_connected(run.request.user):
            return BackfillEnd.NO_RUNTIME
        if run.failures_in_row >= FAILURES_MAX:
            return BackfillEnd.FAILING
        if run.request.deadline_s - deps.clock.monotonic_s() < ASK_S_MIN + UPDATE_S:
            return BackfillEnd.TIME
        return None

    async def _fill(self, memory: Memory, request: BackfillRequest) -> Outcome:
        """Ask about one memory and store what can be used."""
        deps = self._deps
        deadline_s = min(deps.clock.monotonic_s() + ASK_S_MAX, request.deadline_s - UPDATE_S)
        prompt = cue_prompt(memory)
        match await deps.runtime_model.ask(request.user, prompt, deadline_s=deadline_s):
            case RuntimeFailure(kind=kind):
                return BackfillFailure(kind.value)
            case RuntimeReply(text=text, was_truncated=was_truncated):
                match parse_cue_reply(text, was_truncated=was_truncated):
                    case CueReplyError(fault=fault):
                        return fault
                    case CueReply() as written:
                        return await self._store(memory, written, prompt, request)

    async def _store(
        self, memory: Memory, written: CueReply, prompt: RuntimePrompt, request: BackfillRequest
    ) -> Outcome:
        """Update the memory as it was read. Cues that were given are kept, and come first."""
        changes = MemoryChanges(cues=joined_cues(memory, written.cues), asks=written.asks, origin=TextOrigin.MODEL)
        update = UpdateRequest(
            user=memory.user,
            memory_id=memory.id,
            changes=changes,
            if_revision=memory.revision,
            reason=UpdateReason.BACKFILLED,
            note=prompt.prompt_version,
            deadline_s=request.deadline_s,
        )
        try:
            await self._updater.update(update)
        except RecalldError as error:
            if error.code in _PASSING:
                return BackfillFailure.CHANGED
            if error.code is ErrorCode.BAD_REQUEST:
                return CueReplyFault.NOT_ADMITTED
            raise
        return None

    async def _reply(self, run: _Run, end: BackfillEnd) -> BackfillReply:
        page = await self._deps.reader.list_memories(
            run.request.user, _MISSING, now_ms=self._deps.clock.now_ms(), limit=1, cursor=None
        )
        return BackfillReply(
            updated=run.updated,
            refusals={fault.value: count for fault, count in run.refusals.items()},
            failures={failure.value: count for failure, count in run.failures.items()},
            remaining=page.total,
            end=end,
            cursor=None if end is BackfillEnd.DONE else run.cursor,
        )


class _Run:
    """What one backfill has done so far."""

    def __init__(self, request: BackfillRequest) -> None:
        self.request = request
        self.cursor = request.cursor
        self.is_at_end = False
        self.updated = 0
        self.refusals: collections.Counter[CueReplyFault] = collections.Counter()
        self.failures: collections.Counter[BackfillFailure] = collections.Counter()
        self.failures_in_row = 0

    def go_on(self, behind: str | None) -> None:
        """Go on behind the memory that was looked at; a missing cursor says that it was the last one."""
        self.cursor, self.is_at_end = behind, behind is None

    @property
    def done(self) -> int:
        """Memories that were asked about."""
        return self.updated + self.refusals.total() + self.failures.total()

    def note(self, outcome: Outcome) -> None:
        """Count what became of a memory; an answer, even a refused one, shows that the model is there."""
        match outcome:
            case BackfillFailure():
                self.failures[outcome] += 1
                self.failures_in_row += outcome is not BackfillFailure.CHANGED
                return
            case CueReplyFault():
                self.refusals[outcome] += 1
            case None:
                self.updated += 1
        self.failures_in_row = 0
