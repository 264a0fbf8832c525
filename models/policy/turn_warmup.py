"""Loading everything that reading a turn needs, before anybody waits for it."""

from __future__ import annotations

from typing import Final

from recalld.models.policy.admission.context import AdmissionContext
from recalld.models.policy.turn_facts import read_turn
from recalld.models.policy.turn_rulings import rule_turn

_TURNS: Final = (
    "Remember that I use tabs. I work at Initech, and I no longer use vim.",
    "Merk dir, dass ich Tabs benutze. Ich arbeite bei Initech und nicht mehr bei Globex.",
    "Souviens-toi que je pr\u00e9f\u00e8re le th\u00e9. Je travaille chez Initech et pas chez Globex.",
    "Recuerda que prefiero el t\u00e9. Trabajo en Initech y ya no en Globex.",
)
"""One in each language that has lists of its own."""


def prepare_turns() -> None:
    """Load word lists and compile patterns: once in a process, and far longer than any turn takes then."""
    for text in _TURNS:
        facts = read_turn(text)
        rule_turn(facts.candidates, AdmissionContext(turn=facts.turn, at_ms=1, now_ms=1))
