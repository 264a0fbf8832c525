"""Where a candidate's quote stands in the user's own words.

Guards: the store against facts that nobody stated: what a model says that the user said counts only where the user's
words hold it literally. Cost: one search per candidate without a span. Fails: closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final
from unicodedata import is_normalized, normalize

from recalld.models.domain.facts import Disposition, FactCandidate, Ruling, Span
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.protected_spans import PRIVATE

QUOTE_CHARS_MAX: Final = 2_000
"""A longer quote is no quote but the turn itself, or somebody's document."""
_QUOTES: Final = str.maketrans(dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'))
_ENDS: Final = " \t\n\"'.,;:!\u2026"
_SPACE: Final = r"\s+"
_NO_WORD_BEFORE: Final = r"(?<!\w)"
_NO_WORD_AFTER: Final = r"(?!\w)"
_INVISIBLE: Final = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
_CLUSTER: Final = re.compile("[^\u0300-\u036f][\u0300-\u036f]*|[\u0300-\u036f]+")
"""A character with the accents that are set on it."""
_RULE: Final = "literal_quote"


def locate(candidate: FactCandidate, context: AdmissionContext) -> Span | Ruling:
    """The span of a candidate's quote, or why it has none.

    A span that a generator gave must hold the quote. Folded away are case, white space, the shape of quotation marks
    and apostrophes, and stops at the ends; a quote without letters is found nowhere.
    """
    own = context.turn.text
    span = candidate.span
    if span is not None:
        is_inside = 0 <= span.start < span.end <= len(own)
        if is_inside and (not candidate.quote or own[span.start : span.end] == candidate.quote):
            return span
    found = find_literally(candidate.quote, own)
    if found is not None:
        return found
    return Ruling(candidate=candidate, disposition=Disposition.DROP, reason=_why_not(candidate, context), rule=_RULE)


def find_literally(quote: str, text: str) -> Span | None:
    """Where a text holds a quote, but for case, white space and the shape of its marks; None where it does not."""
    trimmed = quote.strip(_ENDS + "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019")
    if not text or not trimmed or len(trimmed) > QUOTE_CHARS_MAX or not any(map(str.isalnum, trimmed)):
        return None
    at = text.find(trimmed)
    if at >= 0 and _is_whole(text, at, at + len(trimmed)):
        return Span(start=at, end=at + len(trimmed))
    return next(_spelled_otherwise(trimmed, text), None)


def find_all(quote: str, text: str) -> Iterator[Span]:
    """Every place where a text holds a quote as `find_literally` finds it, in text order."""
    trimmed = quote.strip(_ENDS + "\u201c\u201d\u201e\u00ab\u00bb\u2018\u2019")
    if text and trimmed and len(trimmed) <= QUOTE_CHARS_MAX and any(map(str.isalnum, trimmed)):
        yield from _spelled_otherwise(trimmed, text)


def _spelled_otherwise(trimmed: str, text: str) -> Iterator[Span]:
    """Where a text holds a quote but for case, white space, the shape of marks, and how accents are composed."""
    composed, places = _composed(text)
    sought = _composed(trimmed)[0]
    if not sought.strip():
        return
    spaced = _SPACE.join(map(re.escape, _plain(sought).split()))
    before = _NO_WORD_BEFORE if sought[0].isalnum() else ""
    after = _NO_WORD_AFTER if sought[-1].isalnum() else ""
    for found in re.finditer(f"{before}{spaced}{after}", _plain(composed), re.IGNORECASE):
        yield Span(start=places[found.start()], end=places[found.end()])


def _composed(text: str) -> tuple[str, Sequence[int]]:
    """A text in composed form and without invisible characters, and where each character of it begins in the text.

    The last position stands for the end of the text.
    """
    if text.isascii() or (is_normalized("NFC", text) and _INVISIBLE.search(text) is None):
        return text, range(len(text) + 1)
    parts: list[str] = []
    places: list[int] = []
    for match in _CLUSTER.finditer(text):
        part = normalize("NFC", _INVISIBLE.sub("", match[0]))
        parts.append(part)
        places.extend([match.start()] * len(part))
    return "".join(parts), (*places, len(text))


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether a stretch neither begins nor ends inside a word."""
    before, after = text[start - 1 : start] if start else "", text[end : end + 1]
    return not (before.isalnum() and text[start].isalnum()) and not (after.isalnum() and text[end - 1].isalnum())


def _plain(text: str) -> str:
    """The text with straight marks; every character stays one character."""
    return straight_apostrophes(text).translate(_QUOTES)


def _why_not(candidate: FactCandidate, context: AdmissionContext) -> AdmissionReason:
    """What a quote is that the turn holds somewhere, but not among the user's own words."""
    if any(find_literally(candidate.quote, each.group()) is not None for each in PRIVATE.finditer(context.said)):
        return AdmissionReason.PRIVATE
    if find_literally(candidate.quote, context.said) is not None:
        return AdmissionReason.QUOTATION
    return AdmissionReason.NOT_USER_STATED
