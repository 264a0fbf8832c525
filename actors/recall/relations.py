"""The last step of a recall: what is handed over brings along the records about what it names.

Fails: towards the answer as it is. No time left, or a store that cannot be read any more, only costs the relations.
"""

from __future__ import annotations

from collections.abc import Sequence

import anyio
import msgspec

from recalld.actors.ports import Clock, MemoryReader
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reasons import RecallDecision, RecallMode
from recalld.models.domain.recall import RecallOutcome, RecallQuery
from recalld.models.domain.records import Memory
from recalld.models.policy.deadline import relations_deadline_s
from recalld.models.policy.exclusions import ExclusionRules, exclusion_reason
from recalld.models.policy.pack import pack
from recalld.models.policy.relations import BRINGING_MAX, RELATED_KINDS, Brought, as_item, related
from recalld.models.policy.terms import query_terms

TERMS_MAX = 32
"""Words of an item that are looked up, as many as a store takes: a name may be among the shortest of them."""
LOOKED_UP_MAX = 20
"""Records that one item's words may find: what it names is among the best matches, or shares too little with it."""


class RelationStep:
    """Brings records along for one user.

    Args:
        user: Whose memories.
        reader: Where they are.
        clock: Time.
    """

    def __init__(self, user: str, reader: MemoryReader, clock: Clock) -> None:
        self._user = user
        self._reader = reader
        self._clock = clock

    async def extend(
        self, outcome: RecallOutcome, query: RecallQuery, rules: ExclusionRules, *, max_items: int, max_chars: int
    ) -> RecallOutcome:
        """The outcome with a few more items, each marked with the id of the one that brought them.

        Only where a gate judged and something was injected: what was not judged, or was searched for on purpose, brings
        nothing. What is brought takes the places and characters that are left, and never those of another item.

        Args:
            outcome: So far.
            query: The request.
            rules: What this recall excludes; what it excludes is not brought either.
            max_items: Items handed over at most.
            max_chars: Characters handed over at most.
        """
        if not _may_bring(outcome, query, max_items):
            return outcome
        now_s = self._clock.monotonic_s()
        brought: tuple[Brought, ...] = ()
        with anyio.move_on_after(relations_deadline_s(now_s=now_s, envelope_deadline_s=query.deadline_s) - now_s):
            try:
                items = tuple(item.memory for item in outcome.items)
                brought = related(items, await self._others(items, query, rules))
            except RecalldError:
                return outcome
        if not brought:
            return outcome
        packed = pack((*outcome.items, *map(as_item, brought)), max_items=max_items, max_chars=max_chars)
        shown = {item.memory.id for item in packed.items}
        return msgspec.structs.replace(
            outcome,
            items=packed.items,
            dropped=tuple(item for item in outcome.dropped if item.memory_id not in shown),
        )

    async def _others(
        self, items: Sequence[Memory], query: RecallQuery, rules: ExclusionRules
    ) -> dict[str, tuple[Memory, ...]]:
        """What shares words with each of the first items, as far as it may be shown at all."""
        others: dict[str, tuple[Memory, ...]] = {}
        failures: list[RecalldError] = []

        async def look_up(item: Memory) -> None:
            try:
                others[item.id] = await self._sharing_words(item, query, rules)
            except RecalldError as error:  # raised below as itself, not as a group
                failures.append(error)

        async with anyio.create_task_group() as tasks:
            for item in items[:BRINGING_MAX]:
                tasks.start_soon(look_up, item)
        for failure in failures:
            raise failure
        return others

    async def _sharing_words(self, item: Memory, query: RecallQuery, rules: ExclusionRules) -> tuple[Memory, ...]:
        """What shares words with an item and may be shown, best first; only what is of a kind that relates."""
        terms = query_terms(item.text, terms_max=TERMS_MAX)
        if not terms:
            return ()
        found = await self._reader.found_by_words(
            self._user, terms, now_ms=rules.now_ms, limit=LOOKED_UP_MAX, scope=query.scope, kinds=RELATED_KINDS
        )
        return tuple(
            memory
            for memory in found.memories.values()
            if memory.id != item.id and exclusion_reason(memory, rules) is None
        )


def _may_bring(outcome: RecallOutcome, query: RecallQuery, max_items: int) -> bool:
    return (
        outcome.decision is RecallDecision.INJECT
        and outcome.mode is RecallMode.GATED
        and not query.is_search
        and len(outcome.items) < max_items
    )
