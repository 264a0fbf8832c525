"""Echo: what the user says back of what memory itself had put before them.

Guards: against a fact confirming itself: a recalled record, repeated, would become evidence for itself. Cost: a few set
operations per injected text. Fails: towards keeping: a changed name, number, date or negation is news, and so is a
statement with an ordinary word that no injected text has.
"""

from __future__ import annotations

from typing import Final

from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.load_bearing import LoadBearing, agree_in_core, load_bearing

NEW_WORDS_MAX: Final = 0
"""Ordinary words that a restatement may have beside those of the injected text."""
_ASKED_FOR: Final = frozenset({Generator.EXPLICIT, Generator.CONFIRMED})


def find_echo(scene: Scene) -> Finding | None:
    """`echo` for what restates a text injected in this session; never for what the user asked to have saved."""
    if scene.candidate.generator in _ASKED_FOR or scene.candidate.is_ending:
        return None
    quote = scene.context.turn.text[scene.start : scene.end]
    statement = scene.candidate.statement
    for text in scene.context.injected.values():
        if _restates(quote, text) or _restates(statement, text):
            return Finding(reason=AdmissionReason.ECHO)
    return None


def _restates(said: str, injected: str) -> bool:
    mine, theirs = load_bearing(said), load_bearing(injected)
    return _is_covered(mine, theirs) and agree_in_core(said, injected)


def _is_covered(mine: LoadBearing, theirs: LoadBearing) -> bool:
    """Whether it says something, and nothing new."""
    says_something = mine.content or mine.names or mine.numbers or mine.dates
    return bool(says_something) and len(mine.content - theirs.words) <= NEW_WORDS_MAX
