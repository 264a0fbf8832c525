"""The temporal grammar: which stretches of time a text speaks of.

Guards: nothing. A span found here may raise candidates whose memory falls into it; it never silences anybody.
Cost: linear in the text, of which the first `TEXT_CHARS_MAX` characters are looked at.
Fails: towards no span. What is impossible (31 February) or only looks temporal ("we march on") gives none.

English, German, French and Spanish share the rules and differ in their word tables. The languages are never merged:
"hier" is yesterday in French and here in German.

The rules are written here rather than taken from a library because the general date parsers for Python that were tried
answer with an instant where a memory needs an interval ("last week" becomes a moment of that week, "since Monday" a
date), take verbs and modals for months, or salvage half of an impossible date. Each is good at what it is for, which is
reading a field that is known to hold a date.
"""

from recalld.models.policy.stop_words import LANGUAGES
from recalld.models.policy.temporal.find import TEXT_CHARS_MAX, find_intervals, temporal_language
from recalld.models.policy.temporal.time_span import TemporalRule, TimeSpan, boost, overlaps

__all__ = [
    "LANGUAGES",
    "TEXT_CHARS_MAX",
    "TemporalRule",
    "TimeSpan",
    "boost",
    "find_intervals",
    "overlaps",
    "temporal_language",
]
