"""What is known of a turn of a labelled conversation, and what a gate made of it."""

from __future__ import annotations

import msgspec

from recalld.models.domain.facts import Span


class StatedFact(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled fact.

    Attributes:
        statement: In anybody's words.
        places: Where its quote stands in the user's own words of the turn; empty: it is told by its words.
    """

    statement: str
    places: tuple[Span, ...] = ()


class LabelledTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a turn of a user.

    Attributes:
        row_id: Its conversation.
        place: In that, from 0.
        source: Where it comes from, for reports.
        own: The user's own words, as the gates read them: without secrets, and what a host put around them.
        facts: What it states that is worth storing.
        also_right: Further facts: a record of one is no mistake, and nothing is missed without it.
        reason: Why it states nothing, for reports.
        is_weak: Whether its labels allow figures of recall alone.
    """

    row_id: str
    place: int
    source: str
    own: str
    facts: tuple[StatedFact, ...] = ()
    also_right: tuple[StatedFact, ...] = ()
    reason: str = ""
    is_weak: bool = False


class WrittenRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate made of a turn.

    Attributes:
        statement: What is stored.
        quote: The words that it was made of.
        rule: What found it, as in `rule:employer/works_at`.
        also: What else did.
    """

    statement: str
    quote: str
    rule: str
    also: tuple[str, ...] = ()


class TurnResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a gate made of a turn.

    Attributes:
        records: What it wrote: records made, and records closed by an end.
        restated: What it found to be stored already. No record, but not missed.
        unmet: Ends of what was never stored.
        observed: Facts that wait for more evidence.
        proposed: Facts that wait for the user's yes.
        elapsed_ms: Time that the gate took.
    """

    records: tuple[WrittenRecord, ...] = ()
    restated: tuple[WrittenRecord, ...] = ()
    unmet: tuple[WrittenRecord, ...] = ()
    observed: int = 0
    proposed: int = 0
    elapsed_ms: float = 0.0
