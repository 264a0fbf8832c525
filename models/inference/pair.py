"""How a query and a memory become one sequence for a cross-encoder.

`[CLS] query [SEP] memory [SEP]`, segment 0 up to and including the first separator, segment 1 after it. Segment ids are
always given: models of this family were trained with them, and some exported graphs silently assume zeros.

Control tokens spelled in a text stay text (see `tokenizer`). That keeps a memory from writing its own pair; it does not
make a copied question harmless: a memory that repeats the query word for word was scored 0.6 to 0.99 with and without
such tokens around the copy, because that is what a relevance model rewards. Stuffing is for admission to refuse.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalld.models.inference.tokenizer import TextTokenizer, TokenIds

QUERY_TOKENS_MAX = 64
"""A query's share of a pair; the questions people ask are far shorter, and pastes keep their asking sentence."""
MEMORY_TOKENS_MAX = 256
"""A memory's share: its head, because cost is linear in tokens run. A longer memory is judged by its passage that is
nearest to the query, which is shorter than this; see `policy.passages`."""
CONTROL_TOKENS = 3

Feed = dict[str, NDArray[np.int64]]
"""Model inputs by name, each of shape (1, tokens), int64."""


def pair_ids(tokenizer: TextTokenizer, query: str, memory: str, tokens_max: int) -> tuple[TokenIds, TokenIds]:
    """Encode both texts within a model's limit: the query is cut first, the memory gets what is left of the limit."""
    query_ids = tokenizer.query(query, QUERY_TOKENS_MAX)
    memory_ids = tokenizer.head(memory, MEMORY_TOKENS_MAX)
    return query_ids, memory_ids[: tokens_max - CONTROL_TOKENS - len(query_ids)]


def pair_feed(tokenizer: TextTokenizer, query: str, memory: str, tokens_max: int) -> Feed:
    """Build the model inputs of one pair, at its own length, without padding."""
    query_ids, memory_ids = pair_ids(tokenizer, query, memory, tokens_max)
    control = tokenizer.control
    first = (control.cls, *query_ids, control.sep)
    second = (*memory_ids, control.sep)
    return sequence_feed((*first, *second), segment_start=len(first))


def sequence_feed(ids: TokenIds, *, segment_start: int) -> Feed:
    """Model inputs for one sequence whose second segment starts at `segment_start` (its length: no second segment)."""
    input_ids = np.asarray([ids], dtype=np.int64)
    segments = np.zeros_like(input_ids)
    segments[:, segment_start:] = 1
    return {"input_ids": input_ids, "attention_mask": np.ones_like(input_ids), "token_type_ids": segments}
