"""Whether a text is in the language that the relevance models were trained on.

Guards: against silently dropping what the cross-encoder cannot read.
Cost: one pass over the text.
Fails: towards English, because short texts ("pnpm", "k8s?") show no language at all.
"""

from __future__ import annotations

import re
import unicodedata

from recalld.models.policy.stop_words import DEFAULT_LANGUAGE, vote_language
from recalld.models.policy.terms import index_terms

FOREIGN_SHARE_MAX = 0.3
"""Share of letters outside the Latin script above which a text counts as foreign, whatever its words."""
CHARS_MAX = 2_000
"""Characters looked at: the head of a text shows its language."""
_ASCII_WORD = re.compile(r"[a-z]+")


def is_english(text: str) -> bool:
    """Whether an English cross-encoder may judge the text: Latin script, and no other language's stop words win."""
    head = text[:CHARS_MAX]
    if head.isascii():
        # Nine texts in ten; several are looked at in each recall, so without the full segmentation.
        return vote_language(_ASCII_WORD.findall(head.lower())) == DEFAULT_LANGUAGE
    letters = [char for char in head if char.isalpha()]
    foreign = sum(1 for char in letters if not _is_latin(char))
    if letters and foreign / len(letters) > FOREIGN_SHARE_MAX:
        return False
    return vote_language(index_terms(head)) == DEFAULT_LANGUAGE


def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith("LATIN")
