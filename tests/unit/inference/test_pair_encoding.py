from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.inference.pair import CONTROL_TOKENS, MEMORY_TOKENS_MAX, QUERY_TOKENS_MAX, pair_feed, pair_ids
from recalld.models.inference.tokenizer import TextTokenizer


def test_a_pair_is_laid_out_as_the_model_was_trained(tokenizer: TextTokenizer) -> None:
    feed = pair_feed(tokenizer, "where do I work", "The user works at Acme.", 512)
    query, memory = pair_ids(tokenizer, "where do I work", "The user works at Acme.", 512)
    control = tokenizer.control
    assert feed["input_ids"].tolist() == [[control.cls, *query, control.sep, *memory, control.sep]]
    assert feed["token_type_ids"].tolist() == [[0] * (len(query) + 2) + [1] * (len(memory) + 1)]
    assert feed["attention_mask"].tolist() == [[1] * (len(query) + len(memory) + CONTROL_TOKENS)]
    assert all(array.dtype == np.int64 for array in feed.values())


@given(st.text(max_size=400), st.text(max_size=2_000), st.integers(80, 512))
def test_a_pair_never_exceeds_the_limit_and_has_exactly_three_control_tokens(
    tokenizer: TextTokenizer, query: str, memory: str, tokens_max: int
) -> None:
    ids = pair_feed(tokenizer, query, memory, tokens_max)["input_ids"][0].tolist()
    assert len(ids) <= tokens_max
    assert sum(token in tokenizer.control.all for token in ids) == CONTROL_TOKENS


def test_long_texts_get_their_shares(tokenizer: TextTokenizer) -> None:
    query, memory = pair_ids(tokenizer, "word " * 2_000, "word " * 2_000, 512)
    assert (len(query), len(memory)) == (QUERY_TOKENS_MAX, MEMORY_TOKENS_MAX)
    query, memory = pair_ids(tokenizer, "word " * 2_000, "word " * 2_000, 128)
    assert (len(query), len(memory)) == (QUERY_TOKENS_MAX, 128 - CONTROL_TOKENS - QUERY_TOKENS_MAX)
