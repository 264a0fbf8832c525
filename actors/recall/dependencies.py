"""What the recall actors of all users share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from recalld.actors.embedder import EmbedderMessage
from recalld.actors.events import EventBus
from recalld.actors.kernel import Address
from recalld.actors.ports import Clock, IdSource, MemoryReader, RuntimeModel
from recalld.actors.recall.host_text_watch import HostTextWatch
from recalld.actors.recall.standing_limits import StandingLimits
from recalld.actors.recall.turns import RecallTurns
from recalld.actors.runtime_model import NoRuntimeModel
from recalld.actors.scorer import ScorerMessage
from recalld.actors.supervisor import GateGuard, SupervisorMessage
from recalld.actors.text_work import TextWork
from recalld.models.domain.shadow import GateMode
from recalld.models.domain.store import DecisionRow
from recalld.models.policy.cost_model import CostModel
from recalld.models.policy.floor import FloorValues
from recalld.models.policy.relevance import RelevanceModel
from recalld.models.policy.turn_gate import DEFAULT_SETTINGS, TurnGateSettings


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
    mode: GateMode = GateMode.ENFORCE


class GateCalibration(msgspec.Struct, frozen=True, kw_only=True):
    """Floors and heads in force: the manifest's defaults where the calibration record does not match what runs."""

    floors: FloorValues
    model: RelevanceModel
    mismatches: tuple[str, ...] = ()
    """Why the record could not be used; empty when it is."""


class TurnGateOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The configured turn gate. See docs/operating.md for each."""

    is_enabled: bool = True
    settings: TurnGateSettings = DEFAULT_SETTINGS
    is_model_on: bool = False
    model_ms: float | None = None


@dataclass(kw_only=True, slots=True)
class LastEmbedder:
    """Whose vectors came last, so that an index of such vectors can be loaded before the next ones are there.

    Attributes:
        embedder_key: Its key; empty while none has come.
        dims: Length of each.
    """

    embedder_key: str = ""
    dims: int = 0


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
    host_text: HostTextWatch
    turn_gate: TurnGateOptions = field(default_factory=TurnGateOptions)
    standing: StandingLimits = field(default_factory=StandingLimits)
    runtime_model: RuntimeModel = field(default_factory=NoRuntimeModel)
    """Whoever lends a model; by default nobody."""
    last_embedder: LastEmbedder = field(default_factory=LastEmbedder)
    """Noted by whoever has a query embedded."""
