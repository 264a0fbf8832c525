"""A guess at the kind of an explicitly saved statement: preference, procedure, otherwise fact."""

from __future__ import annotations

import re

from recalld.models.domain.records import MemoryKind
from recalld.models.policy.save_grammar import SaveGrammar

_LIST_ITEM = re.compile(r"(?m)^[ \t]*(?:\d{1,2}[.)]|[-*\u2022])[ \t]+\S")
_STEPS_MIN = 2
"""Distinct step words or list items that make a procedure; one "then" is only a word."""


def guess_kind(statement: str, grammar: SaveGrammar) -> MemoryKind:
    """Guess from the statement's own words; a wrong guess costs order in listings, never recall."""
    items = len(_LIST_ITEM.findall(statement))
    steps = {match.group().lower() for match in grammar.procedure.finditer(statement)}
    if items >= _STEPS_MIN or len(steps) >= _STEPS_MIN or (steps and ":" in statement):
        return MemoryKind.PROCEDURE
    return MemoryKind.PREFERENCE if grammar.preference.search(statement) is not None else MemoryKind.FACT
