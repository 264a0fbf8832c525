"""Crediting terms: on whole units or their inflections, never inside a word.

`port` is not credited by transport; `token` is credited by auth_token, because the index gives that identifier's
parts as units of their own; `deploy` is credited by deployed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

WORDS_KEPT_MAX = 8_192
"""Terms whose keys are remembered: most words of most texts are the same few thousand."""
_PLAIN_WORD = re.compile(r"[a-z]{4,64}\Z")
_VOWEL = re.compile(r"[aeiouy]")
_STEM_LETTERS_MIN = 3
_UNINFLECTED = ("ss", "us", "is")
_HISSING = ("sses", "xes", "zes", "ches", "shes")


@lru_cache(maxsize=WORDS_KEPT_MAX)
def inflection_key(term: str) -> str:
    """What an English word has in common with its plural, its past and its participle.

    Plain words of at least four ASCII letters only; everything else (identifiers, numbers, other scripts) is its own
    key. Light on purpose: derivations ("deployment") keep a key of their own.

    Args:
        term: Folded, as `recalld.models.policy.terms` gives it.
    """
    if _PLAIN_WORD.match(term) is None:
        return term
    word = _without_plural(term)
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and not word.endswith("eed") and _is_stem(stem):
            word = stem[:-1] if stem[-1] == stem[-2] and stem[-1] not in "lsz" else stem
            break
    return word[:-1] if word.endswith("e") and len(word) > _STEM_LETTERS_MIN else word


def credited_terms(terms: Iterable[str], units: Iterable[str]) -> frozenset[str]:
    """Those of `terms` that occur among `units`, whole or inflected.

    Args:
        terms: Folded terms, as `probe_terms` gives them.
        units: Folded units of the other text, as `index_terms` gives them.
    """
    keys = {inflection_key(unit) for unit in units}
    return frozenset(term for term in terms if inflection_key(term) in keys)


def _without_plural(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(_HISSING):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(_UNINFLECTED) else word


def _is_stem(stem: str) -> bool:
    return len(stem) >= _STEM_LETTERS_MIN and _VOWEL.search(stem) is not None
