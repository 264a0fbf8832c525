"""What the turn gate saw and decided, as the ledger keeps it: rules, families and counts, and no word of the user."""

from __future__ import annotations

import msgspec


class IntervalReport(msgspec.Struct, frozen=True, kw_only=True):
    """One expression of time.

    Attributes:
        rule: The rule of the grammar that read it.
        start_ms: Unix epoch milliseconds; None: unbounded.
        end_ms: As `start_ms`; itself outside.
        confidence: In (0, 1]; halved where the user's zone is not known.
    """

    rule: str
    start_ms: int | None
    end_ms: int | None
    confidence: float


class TurnReport(msgspec.Struct, frozen=True, kw_only=True):
    """One turn's decision.

    Attributes:
        answer: `run`, `skip`, `defer` or `refuse`.
        decided_by: The rule.
        cause: What kept the rules from deciding, or failed on the way; empty when nothing did.
        languages: Whose word lists were used.
        cue_families: Families of the history cues found.
        terms: Salient terms of the message.
        terms_posted: Those that the store has; None when it was not asked.
        entities: Names known to the store that the message mentions.
        reference: Why the message leans on the turns before it; empty when it does not.
        local_references: Phrases that point at the last turns.
        intervals: The expressions of time.
        is_zone_known: Whether the intervals are days of the user's own zone.
        asks_only_for_time: Whether the turn asks for nothing but a time.
        model: What came of asking a model: `answered`, a fault of its answer, or why there was none; empty when nobody
            was asked.
        model_prompt: Version of the prompt's wording; empty when nobody was asked.
        model_chars: What the model read and wrote, in characters; 0 when nobody was asked, or on a repeat.
        query_fallback: The model said to search but gave no usable query.
        is_repeat: The same turn had been decided before, and that decision was used.
    """

    answer: str
    decided_by: str
    cause: str = ""
    languages: tuple[str, ...] = ()
    cue_families: tuple[str, ...] = ()
    terms: int = 0
    terms_posted: int | None = None
    entities: int = 0
    reference: str = ""
    local_references: int = 0
    intervals: tuple[IntervalReport, ...] = ()
    is_zone_known: bool = True
    asks_only_for_time: bool = False
    model: str = ""
    model_prompt: str = ""
    model_chars: int = 0
    query_fallback: bool = False
    is_repeat: bool = False
