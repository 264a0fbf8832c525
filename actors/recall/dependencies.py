"""What the recall actors of all users share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from recalld.actors.embedder import EmbedderMessage
from recalld.actors.events import EventBus
from recalld.actors.kernel import Address
from recalld.actors.ports import Clock, IdSource, MemoryReader
from recalld.actors.recall.turns import RecallTurns
from recalld.actors.scorer import ScorerMessage
from recalld.actors.supervisor import GateGuard, SupervisorMessage
from recalld.actors.text_work import TextWork
from recalld.models.domain.store import DecisionRow
from recalld.models.policy.cost_model import CostModel
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import RelevanceModel


class RecallLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The configured bounds of a recall. See docs/operating.md for each."""

    gate_ms: float
    max_items: int
    max_chars: int
    degraded_max_items: int
    candidates_max: int
    lexical_limit: int
    vector_limit: int
    is_gate_on: bool
    lanes: int
    reserve_ms: float


class GateCalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Floors and heads in force: the manifest's defaults where the calibration record does not match what runs."""

    floors: FloorValues
    model: RelevanceModel
    mismatches: tuple[str, ...] = ()
    """Why the record could not be used; empty when it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallDependencies:
    """Shared by the recall actors of all users."""

    clock: Clock
    ids: IdSource
    reader: MemoryReader
    embedder: Address[EmbedderMessage]
    scorer: Address[ScorerMessage]
    cost: CostModel
    guard: GateGuard
    text_work: TextWork
    turns: RecallTurns
    """Whoever takes recalls takes a turn for each; while one waits for a model, others have theirs."""
    supervisor: Address[SupervisorMessage]
    events: EventBus
    ledger: Callable[[DecisionRow], None]
    """Takes a row for the ledger without waiting; rows it cannot take are counted and announced."""
    calibration: GateCalibration
    limits: RecallLimits
