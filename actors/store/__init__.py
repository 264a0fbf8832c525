"""The single writing actor over the memory store, and a store that lives in memory."""

from __future__ import annotations

from recalld.actors.store.actor import STORE_ACTOR, StoreActor, store_spec
from recalld.actors.store.asking import StoreCommand, StoreResult, ask_store
from recalld.actors.store.ledger import Ledger
from recalld.actors.store.memory_store import InMemoryStore
from recalld.actors.store.messages import (
    AmendMemory,
    AnswerProposal,
    AttachVectors,
    EraseMemories,
    EraseUser,
    FlushLedger,
    NoteTurn,
    SettleLedger,
    StoreMemory,
    StoreMessage,
    StoreTurn,
    SweepExpired,
    TakeOver,
    TruncateLogs,
)

__all__ = [
    "STORE_ACTOR",
    "AmendMemory",
    "AnswerProposal",
    "AttachVectors",
    "EraseMemories",
    "EraseUser",
    "FlushLedger",
    "InMemoryStore",
    "Ledger",
    "NoteTurn",
    "SettleLedger",
    "StoreActor",
    "StoreCommand",
    "StoreMemory",
    "StoreMessage",
    "StoreResult",
    "StoreTurn",
    "SweepExpired",
    "TakeOver",
    "TruncateLogs",
    "ask_store",
    "store_spec",
]
