"""What runs in the embedder's lane."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalld.actors.embedder.messages import EmbedText
from recalld.actors.ports import StopFlag, TextEmbedder


class BadVectorError(Exception):
    """The model answered with a vector of another shape, or one that holds something that is not a number."""


def embed_text(embedder: TextEmbedder, text: EmbedText, _stop: StopFlag) -> NDArray[np.float32]:
    """One read-only, L2-normalised vector of shape (dims,). Blocks for milliseconds.

    The stop flag is not used: one text takes a few milliseconds, and nothing longer is ever run in one call.

    Raises:
        BadVectorError: The vector is unusable.
    """
    vector = embedder.embed(text.text, is_query=text.is_query)
    if vector.shape != (embedder.dims,) or not np.isfinite(vector).all():
        raise BadVectorError
    # Cached vectors are shared between recalls.
    vector.setflags(write=False)
    return vector


def ping(embedder: TextEmbedder, stop: StopFlag) -> None:
    """Embed the smallest text."""
    embed_text(embedder, EmbedText(text="ping", is_query=False), stop)
