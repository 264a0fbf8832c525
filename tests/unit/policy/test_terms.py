from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recalld.models.policy.stop_words import LANGUAGES, stop_words, vote_language
from recalld.models.policy.terms import (
    QUERY_CHARS_MAX,
    QUERY_TERMS_MAX,
    TERM_CHARS_MAX,
    TERM_PUNCTUATION,
    index_terms,
    query_terms,
)

any_text = st.text(st.characters(), max_size=200)


def finds(query: str, stored: str) -> bool:
    return not set(query_terms(query)).isdisjoint(index_terms(stored))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("auth_token", ["auth_token", "auth", "token"]),
        ("parseJSON", ["parsejson", "parse", "json"]),
        ("HTMLParser", ["htmlparser", "html", "parser"]),
        ("userID", ["userid", "user", "id"]),
        ("GPUs", ["gpus"]),
        ("Hello", ["hello"]),
        ("pre-edit", ["pre-edit", "pre", "edit", "preedit"]),
        ("BENCH-100821", ["bench-100821", "bench", "100821"]),
        ("BENCH100821", ["bench100821", "bench", "100821"]),
        ("python3 H100 k8s", ["python3", "python", "h100", "k8s"]),
        ("C++ C# F#", ["c++", "c#", "f#"]),
        ("C++17", ["c++", "17"]),
        ("C/C++", ["c/c++", "c", "c++"]),
        ("issue#12", ["issue", "12"]),
        ("GB/s", ["gb/s", "gb"]),
        ("grammar::fa", ["grammar::fa", "grammar", "fa"]),
        ("src/pi/hermes.py", ["src/pi/hermes.py", "hermes.py", "src", "pi", "hermes", "py"]),
        ("O'Brien's", ["obrien", "brien"]),
        ("O\u2019Brien\u2019s", ["obrien", "brien"]),
        ("she'll don't", ["she", "dont"]),
        ("l'\u00e9cole", ["lecole", "ecole"]),
        ("Stra\u00dfe \u00dcr\u00fcn \u0141\u00f3d\u017a", ["strasse", "urun", "lodz"]),
        ("\ufb01ne \uff21\uff22", ["fine", "ab"]),
        ("2,400 and 1,2", ["2400", "and", "1", "2"]),
        ("Recalld\u2122", ["recalld"]),
        ("\u0939\u093f\u0928\u094d\u0926\u0940", ["\u0939\u093f\u0928\u094d\u0926\u0940"]),
        ("a\0b\ud800c\u200bd", ["a", "b", "cd"]),
        ("\u2764\ufe0f \u0301 ( * \" '", []),
        ("x" * 70, ["x" * TERM_CHARS_MAX]),
        ("-".join(["part"] * 20), ["part"] * 20),
        ("\u7ba1\u7406", ["\u7ba1", "\u7406", "\u7ba1\u7406"]),
        ("\u7528pnpm\u7ba1", ["\u7528", "pnpm", "\u7ba1"]),
    ],
)
def test_text_is_cut_into_these_terms(text: str, expected: list[str]) -> None:
    assert index_terms(text) == expected


@pytest.mark.parametrize(
    ("query", "stored"),
    [
        # R06
        ("pre-edit", "Run the pre-edit check before pushing; ticket BENCH-100821"),
        ("BENCH-100821", "Run the pre-edit check before pushing; ticket BENCH-100821"),
        ("-100821", "Run the pre-edit check before pushing; ticket BENCH-100821"),
        ("state-of-the-art", "This is state of the art"),
        # R07
        ("GB/s", "Reads at 3 GB/s"),
        ("O'Brien's repo?", "OBrien keeps the notes"),
        ("grammar::fa", "grammar::fa is the entry"),
        ("C++ or C#", "Writes C++ at work"),
        ("C++ or C#", "Writes C# at home"),
        ('say "hello', "Hello is the greeting"),
        ("blah=", "blah is set"),
        ("col:value", "the value is 3"),
        # R08
        ("DO NOT USE FIND /", "Never search the whole disk from root, avoid find /"),
        ("cats OR", "Has two cats"),
        ("NEAR me", "Near Lisbon"),
        # R09
        ("user identity name", "The user's name is Ines"),
        # R10
        ("pnpm", "\u9879\u76ee\u7528pnpm\u7ba1\u7406\uff0c\u90e8\u7f72\u5728\u4e1c\u4eac"),
        ("\u7ba1\u7406", "\u9879\u76ee\u7528pnpm\u7ba1\u7406\uff0c\u90e8\u7f72\u5728\u4e1c\u4eac"),
        ("\u4e1c\u4eac", "\u9879\u76ee\u7528pnpm\u7ba1\u7406\uff0c\u90e8\u7f72\u5728\u4e1c\u4eac"),
        ("\u4eac", "\u9879\u76ee\u7528pnpm\u7ba1\u7406\uff0c\u90e8\u7f72\u5728\u4e1c\u4eac"),
        ("\ud55c\uad6d", "\ud55c\uad6d\uc5b4\ub97c \ubc30\uc6b4\ub2e4"),
        ("token", "the auth_token expires"),
        ("auth_token", "the auth token expires"),
        ("hermes", "see src/pi/hermes.py"),
        ("pre\u00adedit", "Run the pre-edit check"),
        ("preedit", "Run the pre\u00ad\u2060edit check"),
        ("e-mail", "write an e\u00ad-mail"),
        ("\u0627\u062d\u0645\u062f", "\u0623\u062d\u0645\u062f is here"),
        ("\u0625\u0633\u0645", "\u0627\u0633\u0645 \u0645\u062d\u0645\u062f"),
        ("\u0645\u064f\u062d\u064e\u0645\u062f", "\u0627\u0633\u0645 \u0645\u062d\u0645\u062f"),
        ("\u05e9\u05b8\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("O\u00b4Brien", "OBrien keeps the notes"),
        ("O`Brien", "O'Brien keeps the notes"),
    ],
)
def test_a_query_finds_what_holds_its_words(query: str, stored: str) -> None:
    assert finds(query, stored)


@pytest.mark.parametrize(
    ("query", "stored"),
    [
        ("C++", "vitamin c is good"),
        ("C#", "vitamin C is good"),
        ("port", "the transport is late"),
        ("token", "tokens1 broke"),
        ("shell", "she'll come"),
        ("100", "H100 boxes"),
    ],
)
def test_a_query_does_not_find_parts_of_other_words(query: str, stored: str) -> None:
    assert not finds(query, stored)


@pytest.mark.parametrize("query", ["( ( (", "*", '""', "", "^", "what is it", "who are you", "\u2764\ufe0f"])
def test_a_query_without_content_has_no_searchable_terms(query: str) -> None:
    assert query_terms(query) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is the wifi password", ["wifi", "password"]),
        ("wo ist der Schl\u00fcssel", ["schlussel"]),
        ("o\u00f9 est la cl\u00e9", ["cle"]),
        ("\u00bfd\u00f3nde est\u00e1 la llave?", ["llave"]),
        # The lists are not merged: one language's stop word is another's content word.
        ("die hard", ["die", "hard"]),
        ("come prima", ["come", "prima"]),
        ("die", ["die"]),
        ("son", ["son"]),
    ],
)
def test_stop_words_go_in_the_language_of_the_query(query: str, expected: list[str]) -> None:
    assert query_terms(query) == expected


def test_case_of_operators_does_not_matter() -> None:
    assert query_terms("DO NOT USE FIND /") == query_terms("do not use find /") == ["use", "find"]
    assert query_terms("cats OR") == query_terms("cats or") == ["cats"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_its_own_stop_words_and_can_win_the_vote(language: str) -> None:
    listed = stop_words()[language]
    others = frozenset().union(*(words for other, words in stop_words().items() if other != language))
    assert len(listed - others) > 30
    assert vote_language(sorted(listed - others)) == language


def test_stop_words_are_written_as_terms_are() -> None:
    for language, listed in stop_words().items():
        for word in listed:
            assert index_terms(word) == [word], (language, word)


def test_one_foreign_stop_word_is_no_evidence_of_a_language() -> None:
    assert vote_language(["die", "hard"]) == "en"


def test_the_cap_keeps_identifiers_and_long_words_in_text_order() -> None:
    assert query_terms("cat dog auth_token elephant hippopotamus ox", terms_max=3) == [
        "auth_token",
        "elephant",
        "hippopotamus",
    ]


def test_the_cap_counts_a_pair_of_ideographs_as_a_longer_word() -> None:
    assert query_terms("cat \u6771\u4eac dog", terms_max=1) == ["\u6771\u4eac"]


def test_a_cap_below_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="terms_max"):
        query_terms("x", terms_max=0)


def test_a_long_paste_has_no_more_terms_than_a_question_and_is_cut_at_its_middle() -> None:
    paste = f"zebra {'lorem ipsum dolor ' * 20_000} yak"
    assert len(paste) > QUERY_CHARS_MAX
    terms = query_terms(paste, terms_max=100)
    assert {"zebra", "yak"} <= set(terms)
    assert len(query_terms(" ".join(f"word{number}" for number in range(2_000)))) == QUERY_TERMS_MAX


def test_repetitions_are_term_frequencies_in_the_index_and_gone_from_the_query() -> None:
    assert index_terms("cat cat") == ["cat", "cat"]
    assert query_terms("cat cat") == ["cat"]


@given(any_text)
@example("\u00af@0")
def test_terms_hold_letters_digits_marks_and_the_token_characters_alone(text: str) -> None:
    for term in index_terms(text) + query_terms(text, terms_max=1000):
        assert 1 <= len(term) <= TERM_CHARS_MAX
        assert all(unicodedata.category(char)[0] in "LNM" or char in TERM_PUNCTUATION for char in term), term


@given(any_text)
def test_every_query_term_is_among_the_index_terms_of_the_same_text(text: str) -> None:
    assert set(query_terms(text, terms_max=1000)) <= set(index_terms(text))


@given(any_text, st.integers(1, 20))
def test_the_cap_is_kept_and_never_leaves_nothing(text: str, terms_max: int) -> None:
    uncapped = query_terms(text, terms_max=1000)
    capped = query_terms(text, terms_max=terms_max)
    assert len(capped) == min(terms_max, len(uncapped))
    assert [term for term in uncapped if term in set(capped)] == capped


def test_token_characters_are_neither_letters_nor_digits_nor_spaces_nor_quotes() -> None:
    assert not any(char.isalnum() or char.isspace() or char in "\"'" for char in TERM_PUNCTUATION)
    assert len(set(TERM_PUNCTUATION)) == len(TERM_PUNCTUATION)
