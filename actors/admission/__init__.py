"""The per-user admission actor: explicit saves, observed turns and forgetting, one after another."""

from recalld.actors.admission.actor import AdmissionActor
from recalld.actors.admission.dependencies import AdmissionDependencies, AdmissionOptions
from recalld.actors.admission.messages import (
    AdmissionMessage,
    AdmitCandidates,
    AnswerProposal,
    BackfillCues,
    EraseEverything,
    ForgetMemories,
    NoteSession,
    ObserveTurn,
    RememberMemory,
    SettleFact,
    TakeOverRecords,
    UpdateMemory,
)

__all__ = [
    "AdmissionActor",
    "AdmissionDependencies",
    "AdmissionMessage",
    "AdmissionOptions",
    "AdmitCandidates",
    "AnswerProposal",
    "BackfillCues",
    "EraseEverything",
    "ForgetMemories",
    "NoteSession",
    "ObserveTurn",
    "RememberMemory",
    "SettleFact",
    "TakeOverRecords",
    "UpdateMemory",
]
