"""Search terms: the one segmentation used on both sides of full-text search.

The store writes `index_terms(text)` and looks for `query_terms(text)`; both come from the same rules, so that what is
stored can be found:

* identifiers are kept whole and also split: `auth_token` gives auth_token, auth, token; `parseJSON` gives parsejson,
  parse, json; `src/pi/hermes.py` gives itself, its path segments and their parts;
* a hyphenated word is also found written together (`preedit` finds pre-edit);
* `C++` and `C#` are names of their own and never the letter c;
* unspaced scripts are cut into single characters and pairs in the index, into pairs in the query, and apart from Latin
  letters glued to them;
* accents, case, apostrophes and invisible characters do not matter: `O'Brien's` gives obrien and brien.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recalld.models.policy.caps import capped
from recalld.models.policy.stop_words import stop_words, vote_language
from recalld.models.policy.term_text import JOINERS, SUFFIXES, classify, clean_text, fold_word

TERM_CHARS_MAX = 64
"""Longest term. A longer word is cut there on both sides; a longer compound is known by its parts alone."""
QUERY_TERMS_MAX = 12
"""Terms a query may have by default: bounds the cost of a match whatever was pasted."""
QUERY_CHARS_MAX = 16_000
"""Characters of a query that are looked at: its head and its tail, so that cost is bounded whatever was pasted."""
TERM_PUNCTUATION = JOINERS + SUFFIXES
"""Every ASCII character besides letters and digits that a term may contain."""

_UNIT = r"[Aa9]+(?:'[Aa9]+)*(?:\+\+(?![Aac+])|(?<=[Aa])(?<![Aa9][Aa])#(?![Aac#]))?"
_JOIN = r"(?:://|::|__|[_\-./:@&])"
_RUN = re.compile(rf"c+|{_UNIT}(?:{_JOIN}{_UNIT})*")
_SEGMENT = re.compile(r"[^/:@&]+")
_WORD = re.compile(r"[^/:@&_.\-]+")
_HYPHENATED = re.compile(r"[Aa]+(?:-[Aa]+){1,2}")
_CAMEL = re.compile(r"A+(?=Aa)|A?a+|A+|9+")
_PLURAL_ACRONYM = re.compile(r"A{2,}a")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CLITIC = re.compile(r"'(?:s|ll|re|ve|m|d)(?![^_\-./:@&])", re.IGNORECASE)
_LETTERS_MIN = 3
"""Shortest run of letters cut out of a mixed or apostrophised word: `python3` gives python, `k8s` no k."""
_DIGITS_MIN = 4
"""Shortest run of digits cut out of a mixed word: `BENCH100821` gives 100821, `H100` no 100."""


def index_terms(text: str) -> list[str]:
    """The terms under which `text` is to be found, in text order, repetitions kept (they are term frequencies).

    Each term is 1 to `TERM_CHARS_MAX` characters: letters, digits, marks and `TERM_PUNCTUATION`, folded. Linear in the
    text.
    """
    return [term for run in _runs(text) for term in _index_forms(*run)]


def query_terms(text: str, *, terms_max: int = QUERY_TERMS_MAX) -> list[str]:
    """The distinct terms to look for, in text order, without the stop words of the query's language.

    A query of stop words alone ("what is it") has no searchable terms: the answer is empty. Over the cap, the
    rarest-looking terms stay: identifiers and numbers first, then the longest. Cost is bounded by `QUERY_CHARS_MAX`.

    Args:
        text: What the user wrote, of any length.
        terms_max: How many terms at most, from 1.

    Raises:
        ValueError: `terms_max` is below 1.
    """
    if terms_max < 1:
        message = f"terms_max must be at least 1, got {terms_max}"
        raise ValueError(message)
    found = list(dict.fromkeys(term for run in _runs(capped(text, QUERY_CHARS_MAX)) for term in _query_forms(*run)))
    ignored = stop_words()[vote_language(found)]
    kept = [term for term in found if term not in ignored]
    if len(kept) <= terms_max:
        return kept
    chosen = set(sorted(kept, key=_commonness)[:terms_max])
    return [term for term in kept if term in chosen]


def _commonness(term: str) -> tuple[bool, int]:
    """Sort key, rarest-looking first; a character of an unspaced script says about as much as three letters."""
    width = 3 if classify(term[0]) == "c" else 1
    return term.isalpha(), -width * len(term)


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield compounds and unspaced runs as (text, classes)."""
    cleaned = _THOUSANDS.sub("", clean_text(text))
    classes = classify(cleaned)
    for match in _RUN.finditer(classes):
        yield cleaned[match.start() : match.end()], match.group()


def _index_forms(run: str, classes: str) -> Iterator[str]:
    if classes[0] != "c":
        yield from _compound_forms(run, classes)
        if _HYPHENATED.fullmatch(classes) is not None and len(run) <= TERM_CHARS_MAX:
            yield _glue(run.replace("-", ""))
        return
    yield from run
    yield from _pairs(run)


def _query_forms(run: str, classes: str) -> Iterator[str]:
    if classes[0] != "c":
        yield from _compound_forms(run, classes)
    elif len(run) == 1:
        yield run
    else:
        yield from _pairs(run)


def _pairs(run: str) -> Iterator[str]:
    return (run[start : start + 2] for start in range(len(run) - 1))


def _compound_forms(run: str, classes: str) -> Iterator[str]:
    """Yield a compound whole, its path segments, and the words of each; repeated forms are said once."""
    words = list(_WORD.finditer(classes))
    if len(words) == 1:
        yield from _word_forms(run, classes)
        return
    whole = _glue(run)
    if len(whole) <= TERM_CHARS_MAX:
        yield whole
    for segment in _SEGMENT.finditer(classes):
        part = _glue(run[segment.start() : segment.end()])
        is_compound = not part.isalnum() and _WORD.fullmatch(part) is None
        if is_compound and part != whole and 1 <= len(part) <= TERM_CHARS_MAX:
            yield part
    for word in words:
        text, kinds = run[word.start() : word.end()], word.group()
        if kinds != "a":  # the s of GB/s says nothing; the C of C/C++ does
            yield from _word_forms(text, kinds)


def _word_forms(word: str, classes: str) -> Iterator[str]:
    """Yield one word whole, and its parts if it is apostrophised, camel-cased or mixed with digits."""
    whole = _glue(word)[:TERM_CHARS_MAX]
    if not whole.strip("'") or not any(map(str.isalnum, whole)):
        return  # a lone mark, or nothing left
    yield whole
    parts = _apostrophe_parts(word) if "'" in classes else _camel_parts(word, classes)
    yield from (part[:TERM_CHARS_MAX] for part in parts if part != whole)


def _glue(text: str) -> str:
    """Fold, cut English clitics (she'll is she, not shell) and drop the other apostrophes (don't is dont)."""
    return fold_word(_CLITIC.sub("", text).replace("'", "") if "'" in text else text)


def _apostrophe_parts(word: str) -> list[str]:
    """The longer pieces: brien of O'Brien, ecole of l'école; none of don't."""
    bare = _CLITIC.sub("", word)
    if bare.lower().endswith("n't"):
        return []
    return [fold_word(piece) for piece in bare.split("'") if len(piece) >= _LETTERS_MIN]


def _camel_parts(word: str, classes: str) -> list[str]:
    if classes.strip("a+#") in {"", "A"} or _PLURAL_ACRONYM.fullmatch(classes) is not None:
        return []  # no upper case inside (most words), or GPUs
    spans = list(_CAMEL.finditer(classes))
    is_mixed = "9" in classes
    return [fold_word(word[span.start() : span.end()]) for span in spans if _is_part(span.group(), is_mixed=is_mixed)]


def _is_part(classes: str, *, is_mixed: bool) -> bool:
    if classes[0] == "9":
        return len(classes) >= _DIGITS_MIN
    return len(classes) >= (_LETTERS_MIN if is_mixed else 2)
