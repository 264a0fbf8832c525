"""From a labelled conversation to what the gates see of it, and what is known of each turn.

The two are kept apart: a `Talk` holds no label, and a gate is handed nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from recalld.models.domain.admission import Speaker
from recalld.models.lab.replay_labels import LabelledTurn, StatedFact
from recalld.models.lab.replay_match import bears, places_of
from recalld.models.lab.replay_rows import ReplayRow
from recalld.models.policy.admission.secrets import redact
from recalld.models.policy.save_turn import prepare_turn

UNDATED_MS: Final = 1_767_609_000_000
"""When conversations are taken to have been that say nothing of time: 2026-01-05, 10:30 UTC, a Monday."""
TURN_MS: Final = 1_000
"""Milliseconds from one turn to the next: labels say when a conversation began, and order is all that matters after."""
USER: Final = "user"
"""Whom a turn of the user belongs to where no speaker is named."""


class SpokenTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it is delivered.

    Attributes:
        place: In its conversation, from 0.
        user: Whose memories it may become; of what somebody else says, who it is said to.
        speaker: Who said it.
        text: As it was said.
        at_ms: When, Unix epoch milliseconds.
    """

    place: int
    user: str
    speaker: Speaker
    text: str
    at_ms: int


class Talk(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation as the gates see it: no label is in it."""

    row_id: str
    time_zone: str
    turns: tuple[SpokenTurn, ...]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """What no figure counts, because the gates had not what it takes, or the labels do not hold.

    Attributes:
        rows_disputed: Rows that are marked so.
        rows_without_user: Rows in which nobody has the role `user`.
        rows_not_drawn: Rows of the package that are left out to save time.
        facts_of_others: Facts of turns that no user said: no gate may take them.
        facts_elsewhere: Facts of which not one word that bears them is in the user's words of their turn: they need
            the turns around it.
        facts_ending: Facts that end what the store of the row never held.
        quotes_elsewhere: Quotes that are not in their turn: a slip in the labels. Their facts are matched by their
            statements.
    """

    rows_disputed: int = 0
    rows_without_user: int = 0
    rows_not_drawn: int = 0
    facts_of_others: int = 0
    facts_elsewhere: int = 0
    facts_ending: int = 0
    quotes_elsewhere: int = 0


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation and its labels. `left_out` counts facts alone."""

    talk: Talk
    labels: tuple[LabelledTurn, ...]
    left_out: LeftOut = LeftOut()
    is_undated: bool = False


def case_of(row: ReplayRow, source: str) -> Case:
    """Read a conversation.

    Args:
        row: As the file has it.
        source: For reports, where the row names none.
    """
    began_ms = row.said_ms
    talk = Talk(
        row_id=row.id, time_zone=row.time_zone, turns=_spoken(row, UNDATED_MS if began_ms is None else began_ms)
    )
    labels: list[LabelledTurn] = []
    elsewhere = 0
    for turn in talk.turns:
        if turn.speaker is not Speaker.USER:
            continue
        own = own_words(turn.text)
        facts = [_stated(fact.statement, fact.quote, own) for fact in row.facts if fact.turn == turn.place]
        kept = tuple(fact for fact in facts if fact.places or bears(own, fact.statement))
        elsewhere += len(facts) - len(kept)
        labels.append(
            LabelledTurn(
                row_id=row.id,
                place=turn.place,
                source=row.source or source,
                own=own,
                facts=kept,
                reason="" if facts else row.reason or "",
                is_weak=row.is_weak,
            )
        )
    of_others = sum(row.turns[fact.turn].role is not Speaker.USER for fact in row.facts)
    misquoted = sum(
        bool(fact.quote.strip()) and not places_of(fact.quote, row.turns[fact.turn].text) for fact in row.facts
    )
    left_out = LeftOut(facts_of_others=of_others, facts_elsewhere=elsewhere, quotes_elsewhere=misquoted)
    return Case(talk=talk, labels=tuple(labels), left_out=left_out, is_undated=began_ms is None)


def own_words(text: str) -> str:
    """The user's own words of a turn, as every gate reads them."""
    return prepare_turn(redact(text).text).text


def _stated(statement: str, quote: str, own: str) -> StatedFact:
    return StatedFact(statement=statement or quote, places=places_of(quote, own))


def _spoken(row: ReplayRow, began_ms: int) -> tuple[SpokenTurn, ...]:
    """The turns in order; what others say goes to the user who spoke last, or speaks first."""
    users = [turn.speaker.strip() or USER for turn in row.turns if turn.role is Speaker.USER]
    listening = users[0] if users else USER
    spoken: list[SpokenTurn] = []
    for place, turn in enumerate(row.turns):
        if turn.role is Speaker.USER:
            listening = turn.speaker.strip() or USER
        at_ms = began_ms + place * TURN_MS
        spoken.append(SpokenTurn(place=place, user=listening, speaker=turn.role, text=turn.text, at_ms=at_ms))
    return tuple(spoken)


def total_left_out(parts: Sequence[LeftOut]) -> LeftOut:
    """The sum of counts."""
    return LeftOut(
        rows_disputed=sum(each.rows_disputed for each in parts),
        rows_without_user=sum(each.rows_without_user for each in parts),
        rows_not_drawn=sum(each.rows_not_drawn for each in parts),
        facts_of_others=sum(each.facts_of_others for each in parts),
        facts_elsewhere=sum(each.facts_elsewhere for each in parts),
        facts_ending=sum(each.facts_ending for each in parts),
        quotes_elsewhere=sum(each.quotes_elsewhere for each in parts),
    )
