"""The embedder: runs the bi-encoder over texts on its own thread; a query never waits behind bulk work."""

from __future__ import annotations

from recalld.actors.embedder.actor import EmbedderActor, EmbedderLimits
from recalld.actors.embedder.messages import (
    EmbedderMessage,
    EmbedderModelsChanged,
    EmbedFailure,
    EmbedText,
    EmbedTexts,
    GetEmbedderHealth,
    TextsEmbedded,
)

__all__ = [
    "EmbedFailure",
    "EmbedText",
    "EmbedTexts",
    "EmbedderActor",
    "EmbedderLimits",
    "EmbedderMessage",
    "EmbedderModelsChanged",
    "GetEmbedderHealth",
    "TextsEmbedded",
]
