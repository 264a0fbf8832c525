"""How sure a rule is of its interval.

The figures are set by hand, in this order: a written date is beyond doubt; a word for a day or a week is nearly so;
what leaves a year or week to be guessed is less sure; "recently" is a hint. They only scale a boost.
"""

from __future__ import annotations

from types import MappingProxyType

from recalld.models.policy.temporal.phrases import Match
from recalld.models.policy.temporal.slots import Slot
from recalld.models.policy.temporal.time_span import TemporalRule

_CERTAIN, _SURE, _LIKELY, _OPEN, _HINT = 1.0, 0.95, 0.85, 0.6, 0.3
_BY_RULE = MappingProxyType(
    {
        TemporalRule.ISO: _CERTAIN,
        TemporalRule.NUMERIC_DATE: _SURE,
        TemporalRule.DAY: _SURE,
        TemporalRule.DAY_PART: _LIKELY,
        TemporalRule.PERIOD: _SURE,
        TemporalRule.MONTH_DAY: _SURE,
        TemporalRule.MONTH_DAYS: _SURE,
        TemporalRule.MONTH: _SURE,
        TemporalRule.RELATIVE_MONTH: _LIKELY,
        TemporalRule.WEEKDAY: _LIKELY,
        TemporalRule.RELATIVE_WEEKDAY: _LIKELY,
        TemporalRule.YEAR: _OPEN,
        TemporalRule.PAST_UNITS: _SURE,
        TemporalRule.UNITS_AGO: _LIKELY,
        TemporalRule.RECENTLY: _HINT,
    }
)
_WITHOUT_YEAR = MappingProxyType(
    {TemporalRule.MONTH: _OPEN, TemporalRule.MONTH_DAY: _LIKELY, TemporalRule.MONTH_DAYS: _LIKELY}
)


def confidence_of(match: Match) -> float:
    """The confidence of a phrase, in (0, 1]; one made of others is as sure as the least sure of them."""
    if match.entry is None or match.points:
        return min((confidence_of(point) for point in match.points), default=_HINT)
    rule = match.entry.rule
    if Slot.YEAR not in match.values and rule in _WITHOUT_YEAR:
        return _WITHOUT_YEAR[rule]
    return _BY_RULE[rule]
