"""Words, numbers, ISO dates and punctuation of a text, with their places.

Only what the grammar needs to know about a place is kept: the folded word, whether it may join the token before into
one phrase, and whether a capital letter there means anything.
"""

from __future__ import annotations

import re

import msgspec

from recalld.models.policy.term_text import fold_word

WORD_CHARS_MAX = 24
"""Longer words are never words of time; they are not folded, only stepped over."""
GAP_CHARS_MAX = 8
"""White space between two words of one phrase, at most."""
_OFFSET = r"(?:[Zz]|[+-](?:0\d|1[0-4]):?[0-5]\d)"
_ISO = (
    r"\d{4}-\d{2}-\d{2}(?:"
    rf"[Tt]\d{{2}}:\d{{2}}(?::\d{{2}}(?:\.\d{{1,6}})?)?{_OFFSET}?"
    # After a space, "10:00-12:00" is two times of day rather than a time with an offset; seconds tell them apart.
    rf"|[ ]\d{{2}}:\d{{2}}:\d{{2}}(?:\.\d{{1,6}})?{_OFFSET}?|[ ]\d{{2}}:\d{{2}}[Zz]?"
    r")?|\d{4}-[Ww]\d{2}(?:-\d)?|\d{4}-\d{2}(?!-?\d)"
)
_WORD = r"\w[\w\u0300-\u036f]*"
_TOKEN = re.compile(rf"(?P<iso>(?<![\w\u0300-\u036f])(?a:{_ISO})(?!\w))|(?P<word>{_WORD})|(?P<mark>[^\w\s])")
_GAP = re.compile(rf"[^\S\n]{{0,{GAP_CHARS_MAX}}}(?:\n[^\S\n]{{0,{GAP_CHARS_MAX}}})?")
_SENTENCE_ENDS = frozenset('.!?:;\u2026\u00a1\u00bf*\u2022\u201c"(')
_MARKS = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u2013": "-", "\u2014": "-", "\u2212": "-"})
_GLUE_BEFORE = frozenset("/\\@#_.-=$%&~+")
_GLUE_AFTER = frozenset("/\\@_=&~+%(")
_JOINTS = frozenset(".-")
_DIGIT_SEPARATORS = frozenset(".,:-")


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """One word, number, ISO date or punctuation mark."""

    text: str
    """Folded as search terms are; ISO dates in upper case; dashes and apostrophes made plain."""
    start: int
    end: int
    is_word: bool
    is_iso: bool
    is_joined: bool
    """Whether so little lies between this token and the one before that both may belong to one phrase."""
    is_proper: bool
    """Whether it has a capital that is not merely the first of a sentence."""


def tokenize(text: str) -> list[Token]:
    """Cut a text into tokens; linear in the text."""
    tokens: list[Token] = []
    position = 0
    for match in _TOKEN.finditer(text):
        is_joined = _GAP.fullmatch(text, position, match.start()) is not None
        starts_sentence = not tokens or not is_joined or tokens[-1].text in _SENTENCE_ENDS
        written = match.group()
        tokens.append(
            Token(
                text=_fold(match),
                start=match.start(),
                end=match.end(),
                is_word=match["mark"] is None,
                is_iso=match["iso"] is not None,
                is_joined=bool(tokens) and is_joined,
                is_proper=written[0].isupper() and not starts_sentence,
            )
        )
        position = match.end()
    return tokens


def is_free_standing(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` stands on its own rather than inside a path, an identifier, a call or a number."""
    before = text[start - 1] if start > 0 else " "
    after, further = text[end : end + 1], text[end + 1 : end + 2]
    if before in _GLUE_BEFORE or after in _GLUE_AFTER:
        return False
    if before in _DIGIT_SEPARATORS and text[start].isdigit() and start > 1 and text[start - 2].isdigit():
        return False
    return not (after in _JOINTS and (further.isalnum() or further == "_"))


def _fold(match: re.Match[str]) -> str:
    written = match.group()
    if match["iso"] is not None:
        return written.upper()
    if match["mark"] is not None:
        return written.translate(_MARKS)
    return fold_word(written) if len(written) <= WORD_CHARS_MAX else ""
