"""Words that a message and a candidate have in common, counted so that one word never counts twice.

An identifier has many search terms (`auth_token` is also auth and token), and a run of an unspaced script as many pairs
as it has neighbours. Here a word of the message counts once, and two characters of an unspaced script make one word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recalld.models.policy.caps import capped
from recalld.models.policy.term_text import classify
from recalld.models.policy.terms import index_terms, query_terms
from recalld.models.policy.turn.inflections import inflection_key

TEXT_CHARS_MAX = 8_000
"""Characters of a message that are looked at."""
CANDIDATE_CHARS_MAX = 1_000
"""Characters of a candidate that are looked at: hundreds of them may come at once, and each is read anew."""
WORDS_MAX = 64
"""Words of a message that are looked at."""
CHARS_PER_UNSPACED_WORD = 2


class SalientWord(msgspec.Struct, frozen=True, kw_only=True):
    """A word of the message, with every search term that stands for it."""

    word: str
    terms: tuple[str, ...]
    is_unspaced: bool = False


def salient_words(message: str) -> tuple[SalientWord, ...]:
    """The distinct words of a message that say something, in text order.

    Args:
        message: The user's own words.
    """
    text = capped(message, TEXT_CHARS_MAX)
    salient = set(query_terms(text, terms_max=4 * WORDS_MAX))
    found: dict[str, SalientWord] = {}
    for piece in text.split():
        terms = tuple(term for term in index_terms(piece) if term in salient)
        unspaced = tuple(term for term in terms if classify(term[0]) == "c")
        spaced = tuple(term for term in terms if term not in unspaced)
        for group, is_unspaced in ((spaced, False), (unspaced, True)):
            if group:
                word = group[0] if not is_unspaced else "".join(group)
                found.setdefault(word, SalientWord(word=word, terms=group, is_unspaced=is_unspaced))
    return tuple(found.values())[:WORDS_MAX]


def word_count(words: Iterable[SalientWord]) -> int:
    """How many words a message has by this count."""
    return sum(_worth(word, word.terms) for word in words)


def shared_words(words: Sequence[SalientWord], *texts: str) -> tuple[str, ...]:
    """The words of the message that occur in at least one text, whole or inflected; each as its first term that does.

    A run of an unspaced script gives as many entries as it is worth.
    """
    keys = {inflection_key(term) for text in texts for term in index_terms(capped(text, CANDIDATE_CHARS_MAX))}
    shared: dict[str, None] = {}
    for word in words:
        hits = tuple(term for term in word.terms if inflection_key(term) in keys)
        for term in hits[: _worth(word, hits)] if word.is_unspaced else hits[:1]:
            shared[term] = None
    return tuple(shared)


def _worth(word: SalientWord, hits: Sequence[str]) -> int:
    if not word.is_unspaced:
        return 1 if hits else 0
    return len({character for term in hits for character in term}) // CHARS_PER_UNSPACED_WORD
