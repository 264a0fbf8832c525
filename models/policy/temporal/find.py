"""Finding the expressions of time in a text."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from recalld.models.policy.stop_words import vote_language
from recalld.models.policy.temporal.confidence import confidence_of
from recalld.models.policy.temporal.local_calendar import LocalCalendar
from recalld.models.policy.temporal.phrases import phrase_tree
from recalld.models.policy.temporal.resolve import resolve
from recalld.models.policy.temporal.time_span import TimeSpan
from recalld.models.policy.temporal.tokens import is_free_standing, tokenize
from recalld.models.policy.terms import index_terms

TEXT_CHARS_MAX = 4_000
"""Expressions that start later are not looked for: a question says its time near its head, a paste has many dates."""
LOOKAHEAD_CHARS = 600
"""How much further an expression may reach that starts before the cap, so that none is cut in half there."""
SPANS_MAX = 32
"""Further expressions are left out: a text with more of them is a listing."""
OPENINGS_MAX = 256
"""Words that may open an expression and are tried in vain, a number or "in"; with more the text is a table or a log."""
LANGUAGE_CHARS_MAX = 2_000


def find_intervals(text: str, *, now: datetime, zone: ZoneInfo, language: str = "en") -> tuple[TimeSpan, ...]:
    """All expressions of time in a text, in text order, without overlaps.

    At each place the longest phrase wins, and the search goes on behind it. A phrase that means no interval (31
    February) is passed over as a whole, so that no part of it counts. Never raises because of the text.

    Args:
        text: What the user wrote; its first `TEXT_CHARS_MAX` characters count.
        now: The present, an aware datetime in any zone.
        zone: Where the asker's days begin and end.
        language: Whose word tables to use, one of `LANGUAGES`; see `temporal_language`.

    Raises:
        ValueError: `now` has no offset, or there are no tables for the language.
    """
    tree = phrase_tree(language)
    calendar = LocalCalendar(now, zone)
    tokens = tuple(tokenize(text[: TEXT_CHARS_MAX + LOOKAHEAD_CHARS]))
    spans: list[TimeSpan] = []
    at = tried = 0
    while at < len(tokens) and tokens[at].start < TEXT_CHARS_MAX and len(spans) < SPANS_MAX and tried < OPENINGS_MAX:
        match = tree.longest(tokens, at)
        if match is None:
            tried += tree.may_open(tokens[at])
            at += 1
            continue
        at = match.end
        start, end = tokens[match.start].start, tokens[match.end - 1].end
        window = resolve(match, calendar, tokens) if is_free_standing(text, start, end) else None
        if window is None or match.entry is None:
            continue
        spans.append(
            TimeSpan(
                start_ms=window.start_ms,
                end_ms=window.end_ms,
                text_start=start,
                text_end=end,
                text=text[start:end],
                confidence=confidence_of(match),
                rule=match.entry.rule,
            )
        )
    return tuple(spans)


def temporal_language(text: str) -> str:
    """The language whose word tables fit the text, by a vote of its stop words; English unless another clearly wins."""
    return vote_language(index_terms(text[:LANGUAGE_CHARS_MAX]))
