"""Identities of what models make, told from the hashes of their files: for those who load no model.

Here, and not beside the models: whoever asks for a key only, as the daemon does at its start, need not wait for the
runtime's library.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from recalld.models.inference.manifest import PAIR_TEMPLATE

EMBEDDER_TOKENS_MAX: Final = 256
"""Longest text embedded, control tokens included: its head. Cost is linear in tokens, about 0.2 ms each on one core."""
SCORER_TOKENS_MAX: Final = 512
"""Positions a BERT model has."""
_POOLING: Final = "cls, l2; v1"
"""How a vector is made of a text. From which pieces of a memory vectors are made is no part of it: most memories are
one piece, and would be embedded anew for nothing; see `policy.passages`."""


def embedder_key_for(model_sha256: str, tokenizer_sha256: str, *, dims: int, query_prefix: str) -> str:
    """The key of the vectors that these files make, without loading them; see `BiEncoder.embedder_key`."""
    prefix_sha256 = sha256(query_prefix.encode()).hexdigest()
    parts = f"{model_sha256} {tokenizer_sha256} {prefix_sha256} {_POOLING} {dims} {EMBEDDER_TOKENS_MAX}"
    return sha256(parts.encode()).hexdigest()[:32]


def model_key_for(model_sha256: str, tokenizer_sha256: str, *, tokens_max: int = SCORER_TOKENS_MAX) -> str:
    """The key of the scores that these files make, without loading them; see `CrossEncoder.model_key`."""
    parts = f"{model_sha256} {tokenizer_sha256} {PAIR_TEMPLATE} {tokens_max}"
    return sha256(parts.encode()).hexdigest()[:32]
