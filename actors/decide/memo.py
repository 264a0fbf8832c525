"""One decision for one question within a turn.

A tool loop that asks the same again gets what was decided. Whoever comes back with a model's answer is decided anew,
and from then on that is the turn's decision, a failure like any other. A caller that was cancelled has decided nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable

import msgspec

from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.single_flight import SingleFlight
from recalld.models.domain.decide import DecideRequest, ModelFailure
from recalld.models.domain.decision import Decision

DECISIONS_MAX = 2_048
"""Decisions remembered of all users together: a few kilobytes each."""
DECISION_BYTES_MAX = 32_768
"""A longer decision is made anew: what is remembered of it would be larger than what it saves."""


class _Remembered(msgspec.Struct, frozen=True):
    decision: Decision
    is_answered: bool
    """Whether a model's answer, or its failure, was part of it."""


class DecisionMemo:
    """Decisions by question, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._decided: LruCache[bytes, _Remembered] = LruCache(DECISIONS_MAX)
        self._deciding: SingleFlight[bytes] = SingleFlight()

    async def once(self, request: DecideRequest, decide: Callable[[], Awaitable[Decision]]) -> Decision:
        """The decision, made now or before in the same turn.

        Args:
            request: What is asked.
            decide: Makes it. What it raises is not remembered.
        """
        key = question_key(request)
        if key is None:
            return await decide()

        async def decide_and_remember() -> Decision:
            decision = await decide()
            if _is_settled(request) and len(msgspec.msgpack.encode(decision)) <= DECISION_BYTES_MAX:
                self._decided.put(key, _Remembered(decision, request.model is not None))
            return decision

        decision, _ = await self._deciding.get(key, known=lambda: self._known(key, request), make=decide_and_remember)
        return decision

    def _known(self, key: bytes, request: DecideRequest) -> Decision | None:
        known = self._decided.get(key)
        if known is None or not (known.is_answered or request.model is None):
            return None
        return msgspec.structs.replace(known.decision, is_repeat=True, notice="")


def _is_settled(request: DecideRequest) -> bool:
    return request.model is None or request.model.failure is not ModelFailure.CANCELLED


def question_key(request: DecideRequest) -> bytes | None:
    """A digest of all that is asked, but for a model's answer; None outside a session or a turn.

    A present that the caller names is part of it; the server's own, which is another at every call, is not.
    """
    if not request.session or not request.turn_id:
        return None
    now_ms = request.now_ms if request.is_now_named else None
    asked = msgspec.structs.replace(request, model=None, now_ms=now_ms, deadline_s=0.0, explicit=frozenset())
    explicit = sorted(argument.value for argument in request.explicit)
    content = msgspec.json.encode((asked, explicit))
    return hashlib.blake2b(content, digest_size=16).digest()
