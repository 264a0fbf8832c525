"""A cross-encoder: reads a query and a memory together and says in one number whether the memory helps.

Cost: about 0.2 ms per token on one core of 2024 (int8 MiniLM-L-12: 10 ms for 47 tokens). The number is a raw logit;
turning it into a relevance, once, is the caller's business.
"""

from __future__ import annotations

from pathlib import Path

from recalld.models.inference.errors import InferenceError
from recalld.models.inference.model_keys import SCORER_TOKENS_MAX, model_key_for
from recalld.models.inference.onnx_session import OnnxSession, StopFlag
from recalld.models.inference.pair import CONTROL_TOKENS, pair_feed, pair_ids
from recalld.models.inference.tokenizer import TextTokenizer


class CrossEncoder:
    """Scores one pair per run, at its own length. Safe to call from several threads at once."""

    def __init__(self, session: OnnxSession, tokenizer: TextTokenizer, *, tokens_max: int = SCORER_TOKENS_MAX) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._tokens_max = tokens_max
        self._model_key = model_key_for(session.sha256, tokenizer.sha256, tokens_max=tokens_max)

    @classmethod
    def load(cls, model_path: Path, tokenizer_path: Path, *, intra_op_threads: int = 1) -> CrossEncoder:
        """Load from two files, without comparing them with the manifest (see `loading.load_cross_encoder`).

        Raises:
            ModelFileError: A file is not what its name says.
            OSError: A file cannot be read.
        """
        return cls.from_bytes(model_path.read_bytes(), tokenizer_path.read_bytes(), intra_op_threads=intra_op_threads)

    @classmethod
    def from_bytes(cls, model: bytes, tokenizer: bytes, *, intra_op_threads: int = 1) -> CrossEncoder:
        """Load from the contents of a model and a tokenizer file. Raises `ModelFileError` when they are unusable."""
        session = OnnxSession(model, output="logits", intra_op_threads=intra_op_threads)
        return cls(session, TextTokenizer(tokenizer))

    @property
    def model_key(self) -> str:
        """Identity of model, tokenizer, pair template and length limit, for score-cache keys: 32 hex digits."""
        return self._model_key

    def count_tokens(self, query: str, memory: str) -> int:
        """Tokens that `score` would run for this pair. The encodings are kept, so scoring it next tokenizes nothing."""
        query_ids, memory_ids = pair_ids(self._tokenizer, query, memory, self._tokens_max)
        return len(query_ids) + len(memory_ids) + CONTROL_TOKENS

    def score(self, query: str, memory: str, stop: StopFlag) -> float:
        """Score one pair.

        Args:
            query: What is asked; cut to 64 tokens.
            memory: The rendered memory; cut to its first 256 tokens.
            stop: Set from another thread to abandon the run.

        Returns:
            The raw logit. Not a number when the model says so: the caller must treat that as a failure.

        Raises:
            ScoreStopped: `stop` was set before the run ended.
            InferenceError: The runtime failed, or the head is not a single logit.
        """
        logits = self._session.run(pair_feed(self._tokenizer, query, memory, self._tokens_max), stop)
        if logits.shape != (1, 1):
            message = f"expected one logit of shape (1, 1), got shape {logits.shape}; configure a cross-encoder"
            raise InferenceError(message)
        return float(logits[0, 0])
