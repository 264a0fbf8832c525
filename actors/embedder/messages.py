"""What the embedder is told and what it answers."""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from recalld.actors.kernel import Reply
from recalld.models.domain.health import ModelHealth
from recalld.models.domain.reasons import DegradedReason


class EmbedText(msgspec.Struct, frozen=True, kw_only=True):
    """A text to embed; never logged.

    Attributes:
        is_query: Put the model's query prefix in front.
        is_kept: Remember the vector: the same text is likely to come again, as within the tool loop of a turn.
    """

    text: str
    is_query: bool
    is_kept: bool = False


class EmbedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """Why texts could not be embedded.

    Attributes:
        reason: `EMBEDDER_UNAVAILABLE`, `QUEUE_FULL` or `EMBED_FAILED`.
        error_type: For `EMBED_FAILED` the type name of the first failure, never its text; otherwise empty.
    """

    reason: DegradedReason
    error_type: str = ""


class TextsEmbedded(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `EmbedTexts`.

    Attributes:
        vectors: L2-normalised float32 vectors of shape (dims,), read-only, in the order of the texts; None where a text
            was not embedded, and only there.
        embedder_key: Identity of the model that made them; empty when none is loaded.
        elapsed_ms: From the job's arrival to this answer.
        failure: What broke first. None when nothing did, also when time ran out before the last text.
    """

    vectors: tuple[NDArray[np.float32] | None, ...]
    embedder_key: str
    elapsed_ms: float = 0.0
    failure: EmbedFailure | None = None


class EmbedTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Embed texts, and answer at the latest at `deadline_s` with what is there by then.

    The ask's own deadline must leave room for that answer: a few milliseconds more than `deadline_s`.

    Attributes:
        is_bulk: Backfill: runs only while nobody else waits, one text at a time, so that a query waits for at most one.
        owner: As for `ScorePairs`.
    """

    texts: tuple[EmbedText, ...]
    deadline_s: float
    is_bulk: bool = False
    owner: str = ""
    reply: Reply[TextsEmbedded]


class GetEmbedderHealth(msgspec.Struct, frozen=True, kw_only=True):
    """Say how the embedder is."""

    reply: Reply[ModelHealth]


class EmbedderModelsChanged(msgspec.Struct, frozen=True, kw_only=True):
    """Model files have arrived: try to load at once if nothing is loaded."""


EmbedderMessage = EmbedTexts | GetEmbedderHealth | EmbedderModelsChanged
