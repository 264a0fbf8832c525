"""What a query's expressions of time are worth to a recall: which windows, how sure, and whether they are all it asks.

With a time zone the intervals are the asker's own. Without one they are read in UTC: a day may then be off by up to
14 hours on either side, so every confidence is scaled by `ZONE_UNKNOWN_FACTOR`, which leaves a boost and takes away
what only a sure interval may do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from recalld.models.domain.time_window import TimeWindow
from recalld.models.policy import word_lists
from recalld.models.policy.apostrophes import straight_apostrophes
from recalld.models.policy.stop_words import LANGUAGES, stop_words
from recalld.models.policy.temporal.time_span import TimeSpan, boost, overlaps
from recalld.models.policy.terms import query_terms
from recalld.models.policy.turn.inflections import inflection_key

ZONE_UNKNOWN_FACTOR = 0.5
"""Set by hand: below `SURE_CONFIDENCE_MIN` whatever the rule, and still half of the boost."""
SURE_CONFIDENCE_MIN = 0.8
"""From here on an interval counts as sure: dates, days, weeks and months that were named; not a bare year, "recently",
or a month whose year is guessed."""
WINDOWS_MAX = 8
"""Windows a store is asked for; the surest expressions go first."""
_ELIDED = re.compile(r"\b(?:[cdjlmnst]|qu)'|(?<=\w)-(?:t-)?(?=\w)", re.IGNORECASE)
"""What ties short words to their neighbours in French: an elided vowel ("qu'avons") and an inversion ("avons-nous")."""


class QueryTimes(msgspec.Struct, frozen=True, kw_only=True):
    """The expressions of time of one query.

    Attributes:
        spans: In text order, their confidence scaled where the zone is not known.
        is_zone_known: Whether the intervals are the asker's own days.
        asks_only_for_time: Whether nothing else is asked for: "what did we decide yesterday?".
        phrases: The expressions as they stand in the query, longest first, apostrophes straight.
        asking_words: Where nothing else is asked for, the folded words that ask ("decide").
    """

    spans: tuple[TimeSpan, ...] = ()
    is_zone_known: bool = True
    asks_only_for_time: bool = False
    phrases: tuple[str, ...] = ()
    asking_words: tuple[str, ...] = ()

    @property
    def windows(self) -> tuple[TimeWindow, ...]:
        """The stretches of time spoken of, without overlaps."""
        surest = sorted(self.spans, key=lambda span: -span.confidence)[:WINDOWS_MAX]
        return merged(TimeWindow(start_ms=span.start_ms, end_ms=span.end_ms) for span in surest)

    def holds(self, *moments_ms: int) -> bool | None:
        """Whether any of the moments lies in any interval; None when the query speaks of none."""
        if not self.spans:
            return None
        return any(overlaps(span, at_ms) for span in self.spans for at_ms in moments_ms)

    def boost(self, *moments_ms: int) -> float:
        """The factor on the ordering score of a record with these times; see `time_span.boost`."""
        return max((boost(self.spans, at_ms) for at_ms in moments_ms), default=1.0)

    def answers_alone(self, *moments_ms: int) -> bool:
        """Whether a record of these times answers the query by its time alone, whatever its words.

        Only where the query asks for nothing else, because then neither a cosine nor a relevance model has anything to
        compare the record with, and only inside an interval that is sure.
        """
        sure = [span for span in self.spans if span.confidence >= SURE_CONFIDENCE_MIN]
        return self.asks_only_for_time and any(overlaps(span, at_ms) for span in sure for at_ms in moments_ms)


NO_TIMES = QueryTimes()
"""Of a query that speaks of no time."""


def query_times(
    text: str, spans: Sequence[TimeSpan], *, is_zone_known: bool, languages: Iterable[str] = LANGUAGES
) -> QueryTimes:
    """Weigh the expressions of time of a text.

    Args:
        text: The user's own words.
        spans: What `find_intervals` found in it.
        is_zone_known: Whether it was read in the asker's zone, and not in UTC for want of one.
        languages: Whose lists of asking words apply, each on its own.
    """
    weighed = tuple(spans)
    if not is_zone_known:
        weighed = tuple(
            msgspec.structs.replace(span, confidence=span.confidence * ZONE_UNKNOWN_FACTOR) for span in spans
        )
    if not spans:
        return QueryTimes(is_zone_known=is_zone_known)
    rest, is_bare = _rest_of(text, spans), _is_bare(text, spans, languages)
    phrases = {straight_apostrophes(text)[span.text_start : span.text_end] for span in spans}
    return QueryTimes(
        spans=weighed,
        is_zone_known=is_zone_known,
        asks_only_for_time=is_bare,
        phrases=tuple(sorted(phrases, key=lambda phrase: (-len(phrase), phrase))),
        asking_words=tuple(_french_terms(rest)) if is_bare else (),
    )


def without_times(text: str, times: QueryTimes) -> str:
    """A query, or a clause of it, without its expressions of time; itself where little else would be left.

    A memory seldom says when it was made, so to a relevance model the time is something asked for that it lacks.

    Args:
        text: The query, apostrophes straight.
        times: Its expressions of time.
    """
    if times.asks_only_for_time:
        return text
    rest = text
    for phrase in times.phrases:
        rest = rest.replace(phrase, " ")
    rest = " ".join(rest.split())
    return rest if rest != text and query_terms(rest) else text


def merged(windows: Iterable[TimeWindow]) -> tuple[TimeWindow, ...]:
    """The same stretches of time, earliest first, those that touch or overlap made one."""
    joined: list[TimeWindow] = []
    for window in sorted(windows, key=lambda each: (each.start_ms is not None, each.start_ms or 0)):
        last = joined[-1] if joined else None
        if last is not None and _touch(last, window):
            joined[-1] = TimeWindow(start_ms=last.start_ms, end_ms=_later(last.end_ms, window.end_ms))
        else:
            joined.append(window)
    return tuple(joined)


def _touch(earlier: TimeWindow, later: TimeWindow) -> bool:
    return earlier.end_ms is None or later.start_ms is None or later.start_ms <= earlier.end_ms


def _later(one_ms: int | None, other_ms: int | None) -> int | None:
    return None if one_ms is None or other_ms is None else max(one_ms, other_ms)


def _is_bare(text: str, spans: Sequence[TimeSpan], languages: Iterable[str]) -> bool:
    """Whether what is left of the text without its times only asks "what is there?", in one of the languages."""
    rest = _rest_of(text, spans)
    terms = query_terms(rest)
    return any(
        all(_asks(term, language) for term in (_french_terms(rest) if language == "fr" else terms))
        for language in languages
        if language in LANGUAGES
    )


def _rest_of(text: str, spans: Sequence[TimeSpan]) -> str:
    """The text without its expressions of time."""
    rest = text
    for span in reversed(spans):
        rest = f"{rest[: span.text_start]} {rest[span.text_end :]}"
    return rest


def _french_terms(text: str) -> list[str]:
    """The terms of a French text, with what is tied together by an apostrophe or a hyphen taken apart."""
    return query_terms(_ELIDED.sub(" ", straight_apostrophes(text)))


def _asks(term: str, language: str) -> bool:
    listed = _asking_words(language) | stop_words()[language]
    return term in listed or (language == "en" and inflection_key(term) in listed)


@cache
def _asking_words(language: str) -> frozenset[str]:
    """One language's list, English words by what they have in common with their inflections as well."""
    words = word_lists.words(f"time_asking.{language}.txt")
    return words | {inflection_key(word) for word in words} if language == "en" else words
