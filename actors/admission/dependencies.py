"""What an admission actor works with."""

from __future__ import annotations

from dataclasses import dataclass, field

from recalld.actors.admission.intake import NoIntake, TurnIntake
from recalld.actors.admission.judging import NoJudge, SentenceJudge
from recalld.actors.embedder import EmbedderMessage
from recalld.actors.events import EventBus
from recalld.actors.kernel import Address
from recalld.actors.ports import Clock, IdSource, MemoryReader, RuntimeModel
from recalld.actors.runtime_model import NoRuntimeModel
from recalld.actors.store import StoreMessage
from recalld.actors.text_work import TextWork
from recalld.models.domain.admission_store import AdmissionLimits
from recalld.models.domain.position import Position

EMBED_WAIT_S_MAX = 2.0
"""Longest an acknowledgement waits for vectors, in seconds. Past that the memory is stored without them and embedded
later: a slow embedder must not turn a save into a failure."""
WRITE_RESERVE_S = 0.5
"""Seconds of a request's deadline that embedding leaves for the write itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AdmissionOptions:
    """The configured write path. See docs/operating.md for each.

    Attributes:
        position: Which generators may write.
        is_on: Whether facts are looked for in observed turns at all; explicit saves always are.
        has_rules: Whether the rules look for them.
        judge_strict: The judge's score (log-odds) from which on its find may be a record; None: never.
        limits: What bounds the write path of one user.
        is_shadow: Whether what the policy lets through is only noted; see `policy.admission.shadow`.
    """

    position: Position = Position.STRICT
    is_on: bool = True
    has_rules: bool = True
    judge_strict: float | None = None
    limits: AdmissionLimits = field(default_factory=AdmissionLimits)
    is_shadow: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class AdmissionDependencies:
    """Shared by the admission actors of all users."""

    clock: Clock
    ids: IdSource
    reader: MemoryReader
    store: Address[StoreMessage]
    embedder: Address[EmbedderMessage]
    events: EventBus
    text_work: TextWork
    runtime_model: RuntimeModel = field(default_factory=NoRuntimeModel)
    """Whoever lends a model; by default nobody."""
    is_enriching: bool = True
    """Whether slots and the gazetteer add cues and asks to what is stored."""
    options: AdmissionOptions = field(default_factory=AdmissionOptions)
    judge: SentenceJudge = field(default_factory=NoJudge)
    intake: TurnIntake = field(default_factory=NoIntake)
    """Where turns go that a model is to read later; by default none is kept."""
