"""Everything a recall takes from the words of its turn, before anything is searched.

Guards: the others' time. For a pasted text this is most of a recall's work, so each step is one function of the text
alone, which can run wherever it holds up nobody.
Cost: linear in what `turn_cut` leaves of the text, and one search for host text in all of it.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from recalld.models.domain.reasons import RecallReason
from recalld.models.domain.recall import RecallQuery
from recalld.models.domain.turn_parts import MessagePart
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.exclusions import own_text_of
from recalld.models.policy.language import is_english
from recalld.models.policy.temporal import find_intervals
from recalld.models.policy.temporal.query_times import NO_TIMES, QueryTimes, query_times
from recalld.models.policy.terms import query_terms
from recalld.models.policy.turn.turn_input import NOT_SUPPLIED, TurnInput
from recalld.models.policy.turn.verdict import TurnGateVerdict
from recalld.models.policy.turn_cut import cut_turn
from recalld.models.policy.turn_gate import decide, decide_turn
from recalld.models.policy.visible import has_searchable

_UTC: Final = "UTC"
_FIRST_MS: Final = round(datetime(2, 1, 1, tzinfo=UTC).timestamp() * 1000)
_LAST_MS: Final = round(datetime(9_998, 1, 1, tzinfo=UTC).timestamp() * 1000)
_OF_ALL_LANGUAGES: Final = ("xyz \u3042 abc", "xyz \u6771 abc", "gestern xyz", "2 + 2 x", "ok ok xyz", "why")
"""Messages that no language claims, so that each one's lists are looked into, unspaced ones and a time among them."""
_NOTHING_TO_READ: Final = frozenset({RecallReason.NO_USER_TEXT, RecallReason.NO_SEARCHABLE_TERMS})


class QueryReading(msgspec.Struct, frozen=True, kw_only=True):
    """What a turn says.

    Attributes:
        skip: Why there is nothing to search for; then the rest is empty. None: search.
        text: What to look for: the user's own words, host text removed and apostrophes straight, or a model's query.
        terms: Their searchable terms.
        is_english: Whether the relevance models can read them.
        own_text: The user's words folded, to be compared with memories that only say the same; empty in a search on
            purpose, which wants to find those too.
        times: The expressions of time in the user's words.
    """

    skip: RecallReason | None = None
    text: str = ""
    terms: tuple[str, ...] = ()
    is_english: bool = True
    own_text: str = ""
    times: QueryTimes = NO_TIMES


def turn_of(query: RecallQuery, *, now_ms: int) -> TurnInput:
    """The turn of a recall, as the turn gate takes it.

    The server's clock stands in for a present that the runtime did not give, and UTC for its zone; see
    `temporal.query_times` for what that costs.

    Args:
        query: The request; its `time_zone` has been checked.
        now_ms: The server's present, Unix epoch milliseconds.
    """
    return TurnInput(
        parts=query.parts or (MessagePart(text=query.text),),
        recent=NOT_SUPPLIED if query.turns is None else query.turns,
        now=_moment(now_ms if query.now_ms is None else query.now_ms),
        zone=ZoneInfo(query.time_zone or _UTC),
    )


def _moment(at_ms: int) -> datetime | None:
    """The moment as an aware datetime; None at the very ends of the calendar, where there is no yesterday to count."""
    return datetime.fromtimestamp(at_ms / 1000, tz=UTC) if _FIRST_MS <= at_ms < _LAST_MS else None


def prepare_reading() -> None:
    """Read the word lists and tables of all languages, which are kept, so that nobody's first turn waits for them."""
    for text, recent in itertools.product(_OF_ALL_LANGUAGES, ((), ("",))):
        turn = TurnInput(parts=(MessagePart(text=text),), recent=recent, now=_moment(_FIRST_MS), zone=ZoneInfo(_UTC))
        read_verdict(decide(turn, find_times=find_intervals), text, is_unconditional=True, is_search=False)


def read_query(text: str, *, is_search: bool) -> QueryReading:
    """Read a turn of which nothing but its text is known.

    Args:
        text: As the runtime sent it.
        is_search: Whether the user asked to look something up: then whatever can be searched for is.
    """
    return read_verdict(decide_turn(text), text, is_unconditional=is_search, is_search=is_search)


def read_verdict(
    verdict: TurnGateVerdict, text: str, *, is_unconditional: bool, is_search: bool, is_zone_known: bool = True
) -> QueryReading:
    """Read a turn that has been decided about.

    Args:
        verdict: What the turn gate says.
        text: The message as the runtime sent it.
        is_unconditional: Search whatever the gate says, if there is anything to search for.
        is_search: Whether the user asked to look something up: then host text is searched for when there is no other.
        is_zone_known: Whether the verdict's times were read in the user's own zone.
    """
    if verdict.reason is not None and not (is_search or (is_unconditional and verdict.reason not in _NOTHING_TO_READ)):
        return QueryReading(skip=verdict.reason)
    read = cut_turn(verdict.user_text or text)
    own = straight_apostrophes(read)
    if not has_searchable(own):
        # Not even a search on purpose has anything to go by: what is near to punctuation is near to everything.
        return QueryReading(skip=RecallReason.NO_SEARCHABLE_TERMS)
    wanted = straight_apostrophes(verdict.query) if has_searchable(verdict.query) else own
    # Cutting out the terms is most of the work, and the gate has done it for the message itself.
    terms = verdict.evidence.terms if verdict.query == read else ()
    return QueryReading(
        text=wanted,
        terms=terms or tuple(query_terms(wanted)),
        is_english=is_english(wanted),
        own_text="" if is_search else own_text_of(verdict.user_text or text),
        times=query_times(
            cut_turn(verdict.user_text),
            verdict.evidence.spans,
            is_zone_known=is_zone_known,
            languages=verdict.evidence.languages,
        ),
    )
