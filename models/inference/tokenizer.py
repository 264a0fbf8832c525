"""Text to token ids, such that no text can put a control token into a sequence.

A tokenizer file normally turns the characters "[SEP]" into the control id that separates a pair. Then a stored memory
that ends in "[SEP] [CLS] some question" writes its own pair and scores near 1 for that question. Here control tokens
exist only where the pair is built; in text they are punctuation and letters like any other.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256

from tokenizers import Tokenizer

from recalld.models.inference.errors import ModelFileError
from recalld.models.inference.query_text import (
    MEMORY_CHARS_MAX,
    cap_query,
    clean,
    kept_positions,
    question_span,
    tokens_in_span,
)

CACHED_TEXTS_MAX = 256
"""Encodings kept, so that counting a pair's tokens and scoring it tokenizes once, and a query once per recall."""

_HEAD_CHARS_PER_TOKEN = 8

TokenIds = tuple[int, ...]


class ControlIds:
    """The ids that mean structure, never text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.cls = _control_id(tokenizer, "[CLS]")
        self.sep = _control_id(tokenizer, "[SEP]")
        self.all = frozenset({self.cls, self.sep, _control_id(tokenizer, "[PAD]"), _control_id(tokenizer, "[MASK]")})


class TextTokenizer:
    """A BERT WordPiece tokenizer for plain text, safe to share between threads.

    Attributes:
        sha256: Hash of the tokenizer file, in hex.
        control: Ids of the control tokens; no text ever yields one of them.
    """

    def __init__(self, tokenizer_json: bytes) -> None:
        """Build from the bytes of a `tokenizer.json`.

        Raises:
            ModelFileError: The bytes are no tokenizer, or one without BERT's control tokens.
        """
        try:
            self._tokenizer = Tokenizer.from_buffer(tokenizer_json)
        except Exception as error:  # the Rust binding raises plain Exception
            message = f"tokenizer.json cannot be read ({error}); provision the model again"
            raise ModelFileError(message) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self.sha256 = sha256(tokenizer_json).hexdigest()
        self.control = ControlIds(self._tokenizer)
        self._cache = _EncodingCache(CACHED_TEXTS_MAX)

    def head(self, text: str, tokens_max: int) -> TokenIds:
        """Encode the first `tokens_max` tokens of a text, without control tokens.

        Cost: linear in at most `MEMORY_CHARS_MAX` characters, nothing when seen lately.
        """
        capped = clean(text[:MEMORY_CHARS_MAX])
        return self._cache.get(("head", tokens_max, capped), lambda: self._encode_head(capped, tokens_max))

    def query(self, text: str, tokens_max: int) -> TokenIds:
        """Encode a query, without control tokens; a long one keeps its head, its tail and the sentence that asks."""
        capped = clean(cap_query(text))
        return self._cache.get(("query", tokens_max, capped), lambda: self._encode_query(capped, tokens_max))

    def _encode_head(self, text: str, tokens_max: int) -> TokenIds:
        # English has four to five characters a token, so a long text rarely has to be read to its end. The start ends
        # at a space, because half a word would be cut into other pieces than the whole one.
        start = text[: tokens_max * _HEAD_CHARS_PER_TOKEN]
        if len(start) < len(text) and " " in start:
            ids = self._plain_ids(start[: start.rindex(" ")])
            if len(ids) >= tokens_max:
                return tuple(ids[:tokens_max])
        return tuple(self._plain_ids(text)[:tokens_max])

    def _plain_ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def _encode_query(self, text: str, tokens_max: int) -> TokenIds:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        ids = encoding.ids
        if len(ids) <= tokens_max:
            return tuple(ids)
        asking = tokens_in_span(encoding.offsets, question_span(text))
        return tuple(ids[position] for position in kept_positions(len(ids), tokens_max, asking))


class _EncodingCache:
    """A bounded, least-recently-used map from text to ids."""

    def __init__(self, entries_max: int) -> None:
        self._entries: OrderedDict[tuple[str, int, str], TokenIds] = OrderedDict()
        self._entries_max = entries_max
        self._lock = threading.Lock()

    def get(self, key: tuple[str, int, str], encode: Callable[[], TokenIds]) -> TokenIds:
        with self._lock:
            found = self._entries.get(key)
            if found is not None:
                self._entries.move_to_end(key)
                return found
        ids = encode()  # outside of the lock: lanes encode different texts at the same time
        with self._lock:
            self._entries[key] = ids
            if len(self._entries) > self._entries_max:
                self._entries.popitem(last=False)
        return ids


def _control_id(tokenizer: Tokenizer, token: str) -> int:
    number = tokenizer.token_to_id(token)
    if number is None:
        message = f"tokenizer.json has no {token} token, so it is not a BERT tokenizer; provision again"
        raise ModelFileError(message)
    return number
