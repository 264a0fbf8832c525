"""Language: what a rule or the judge found in a sentence whose clauses the lists cannot read.

Guards: the store against "nous n'utilisons pas Databricks" read by somebody who knows no French: a name was found, the
denial was not. Cost: one pass over the sentence's words. Fails: closed for rules and the judge; a language model reads
more languages than the lists do, and is not held to it.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy import word_lists
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.tokens import folded_words
from recalld.models.policy.stop_words import stop_words

FOREIGN_SHARE_MAX: Final = 0.3
"""Share of letters outside the Latin script from which on a sentence is not read."""
UNREAD_WORDS_MIN: Final = 2
"""Words of languages that the lists cannot read which make a sentence one of them."""
_BOUND: Final = frozenset({Generator.RULE, Generator.JUDGE})


def find_unread_language(scene: Scene) -> Finding | None:
    """`unread_language` for what a rule or the judge found in another script, or among words of another language."""
    if scene.candidate.generator not in _BOUND:
        return None
    sentence = scene.sentence
    if _is_mostly_foreign(sentence.text[sentence.start : sentence.end]):
        return Finding(reason=AdmissionReason.UNREAD_LANGUAGE)
    words = folded_words(sentence.tokens)
    unread = words & word_lists.words("admission/unread_words.txt")
    read = max(len(words & listed) for listed in stop_words().values())
    if len(unread) >= UNREAD_WORDS_MIN and len(unread) > read:
        return Finding(reason=AdmissionReason.UNREAD_LANGUAGE, evidence=tuple(sorted(unread))[:1])
    return None


def _is_mostly_foreign(text: str) -> bool:
    """Whether too many of the letters are of another script."""
    if text.isascii():
        return False
    odd = {letter for letter in set(text) if letter.isalpha() and not letter.isascii() and not _is_latin(letter)}
    return bool(odd) and sum(map(text.count, odd)) > FOREIGN_SHARE_MAX * sum(map(str.isalpha, text))


def _is_latin(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("LATIN")
