"""Days that no calendar has, named as the end of something: "on leave until February 30", "bis 31. Juni".

Guards: the store against a memory that was meant to end and never does, because its end is no day. Cost: one search for
"until", then a look at the few words behind it. Fails: towards nothing found; only an end that is plainly a day and a
month is looked at. The 29th of February exists where no year is named.
"""

from __future__ import annotations

import re
from calendar import monthrange
from functools import cache
from typing import Final

from recalld.models.policy.temporal.words import shipped_words
from recalld.models.policy.term_text import fold_word

ENDS_MAX: Final = 8
"""Ends of one text that are looked at."""
_LEAP_YEAR: Final = 2000
"""Its February has as many days as any."""
_UNTIL: Final = r"(?:until|till|up to|through|bis(?: zum| einschließlich)?|jusqu['\u2019]?(?: ?au| ?à)?|hasta(?: el)?)"
_MONTHS: Final = 12


def find_impossible_end(text: str) -> str:
    """The first day named as an end that does not exist, as it is written; empty where there is none."""
    for count, found in enumerate(_pattern().finditer(text)):
        if count >= ENDS_MAX:
            break
        if not _exists(found):
            return found["date"].strip()
    return ""


def _exists(found: re.Match[str]) -> bool:
    if found["iso"] is not None:
        year, month, day = (int(found[each]) for each in ("iso_year", "iso_month", "iso_day"))
    elif found["dotted"] is not None:
        year, month, day = int(found["d_year"] or _LEAP_YEAR), int(found["d_month"]), int(found["d_day"])
    else:
        name = found["month"] or found["first_month"]
        month, day = _month_numbers()[fold_word(name.rstrip("."))], int(found["day"] or found["second_day"])
        year = int(found["year"] or found["last_year"] or _LEAP_YEAR)
    return 1 <= month <= _MONTHS and year >= 1 and 1 <= day <= monthrange(year, month)[1]


@cache
def _month_numbers() -> dict[str, int]:
    """The number of each month by its names in every language."""
    return {
        fold_word(name): number
        for words in shipped_words().values()
        for names in (words.months, words.short_months)
        for number, same in enumerate(names, 1)
        for name in same
    }


@cache
def _pattern() -> re.Pattern[str]:
    tables = [each for words in shipped_words().values() for each in (words.months, words.short_months)]
    written = {name for table in tables for same in table for name in same}
    months = "|".join(map(re.escape, sorted(written, key=len, reverse=True)))
    return re.compile(
        rf"(?<!\w){_UNTIL}\s+(?:the\s+|den\s+|le\s+|el\s+)?(?P<date>"
        r"(?P<iso>(?P<iso_year>\d{4})-(?P<iso_month>\d{2})-(?P<iso_day>\d{2}))(?!\d)|"
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?(?P<month>{months})\b"
        r"(?:,?\s+(?:de\s+)?(?P<year>\d{4}))?|"
        rf"(?P<first_month>{months})\s+(?:the\s+)?(?P<second_day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:])"
        r"(?:,?\s+(?P<last_year>\d{4}))?|"
        r"(?P<dotted>(?P<d_day>\d{1,2})\.(?P<d_month>\d{1,2})\.(?P<d_year>\d{4})?)(?!\d))",
        re.IGNORECASE,
    )
