"""Durability: whether something lasts, and if not, until when.

Guards: the store against "I'm in Rome this week" being true for ever. Cost: a look at the sentence; the calendar only
where it names an end. Fails: towards nothing stored.

The rules:

* What is said of today, tonight, this week or the moment is `situational`. So is what ends soon, within
  `SITUATION_DAYS_MAX` days, and what ends at no date ("until the merger"), unless it tells the assistant what to do
  until then, or the user asked to have it saved: then it is stored with its end.
* What ends later, and every deadline, is stored with its end: the end of the last local day, counted from when the turn
  was said, in the user's zone, whatever the clock does on that day. A month or day without a year is the next one.
* Without a zone the day is read in UTC, and one day is added: a record never ends before its user's day does.
* An end that is no day ("until February 30") is `impossible_date`, also in a save.
* A candidate's own expiry stands, unless the words name an earlier one. What is over by now is `expired`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from recalld.models.domain.facts import Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.admission.cue_words import Cue, Sighting
from recalld.models.policy.admission.finding import Finding, Scene
from recalld.models.policy.admission.strike import Strike, struck
from recalld.models.policy.impossible_date import find_impossible_end
from recalld.models.policy.temporal import TemporalRule, TimeSpan, find_intervals
from recalld.models.policy.temporal.local_calendar import (
    LocalCalendar,
    add_months,
    days_of_month,
    month_start,
    week_start,
)

SITUATION_DAYS_MAX: Final = 14
"""What ends within so many days is a situation: a trip, a sprint, a visit. Set by hand."""
END_CHARS_MAX: Final = 120
"""How far behind "until" its time may stand, in characters."""
DAY_MS: Final = 86_400_000
_ARTICLES: Final = frozenset({"the", "a", "our", "my", "your"})
_VERBS: Final = frozenset({"is", "are", "was", "were", "has", "have", "does", "do", "can", "will"})
_YEAR: Final = re.compile(r"\d{4}", re.ASCII)
_ASKED_FOR: Final = frozenset({Generator.EXPLICIT, Generator.CONFIRMED})
_ENDS: Final = (Cue.UNTILS, Cue.WEEK_ENDS, Cue.MONTH_ENDS, Cue.YEAR_ENDS)
_WEEKDAYS: Final = frozenset({TemporalRule.WEEKDAY, TemporalRule.RELATIVE_WEEKDAY})
_FIXED: Final = frozenset({TemporalRule.ISO, TemporalRule.DAY, TemporalRule.PERIOD, TemporalRule.DAY_PART})
_ROLLED_MAX: Final = 60
"""Weeks or years that a bare date is moved forward at most."""


class Durability(msgspec.Struct, frozen=True, kw_only=True):
    """How long a candidate holds.

    Attributes:
        expires_at_ms: Unix epoch milliseconds, exclusive; None: it is meant to last.
        finding: Why it is not stored; None: it may be.
    """

    expires_at_ms: int | None = None
    finding: Finding | None = None


def strike_situational(scene: Scene, place: int) -> Strike | None:
    """`situational` for a clause about today, this week or the moment, unless it says what stands from then on."""
    clause = scene.sentence.clauses[place]
    if clause.has(Cue.STANDING, Cue.ENDINGS):
        return None
    return struck(scene, AdmissionReason.SITUATIONAL, clause.find(Cue.SITUATIONS))


def judge_durability(scene: Scene) -> Durability:
    """How long what a candidate says holds, and whether that is long enough; see the module for the rules."""
    context, given = scene.context, scene.candidate.expires_at_ms
    if (impossible := find_impossible_end(scene.sentence.text[scene.sentence.start : scene.sentence.end])) != "":
        return Durability(finding=Finding(reason=AdmissionReason.IMPOSSIBLE_DATE, evidence=(impossible,)))
    end = _named_end(scene)
    if end is not None and end.at_ms is None and not _is_kept(scene) and given is None:
        return Durability(finding=Finding(reason=AdmissionReason.SITUATIONAL, evidence=(end.words,)))
    ends = [each for each in (given, end.at_ms if end is not None else None) if each is not None]
    if not ends:
        return Durability()
    expires_at_ms = min(ends)
    if expires_at_ms <= max(context.now_ms, context.at_ms):
        return Durability(finding=Finding(reason=AdmissionReason.EXPIRED, evidence=_words(end)))
    is_soon = end is not None and not end.is_deadline and expires_at_ms - context.at_ms < SITUATION_DAYS_MAX * DAY_MS
    if is_soon and not _is_kept(scene):
        return Durability(finding=Finding(reason=AdmissionReason.SITUATIONAL, evidence=_words(end)))
    return Durability(expires_at_ms=expires_at_ms)


class _End(msgspec.Struct, frozen=True):
    """An end that a sentence names.

    Attributes:
        words: The phrase.
        at_ms: When; None: at no date.
        is_deadline: It is what the statement is about.
    """

    words: str
    at_ms: int | None
    is_deadline: bool = False


def _words(end: _End | None) -> tuple[str, ...]:
    return () if end is None else (end.words,)


def _is_kept(scene: Scene) -> bool:
    """Whether it is stored although it ends soon: asked for, or an order until then."""
    if scene.candidate.generator in _ASKED_FOR:
        return True
    return any(clause.has(Cue.IMPERATIVES, Cue.WISHES, Cue.STANDING) for clause in scene.sentence.clauses)


def _named_end(scene: Scene) -> _End | None:
    """The first end that the sentence of a candidate names."""
    sentence = scene.sentence
    phrases = [each for clause in sentence.clauses for each in clause.cues if each.cue in {*_ENDS, Cue.DEADLINES}]
    if scene.candidate.generator in _ASKED_FOR:
        phrases += [each for clause in sentence.clauses for each in clause.cues if each.cue is Cue.SITUATIONS]
    # "Until the end of the month" is found as an "until" as well, and says more as a whole.
    phrases.sort(key=lambda phrase: phrase.cue is Cue.UNTILS)
    calendar = _calendar(scene.context.at_ms, scene.context.zone)
    for phrase in phrases:
        if _is_noun(scene, phrase):
            continue
        at_ms = _calendar_end(phrase.cue, calendar) or _dated_end(scene, phrase, calendar)
        if at_ms is not None and not scene_zone(scene.context.zone)[1]:
            at_ms += DAY_MS
        if at_ms is not None or _is_event(scene, phrase):
            return _End(sentence.words(phrase), at_ms, phrase.cue is Cue.DEADLINES)
    return None


def _is_noun(scene: Scene, phrase: Sighting) -> bool:
    """Whether "till" is the thing with the money: an article stands before it, or a verb right behind."""
    sentence = scene.sentence
    if phrase.cue is not Cue.UNTILS:
        return False
    before = sentence.tokens[phrase.first - 1].text if phrase.first else ""
    behind = sentence.tokens[phrase.past_last].text if phrase.past_last < len(sentence.tokens) else ""
    return before in _ARTICLES or behind in _VERBS


def _is_event(scene: Scene, phrase: Sighting) -> bool:
    """Whether "until" is followed by something that happens, and not by an hour: "open until six" ends nothing."""
    tokens = scene.sentence.tokens
    if phrase.cue is not Cue.UNTILS or phrase.past_last >= len(tokens):
        return False
    following = tokens[phrase.past_last].text
    opens = {each.first for clause in scene.sentence.clauses for each in clause.cues if each.cue is Cue.SUBJECTS}
    return phrase.past_last in opens and not following[0].isdigit()


@lru_cache(maxsize=64)
def scene_zone(zone: str) -> tuple[ZoneInfo, bool]:
    """A zone by its name, and whether it is known; UTC for one that is not."""
    try:
        return (ZoneInfo(zone), True) if zone else (ZoneInfo("UTC"), False)
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC"), False


def _calendar(at_ms: int, zone: str) -> LocalCalendar:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at_ms)
    return LocalCalendar(moment, scene_zone(zone)[0])


def _calendar_end(cue: Cue, calendar: LocalCalendar) -> int | None:
    """The end of the week, month or year that the turn was said in."""
    today = calendar.today
    if cue is Cue.WEEK_ENDS:
        return calendar.midnight_ms(week_start(today) + timedelta(days=7))
    if cue is Cue.MONTH_ENDS:
        return calendar.midnight_ms(month_start(today) + timedelta(days=days_of_month(today.year, today.month)))
    return calendar.midnight_ms(date(today.year + 1, 1, 1)) if cue is Cue.YEAR_ENDS else None


def _dated_end(scene: Scene, phrase: Sighting, calendar: LocalCalendar) -> int | None:
    """The end of the first day, week or month that is named at a phrase or behind it in the sentence."""
    sentence = scene.sentence
    start = sentence.tokens[phrase.first].start
    behind = sentence.text[start : min(sentence.end, start + END_CHARS_MAX)]
    for span in _spans(scene, behind, calendar):
        if span.end_ms is not None:
            return _moved_forward(span, _inner_rule(scene, span, calendar), calendar)
    return None


def _spans(scene: Scene, text: str, calendar: LocalCalendar) -> Iterator[TimeSpan]:
    zone = scene_zone(scene.context.zone)[0]
    yield from find_intervals(text, now=calendar.now, zone=zone, language=scene.sentence.language)


def _inner_rule(scene: Scene, span: TimeSpan, calendar: LocalCalendar) -> TemporalRule:
    """What kind of time stands behind "until"."""
    if span.rule is not TemporalRule.UNTIL:
        return span.rule
    _, _, behind = span.text.partition(" ")
    return next((each.rule for each in _spans(scene, behind, calendar)), span.rule)


def _moved_forward(span: TimeSpan, rule: TemporalRule, calendar: LocalCalendar) -> int | None:
    """An end that has not come yet: the temporal grammar reads a bare weekday, day or month as the latest one."""
    end_ms = span.end_ms
    if end_ms is None or end_ms > calendar.now_ms or rule in _FIXED or _YEAR.search(span.text) is not None:
        return end_ms
    day = calendar.date_at(end_ms)
    for count in range(1, _ROLLED_MAX):
        moved = day + timedelta(days=7 * count) if rule in _WEEKDAYS else add_months(day, 12 * count)
        if (moved_ms := calendar.midnight_ms(moved)) > calendar.now_ms:
            return moved_ms
    return end_ms
