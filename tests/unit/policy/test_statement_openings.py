"""What a pattern can begin with: nothing that it matches is ever left out."""

from __future__ import annotations

import re
from string import ascii_lowercase

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.statements.find import ATTEMPTS_MAX, TEXT_CHARS_MAX, find_stated, is_read_whole
from recalld.models.policy.statements.grammar import LANGUAGES, lower_case
from recalld.models.policy.statements.openings import NAME_MARK, OPENING_CHARS, OpeningIndex, openings_of
from recalld.models.policy.statements.rule_book import Attempt, RuleBook, rule_book, shipped_books

PATTERNS = (
    "i (?:use|like) x",
    "(?:my|our)? dog",
    "(?P<value>[a-c]{2}|d+e)f*",
    "a|bc|(?:d|ef)?g",
    "(?=x)ab|(?!y)cd",
    r"\bno\.? [-x]",
    "(?-i:[A-C])a",
    "ab{0,2}c{2}d",
    "(?:a|b)*c",
    "s[it]",
    "(?:please |just )*(?:answer|reply)",
    r"\d+ a",
    "é a",
    "a{}b",
    "a{,2}b",
    "[^a]b",
    ".b",
)


@pytest.mark.parametrize(
    ("pattern", "openings"),
    [
        ("i use x", {"i us"}),
        ("(?:i|we)(?:'re)? on", {"i on", "i're", "we o", "we'r"}),
        ("no", {"no"}),
        ("a?b", {"ab", "b"}),
        ("(?:ab)+", {"ab", "abab"}),
        ("x(?=y)z", {"xz"}),
        ("x(?!y(z|[)]))z", {"xz"}),
        (r"a\w", {"a"}),
        (r"\.b\n", {".b\n"}),
        ("[a-c]x", {"ax", "bx", "cx"}),
        ("[\ue100\ue101]+ is", {f"{NAME_MARK * count}{' is'[: 4 - count]}" for count in (1, 2, 3, 4)}),
        ("à b", {""}),
        ("(a)\\1", {"a"}),
        ("(?(1)a|b)", {""}),
        ("[a-z]{4}", {f"{one}{other}" for one in ascii_lowercase for other in ascii_lowercase}),
    ],
)
def test_a_pattern_tells_how_it_begins(pattern: str, openings: set[str]) -> None:
    assert openings_of(pattern) == openings


@given(st.sampled_from(PATTERNS), st.text("abcdefgimnorsuwxyABI. -'\u0131\u017f\u212aé0\n", max_size=8))
def test_whatever_a_pattern_matches_begins_as_it_was_told(pattern: str, text: str) -> None:
    matched = re.match(pattern, text, re.IGNORECASE) is not None
    assert OpeningIndex([pattern]).of(lower_case(text)[:OPENING_CHARS]) == 1 or not matched


@pytest.mark.parametrize("language", LANGUAGES)
def test_hardly_any_rule_may_begin_with_anything(language: str) -> None:
    attempts = rule_book(language).attempts
    open_to_all = [each.compiled.rule.id for each in attempts if "" in openings_of(each.pattern.pattern)]
    assert len(open_to_all) <= len(attempts) // 10


def test_clauses_that_no_rule_begins_like_cost_no_attempt() -> None:
    tried: list[str] = []
    find_stated(
        prepare_turn("The log says that the old tests always use from now on, that they have, and that it is."),
        books(tried),
    )
    assert tried == []


def test_a_turn_of_many_sentences_costs_few_attempts() -> None:
    tried: list[str] = []
    plain = "It fails in about one run of ten, mostly when the machines are busy. The tables always need headings. "
    found = find_stated(prepare_turn(plain * 18 + "I work at Initech."), books(tried))
    assert [each.value for each in found] == ["Initech"]
    assert 0 < len(tried) <= 40


@pytest.mark.parametrize(
    "text", ["I use I use ", "my ", "we use Redis, ", "I live in Rome, ", "we use BigQuery? ", "*", "["]
)
def test_a_hostile_turn_costs_no_more_attempts_than_allowed(text: str) -> None:
    tried: list[str] = []
    find_stated(prepare_turn(text * (200_000 // len(text))), books(tried))
    assert len(tried) <= ATTEMPTS_MAX


def test_of_a_long_turn_head_and_tail_are_read_and_nothing_that_reaches_the_gap_is_found() -> None:
    filler = "The tests are slow. " * (TEXT_CHARS_MAX // 20)
    turn = prepare_turn(f"I live in Rome. {filler} My name is Ana. {filler} I work at Initech.")
    assert [each.value for each in find_stated(turn)] == ["Rome", "Initech"]
    assert not is_read_whole(turn)
    half = "x" * (TEXT_CHARS_MAX // 2 - len(". my name is Ana"))
    cut = prepare_turn(f"{half}. my name is Ana-Maria {'x ' * TEXT_CHARS_MAX}")
    assert find_stated(cut) == ()
    assert is_read_whole(prepare_turn(f"I live in Rome. {filler[:4_000]}"))


class Counting:
    """A pattern that notes each try."""

    def __init__(self, attempt: Attempt, tried: list[str]) -> None:
        self._attempt = attempt
        self._tried = tried

    def match(self, text: str, start: int, end: int) -> re.Match[str] | None:
        self._tried.append(self._attempt.compiled.rule.id)
        return self._attempt.pattern.match(text, start, end)


def books(tried: list[str]) -> list[RuleBook]:
    """The shipped rules, whose patterns note in a list that they are tried."""
    return [
        msgspec.structs.replace(
            book, attempts=tuple(Attempt(each.compiled, Counting(each, tried)) for each in book.attempts)
        )
        for book in shipped_books()
    ]
