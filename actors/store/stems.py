"""English inflections folded together, so that "running" finds "run" in every implementation of the store.

The steps are those of M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the rule for a final
y from his revision of 2001: it turns into i after a consonant only, so that "deploy" and "deployment" meet. Only plain
words of ASCII letters are stemmed; identifiers, numbers and other scripts stay as they are.
"""

from __future__ import annotations

import re
from typing import Final

_PLAIN_WORD: Final = re.compile(r"[a-z]{3,64}\Z")

_STEP_2: Final = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("abli", "able"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
_STEP_2_SUFFIXES: Final = tuple(suffix for suffix, _ in _STEP_2)
_STEP_3: Final = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_3_SUFFIXES: Final = tuple(suffix for suffix, _ in _STEP_3)
# "ement" and "ment" stand before "ent": the longest suffix decides, even if its condition then fails.
_STEP_4: Final = (
    "ement",
    "ance",
    "ence",
    "able",
    "ible",
    "ment",
    "ant",
    "ent",
    "ion",
    "ism",
    "ate",
    "iti",
    "ous",
    "ive",
    "ize",
    "al",
    "er",
    "ic",
    "ou",
)


def stem(term: str) -> str:
    """The stem under which a term is indexed and looked up.

    Args:
        term: A term as `policy.terms` makes it: case-folded, without spaces.
    """
    if not _PLAIN_WORD.match(term):
        return term
    word = _without_plural(term)
    word = _without_participle(word)
    if word.endswith("y") and _shape(word[:-1]).endswith("c"):
        word = word[:-1] + "i"
    # Most words have none of a step's suffixes, which one call tells.
    if word.endswith(_STEP_2_SUFFIXES):
        word = _replaced(word, _STEP_2)
    if word.endswith(_STEP_3_SUFFIXES):
        word = _replaced(word, _STEP_3)
    if word.endswith(_STEP_4):
        word = _without_ending(word)
    return _tidied(word)


def _without_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _without_participle(word: str) -> str:
    """Step 1b: -eed, -ed and -ing, and the repair of what they leave behind."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        if word.endswith(ending):
            rest = word[: -len(ending)]
            return _repaired(rest) if _has_vowel(rest) else word
    return word


def _repaired(rest: str) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _ends_double_consonant(rest) and rest[-1] not in "lsz":
        return rest[:-1]
    if _measure(rest) == 1 and _ends_short_syllable(rest):
        return rest + "e"
    return rest


def _replaced(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Steps 2 and 3: replace the first suffix that fits, if enough of a word stands before it."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            return rest + replacement if _measure(rest) > 0 else word
    return word


def _without_ending(word: str) -> str:
    """Step 4."""
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            is_long_enough = _measure(rest) > 1 and (suffix != "ion" or rest.endswith(("s", "t")))
            return rest if is_long_enough else word
    return word


def _tidied(word: str) -> str:
    """Step 5: a silent final e, and a double l."""
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short_syllable(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        return word[:-1]
    return word


def _shape(word: str) -> str:
    """The word as a string of c and v, one for each letter. Linear, also for a run of y."""
    shape: list[str] = []
    for letter in word:
        is_vowel = letter in "aeiou" or (letter == "y" and bool(shape) and shape[-1] == "c")
        shape.append("v" if is_vowel else "c")
    return "".join(shape)


def _measure(word: str) -> int:
    """How many times a vowel is followed by a consonant: Porter's m."""
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _ends_double_consonant(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short_syllable(word: str) -> bool:
    """Consonant, vowel, consonant, where the last is not w, x or y: Porter's *o."""
    return _shape(word).endswith("cvc") and word[-1] not in "wxy"
