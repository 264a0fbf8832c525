"""One decision for one turn: a tool loop that asks the same again gets what was decided, and nobody is asked twice.

A failure is remembered like any other decision. A caller that was cancelled has decided nothing: whoever waited for it
decides instead.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from recalld.actors.inference_thread.lru import LruCache
from recalld.actors.single_flight import SingleFlight
from recalld.models.domain.recall import RecallQuery

T = TypeVar("T")

TURNS_MAX = 32
"""Decisions remembered per user: a turn is over long before so many others have begun."""
CHARS_MAX = 20_000
"""Longer messages are decided anew: what is remembered of them would be larger than what it saves."""
_BETWEEN = b"\x1f"


class TurnMemo(Generic[T]):
    """Decisions by turn, the least recently used forgotten first."""

    def __init__(self) -> None:
        self._decided: LruCache[bytes, T] = LruCache(TURNS_MAX)
        self._deciding: SingleFlight[bytes] = SingleFlight()

    async def once(self, key: bytes, decide: Callable[[], Awaitable[T]]) -> tuple[T, bool]:
        """The decision for a turn, and whether it had been made before.

        Args:
            key: From `turn_key`.
            decide: Makes it. What it raises is not remembered.
        """

        async def decide_and_remember() -> T:
            decision = await decide()
            self._decided.put(key, decision)
            return decision

        return await self._deciding.get(key, known=lambda: self._decided.get(key), make=decide_and_remember)

    def clear(self) -> None:
        """Forget all decisions."""
        self._decided = LruCache(TURNS_MAX)


def turn_key(query: RecallQuery) -> bytes | None:
    """A digest of what a decision depends on: session, turn, scope, message, history, zone and the present it names.

    The server's own present is no part of it: a turn that names none is decided once, however long it goes on.

    None for a recall that stands for itself: without a session or a turn, or too long to be worth remembering.
    """
    texts = [query.text, *(part.text for part in query.parts), *(query.turns or ())]
    if not query.session or not query.turn_id or sum(map(len, texts)) > CHARS_MAX:
        return None
    digest = hashlib.blake2b(digest_size=16)
    kinds = "".join(part.kind[0] for part in query.parts)
    history = "unknown" if query.turns is None else str(len(query.turns))
    fixed = (query.session, query.turn_id, repr(query.scope), kinds, history, query.time_zone, str(query.is_search))
    for field in (*fixed, repr(query.now_ms), *texts):
        # Lone surrogates cannot be stored, but may well be asked about.
        data = field.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(4) + data + _BETWEEN)
    return digest.digest()
