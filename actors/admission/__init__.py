"""The per-user admission actor: explicit saves, observed turns and forgetting, one after another."""

from recalld.actors.admission.actor import AdmissionActor
from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.messages import (
    AdmissionMessage,
    BackfillCues,
    ForgetMemories,
    ObserveTurn,
    RememberMemory,
    UpdateMemory,
)

__all__ = [
    "AdmissionActor",
    "AdmissionDependencies",
    "AdmissionMessage",
    "BackfillCues",
    "ForgetMemories",
    "ObserveTurn",
    "RememberMemory",
    "UpdateMemory",
]
