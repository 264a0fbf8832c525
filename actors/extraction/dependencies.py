"""What the extraction actor works with."""

from __future__ import annotations

import collections
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from recalld.actors.extraction.sources import ExtractionSource
from recalld.actors.kernel import Address
from recalld.actors.ports import Clock, MemoryReader
from recalld.actors.store import StoreMessage
from recalld.models.domain.admission import ObservedTurn, ObserveReply
from recalld.models.policy.debounce import DebounceRules

ASK_S: Final = 120.0
"""Seconds a model gets for one batch, all tries together."""
CALLS_MAX: Final = 2
"""Calls of a model at the same time, of all users: it is a guest on somebody's processor, or on somebody's bill."""

Admit = Callable[[ObservedTurn], Awaitable[ObserveReply]]
"""Hands what a model found in a turn to the admission actor of its user; may raise `RecalldError`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractionDependencies:
    """Shared by the queues of all users.

    Attributes:
        clock: Time.
        reader: The store, for what waits.
        store: The store actor, for noting what became of it.
        source: The model.
        admit: See `Admit`.
        counters: Where looks, calls and their outcomes are counted.
        rules: When, and how much at a time.
        is_clients_model: Whether the model is lent by a client, which then may not approve what was found.
        ask_s: Seconds a model gets for one batch.
    """

    clock: Clock
    reader: MemoryReader
    store: Address[StoreMessage]
    source: ExtractionSource
    admit: Admit
    counters: collections.Counter[str]
    rules: DebounceRules = field(default_factory=DebounceRules)
    is_clients_model: bool = False
    ask_s: float = ASK_S
