"""Ends that no calendar has are found, and those that it has are not."""

from __future__ import annotations

import pytest
from admission_policy import ruling

from recalld.models.domain.facts import Disposition, Generator
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.impossible_date import find_impossible_end

IMPOSSIBLE = [
    ("I'm on leave until February 30", "February 30"),
    ("I'm on leave until 31 June", "31 June"),
    ("away till the 31st of September, then back", "31st of September"),
    ("open until 2026-02-29", "2026-02-29"),
    ("until 29 February 2027 we freeze", "29 February 2027"),
    ("Ich bin bis 30. Februar im Urlaub", "30. Februar"),
    ("bis zum 31.4. im Urlaub", "31.4."),
    ("en congé jusqu'au 31 avril", "31 avril"),
    ("de vacaciones hasta el 30 de febrero", "30 de febrero"),
]
POSSIBLE = [
    "I'm on leave until 30 June",
    "until February 29",
    "until 29 February 2028",
    "bis 31. Dezember",
    "jusqu'au 1er mai",
    "hasta el 31 de mayo",
    "open until 31",
    "until May 2027",
    "until Friday",
    "born on February 30",
    "until 10:45",
]


@pytest.mark.parametrize(("text", "day"), IMPOSSIBLE)
def test_an_end_that_is_no_day_is_named(text: str, day: str) -> None:
    assert find_impossible_end(text) == day


@pytest.mark.parametrize("text", POSSIBLE)
def test_an_end_that_can_come_or_that_is_no_day_and_month_is_let_through(text: str) -> None:
    assert find_impossible_end(text) == ""


@pytest.mark.parametrize("generator", [Generator.EXPLICIT, Generator.RULE])
def test_nothing_is_stored_that_would_never_end_although_it_was_meant_to(generator: Generator) -> None:
    found = ruling("{I'm on leave until February 30}", generator=generator)
    assert (found.disposition, found.reason) == (Disposition.DROP, AdmissionReason.IMPOSSIBLE_DATE)
    assert found.evidence == ("February 30",)
