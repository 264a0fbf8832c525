"""A bi-encoder: turns one text into one vector, so that texts can be compared without reading them together.

Pooling is the last hidden state of [CLS], then L2 normalisation, as BGE models were trained (their model card says so).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recalld.models.inference.errors import InferenceError
from recalld.models.inference.model_keys import EMBEDDER_TOKENS_MAX, embedder_key_for
from recalld.models.inference.onnx_session import NeverStop, OnnxSession
from recalld.models.inference.pair import Feed, sequence_feed
from recalld.models.inference.tokenizer import TextTokenizer

_CONTROL_TOKENS = 2


class BiEncoder:
    """Embeds one text per run. Safe to call from several threads at once."""

    def __init__(self, session: OnnxSession, tokenizer: TextTokenizer, *, dims: int, query_prefix: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._dims = dims
        self._query_prefix = query_prefix
        self._embedder_key = embedder_key_for(session.sha256, tokenizer.sha256, dims=dims, query_prefix=query_prefix)

    @classmethod
    def load(
        cls, model_path: Path, tokenizer_path: Path, *, dims: int, query_prefix: str, intra_op_threads: int = 1
    ) -> BiEncoder:
        """Load from two files, without comparing them with the manifest (see `loading.load_bi_encoder`).

        Raises:
            ModelFileError: A file is not what its name says.
            OSError: A file cannot be read.
        """
        return cls.from_bytes(
            model_path.read_bytes(),
            tokenizer_path.read_bytes(),
            dims=dims,
            query_prefix=query_prefix,
            intra_op_threads=intra_op_threads,
        )

    @classmethod
    def from_bytes(
        cls, model: bytes, tokenizer: bytes, *, dims: int, query_prefix: str, intra_op_threads: int = 1
    ) -> BiEncoder:
        """Load from the contents of a model and a tokenizer file. Raises `ModelFileError` when they are unusable."""
        session = OnnxSession(model, output="last_hidden_state", intra_op_threads=intra_op_threads)
        return cls(session, TextTokenizer(tokenizer), dims=dims, query_prefix=query_prefix)

    @property
    def embedder_key(self) -> str:
        """Identity of model, tokenizer, pooling, width, length limit and query prefix: 32 hex digits.

        Vectors under different keys live in different spaces and must never be compared, even where widths agree.
        """
        return self._embedder_key

    @property
    def dims(self) -> int:
        """Width of a vector."""
        return self._dims

    def embed(self, text: str, *, is_query: bool) -> NDArray[np.float32]:
        """Embed one text.

        Args:
            text: Any text; what does not fit 256 tokens is not read.
            is_query: Put the model's query prefix in front. Records, cues and asks go without.

        Returns:
            A vector of length 1, shape (dims,).

        Raises:
            InferenceError: The runtime failed, or the model gave another width, or no finite, non-zero vector.
        """
        hidden = self._session.run(self._feed(text, is_query=is_query), NeverStop())
        if hidden.ndim != 3 or hidden.shape[2] != self._dims:
            message = f"expected hidden states of shape (1, tokens, {self._dims}), got shape {hidden.shape}"
            raise InferenceError(message)
        vector = hidden[0, 0].astype(np.float32)
        norm = float(np.linalg.norm(vector))
        if not np.isfinite(norm) or norm == 0.0:
            message = f"the embedding has length {norm}, so it has no direction"
            raise InferenceError(message)
        unit: NDArray[np.float32] = vector / np.float32(norm)
        return unit

    def _feed(self, text: str, *, is_query: bool) -> Feed:
        full = self._query_prefix + text if is_query else text
        control = self._tokenizer.control
        ids = (control.cls, *self._tokenizer.head(full, EMBEDDER_TOKENS_MAX - _CONTROL_TOKENS), control.sep)
        return sequence_feed(ids, segment_start=len(ids))
