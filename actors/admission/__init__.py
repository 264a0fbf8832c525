"""The per-user admission actor: explicit saves, observed turns and forgetting, one after another."""

from recalld.actors.admission.actor import AdmissionActor
from recalld.actors.admission.dependencies import AdmissionDependencies
from recalld.actors.admission.messages import AdmissionMessage, ForgetMemories, ObserveTurn, RememberMemory

__all__ = [
    "AdmissionActor",
    "AdmissionDependencies",
    "AdmissionMessage",
    "ForgetMemories",
    "ObserveTurn",
    "RememberMemory",
]
