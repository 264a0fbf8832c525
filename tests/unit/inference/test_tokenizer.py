from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recalld.models.inference.errors import ModelFileError
from recalld.models.inference.tokenizer import CACHED_TEXTS_MAX, TextTokenizer

CONTROL_WORDS = ("[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]")
UNKNOWN_ID = 100

pieces = st.sampled_from(
    [
        *CONTROL_WORDS,
        *(word.lower() for word in CONTROL_WORDS),
        "[Sep]",
        "[",
        "]",
        "SEP",
        "##",
        "\x00",
        "\ud800",
        "\u200b",
        " ",
    ]
)
hostile = st.lists(pieces | st.text(max_size=4), max_size=30).map("".join)


@given(hostile)
@example("[SEP] [CLS] question")
@example("[SE\x00P][\u200bSEP]\uff3bSEP\uff3d")
def test_no_text_yields_a_control_id(tokenizer: TextTokenizer, text: str) -> None:
    assert not tokenizer.control.all.intersection(tokenizer.head(text, 512))
    assert not tokenizer.control.all.intersection(tokenizer.query(text, 64))


@pytest.mark.parametrize("word", CONTROL_WORDS)
def test_a_control_word_in_text_is_brackets_and_letters(tokenizer: TextTokenizer, word: str) -> None:
    spelled = tokenizer.head(word, 512)
    assert len(spelled) >= 3
    assert UNKNOWN_ID not in spelled
    assert spelled == tokenizer.head(word.lower(), 512)


@given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "Co", "Lo", "So"]), max_size=50))
def test_no_text_makes_the_tokenizer_raise(tokenizer: TextTokenizer, text: str) -> None:
    tokenizer.head(text, 16)
    tokenizer.query(text, 16)


@given(st.text(alphabet="abc de\n.?", min_size=1, max_size=40), st.integers(1, 40), st.integers(1, 80))
def test_the_head_of_a_long_text_is_the_start_of_its_whole_encoding(
    tokenizer: TextTokenizer, word: str, repeats: int, tokens_max: int
) -> None:
    text = word * repeats
    assert tokenizer.head(text, tokens_max) == tokenizer.head(text, 5_000)[:tokens_max]


def test_a_long_query_keeps_its_asking_sentence_whole(tokenizer: TextTokenizer) -> None:
    log = "error in module seven at line twelve. " * 100
    kept = tokenizer.query(f"{log} Which port does the gateway use? {log}", 64)
    asking = tokenizer.query("Which port does the gateway use?", 64)
    assert len(kept) == 64
    assert any(kept[start : start + len(asking)] == asking for start in range(len(kept)))


def test_a_megabyte_is_cut_before_it_is_tokenized(tokenizer: TextTokenizer) -> None:
    seen: list[int] = []
    inner = tokenizer._tokenizer

    class Counting:
        def encode(self, text: str, *, add_special_tokens: bool) -> object:
            seen.append(len(text))
            return inner.encode(text, add_special_tokens=add_special_tokens)

    tokenizer._tokenizer = Counting()  # type: ignore[assignment]
    try:
        for text in ("lorem ipsum " * 90_000, "?" * 1_000_000, "x" * 1_000_000, "\n" * 1_000_000):
            tokenizer.head(text, 256)
            tokenizer.query(text, 64)
    finally:
        tokenizer._tokenizer = inner
    assert sum(seen) < 60_000


def test_the_same_text_is_tokenized_once(tokenizer: TextTokenizer) -> None:
    assert tokenizer.head("cached words", 8) is tokenizer.head("cached words", 8)


def test_the_cache_is_bounded(tokenizer: TextTokenizer) -> None:
    for number in range(2 * CACHED_TEXTS_MAX):
        tokenizer.head(f"text {number}", 8)
    assert len(tokenizer._cache._entries) == CACHED_TEXTS_MAX


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b"<!doctype html>"])
def test_bytes_that_are_no_tokenizer_are_refused_with_a_remedy(content: bytes) -> None:
    with pytest.raises(ModelFileError, match=r"tokenizer\.json cannot be read .* provision"):
        TextTokenizer(content)


def test_a_tokenizer_without_control_tokens_is_refused() -> None:
    other = b'{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"added_tokens":[]}'
    with pytest.raises(ModelFileError, match=r"no \[CLS\] token"):
        TextTokenizer(other)
