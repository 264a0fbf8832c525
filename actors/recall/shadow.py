"""What a recall hands over in shadow mode, beside what its gates decided.

Guards: the comparison. The gates run exactly as they would, and are written down so; this only looks at what they left.
Cost: the floor once more; for a turn that was skipped, the search that was spared. Fails: towards nothing handed over.

A search on purpose is not shadowed: a person waits for its answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import anyio

from recalld.actors.recall.candidates import CandidateFinder, Found
from recalld.actors.recall.dependencies import RecallDependencies
from recalld.actors.recall.outcome import OutcomeLimits, Passed
from recalld.actors.recall.state import RecallState, Spawn
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.recall import RecalledItem, RecallQuery, ShadowServing
from recalld.models.domain.shadow import GateMode
from recalld.models.policy.deadline import reply_reserve_s
from recalld.models.policy.pack import pack
from recalld.models.policy.query_reading import QueryReading, read_verdict, turn_of
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.turn_gate import decide

Floor = Callable[[Found, QueryReading, frozenset[str]], Awaitable[Passed]]
"""Floor and exclusions over what was found, with the ids that are in view."""


class ShadowStep:
    """Serves the recalls of one user in shadow mode.

    Args:
        state: Knows what was handed over in each session.
        deps: What all recall actors share.
        finder: Searches where the turn gate had spared it.
    """

    def __init__(self, state: RecallState, deps: RecallDependencies, finder: CandidateFinder) -> None:
        self._state = state
        self._deps = deps
        self._finder = finder

    async def serve(
        self,
        query: RecallQuery,
        limits: OutcomeLimits,
        *,
        found: Found | None,
        reading: QueryReading | None,
        floor: Floor,
        now_ms: int,
        spawn: Spawn,
    ) -> ShadowServing | None:
        """What is handed over instead of the outcome; None where the gates are obeyed.

        Args:
            query: The request.
            limits: How much may be shown.
            found: What the recall nominated; None when it did not search.
            reading: What the turn says; None when nobody came to read it.
            floor: Steps 3 and 4 of a recall.
            now_ms: Present time.
            spawn: Starts what must go on when this recall's time has run out.
        """
        mode = self._deps.limits.mode
        if mode is GateMode.ENFORCE or query.is_search:
            return None
        if mode is GateMode.SHADOW_SILENT or reading is None:
            return ShadowServing(mode=mode)
        left_s = query.deadline_s - self._deps.clock.monotonic_s()
        passed: Passed | None = None
        try:
            with anyio.move_on_after(left_s - reply_reserve_s(left_s, reserve_s=self._deps.limits.reserve_ms / 1000.0)):
                passed = await self._passed(query, found, reading, floor, now_ms, spawn)
        except RecalldError:
            return ShadowServing(mode=mode)
        if passed is None:
            return ShadowServing(mode=mode)
        timed = {each.memory.id for each in passed.timed}
        shown = tuple(
            RecalledItem(
                memory=each.memory,
                evidence=each.evidence,
                relevance=None,
                answers_by_time=each.memory.id in timed,
            )
            for each in passed.stand_out(limits).shown
        )
        packed = pack(shown, max_items=limits.max_items, max_chars=limits.max_chars)
        return ShadowServing(mode=mode, items=packed.items)

    async def _passed(
        self,
        query: RecallQuery,
        found: Found | None,
        reading: QueryReading,
        floor: Floor,
        now_ms: int,
        spawn: Spawn,
    ) -> Passed | None:
        """What the floor leaves; None where there is nothing to look for."""
        if found is None:
            reading = await self._unconditional(query, now_ms)
            if reading.skip is not None:
                return None
            found = await self._finder.find(query, reading, now_ms=now_ms, spawn=spawn)
        return await floor(found, reading, self._state.served.visible(query.session, query.turn_id))

    async def _unconditional(self, query: RecallQuery, now_ms: int) -> QueryReading:
        """What the turn says to a search that asks no turn gate."""
        turn = turn_of(query, now_ms=now_ms)
        settings = self._deps.turn_gate.settings
        chars = sum(len(part.text) for part in turn.parts)
        verdict = await self._deps.text_work.run(
            partial(decide, turn, settings=settings, find_times=find_intervals), chars=chars
        )
        read = partial(
            read_verdict,
            verdict,
            query.text,
            is_unconditional=True,
            is_search=False,
            is_zone_known=bool(query.time_zone),
        )
        return await self._deps.text_work.run(read, chars=len(verdict.user_text))
