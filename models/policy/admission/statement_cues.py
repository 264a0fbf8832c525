"""Phrases in what would be stored, where a model may say what no quote of the user holds."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from recalld.models.policy.admission.cue_words import Cue, CueGrammar, CueWords, shipped_words
from recalld.models.policy.admission.tokens import tokenize
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.stop_words import LANGUAGES

_LOOKED_FOR: Final = (Cue.CAPABILITIES, Cue.INABILITIES, Cue.OVERRIDES, Cue.SENDINGS, Cue.CONCEALMENTS)


@lru_cache(maxsize=256)
def statement_cues(statement: str) -> tuple[tuple[Cue, str], ...]:
    """What a statement says of the assistant, and what it orders, in any of the languages, each with its words."""
    plain = straight_apostrophes(statement)
    tokens = tokenize(plain)
    words = [token.text for token in tokens]
    return tuple(
        (each.cue, plain[tokens[each.first].start : tokens[each.past_last - 1].end])
        for grammar in _grammars()
        for each in grammar.find(words)
    )


@lru_cache(maxsize=1)
def _grammars() -> tuple[CueGrammar, ...]:
    lists = (shipped_words()[language].lists for language in LANGUAGES)
    return tuple(CueGrammar(CueWords(lists={cue: each[cue] for cue in _LOOKED_FOR})) for each in lists)
