"""A message as folded words, with the places where its sentences and clauses end.

Words of spaced scripts are whole; unspaced scripts are cut into single characters, so that a phrase of either kind is
a run of neighbouring words.
"""

from __future__ import annotations

import re

import msgspec

from recalld.models.policy.term_text import classify, clean_text, fold_word

UNSPACED_PER_WORD = 3
"""Characters of an unspaced script that count as one word where length matters."""

_WORD = re.compile(r"c|[Aa9]+(?:'[Aa9]+)*")
_CLITIC = re.compile(r"'(?:s|ll|re|ve|m|d)\Z", re.IGNORECASE)
_SENTENCE_BREAK = re.compile("[.!?;_\u2026\u3002\ufffc]")
"""An underscore joins an identifier, which is no phrase; an object replacement character stands for masked text."""
_CLAUSE_BREAK = re.compile('[.!?;_\u2026\u3002\ufffc,:()\u3001\u2013\u2014"\u201d\u00bb]')


class TurnWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a message.

    Attributes:
        words: Folded: lower case, no accents, no apostrophes, English clitics cut ("what's" is what).
        unspaced: How many of them are single characters of an unspaced script.
        sentence_starts: Indexes of words before which a sentence ends; a phrase never reaches across.
        clause_starts: Indexes of words before which at least a clause ends; always has `len(words)`.
    """

    words: tuple[str, ...]
    unspaced: int
    sentence_starts: frozenset[int]
    clause_starts: frozenset[int]

    @property
    def length(self) -> int:
        """How many words long it reads: `UNSPACED_PER_WORD` characters of an unspaced script make one."""
        return len(self.words) - self.unspaced + -(-self.unspaced // UNSPACED_PER_WORD)


def read_words(text: str) -> TurnWords:
    """Cut a text into words. Linear in the text; cap it before."""
    words: list[str] = []
    unspaced = 0
    sentence_starts: set[int] = set()
    clause_starts: set[int] = set()
    for line in text.split("\n"):
        cleaned = clean_text(line)
        end = 0
        for match in _WORD.finditer(classify(cleaned)):
            gap = cleaned[end : match.start()]
            if _SENTENCE_BREAK.search(gap) is not None:
                sentence_starts.add(len(words))
            if _CLAUSE_BREAK.search(gap) is not None:
                clause_starts.add(len(words))
            end = match.end()
            word = _folded(cleaned[match.start() : end])
            if word:  # a lone accent folds to nothing
                words.append(word)
                unspaced += match.group() == "c"
        sentence_starts.add(len(words))
        clause_starts.add(len(words))
    return TurnWords(
        words=tuple(words),
        unspaced=unspaced,
        sentence_starts=frozenset(sentence_starts),
        clause_starts=frozenset(clause_starts),
    )


def _folded(word: str) -> str:
    return fold_word(_CLITIC.sub("", word).replace("'", "") if "'" in word else word)
