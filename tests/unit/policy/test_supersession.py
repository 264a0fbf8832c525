from __future__ import annotations

import pytest

from recalld.models.domain.admission_store import SlotHolder, SlotValue
from recalld.models.domain.records import Memory, MemoryKind, MemorySource, MemoryStatus
from recalld.models.policy.supersession import is_ended, supersedes


def holder(text: str, value: str = "", *, slot: str = "employer", is_single_valued: bool = True) -> SlotHolder:
    memory = Memory(
        id="mem-1",
        user="ines",
        text=text,
        kind=MemoryKind.FACT,
        scope="",
        cues=(),
        asks=(),
        source=MemorySource.EXPLICIT,
        status=MemoryStatus.ACTIVE,
        created_at_ms=1,
        updated_at_ms=1,
        expires_at_ms=None,
        revision=1,
    )
    return SlotHolder(memory=memory, value=SlotValue(slot=slot, value=value, is_single_valued=is_single_valued))


def stated(value: str = "", *, slot: str = "employer", is_single_valued: bool = True) -> SlotValue:
    return SlotValue(slot=slot, value=value, is_single_valued=is_single_valued)


@pytest.mark.parametrize(
    ("newer", "older", "is_superseded"),
    [
        ("Initech", "Globex", True),
        ("Globex", "Globex", False),
        ("Globex Inc.", "globex", False),
        ("Berlin", "Berlin, Germany", False),
        ("Berlin, Germany", "Berlin", True),
        ("UTC-2", "UTC+2", True),
        ("2,450", "2,400", True),
    ],
)
def test_another_value_supersedes_and_a_part_of_it_does_not(newer: str, older: str, *, is_superseded: bool) -> None:
    assert supersedes("new words", stated(newer), holder("old words", older)) is is_superseded


def test_a_value_that_is_known_on_one_side_is_looked_for_in_the_words_of_the_other() -> None:
    assert supersedes("x", stated("manager"), holder("The user is a nurse"))
    assert not supersedes("x", stated("nurse"), holder("The user is a nurse"))
    assert supersedes("Works somewhere", stated(), holder("x", "Acme"))
    assert not supersedes("Works at Acme still", stated(), holder("x", "Acme"))


def test_without_any_value_statements_that_cannot_be_the_same_fact_supersede() -> None:
    assert supersedes("Works from 8 to 4", stated(), holder("Works from 9 to 17"))
    assert not supersedes("Works from 9 to 17.", stated(), holder("Works from 9 to 17"))


def test_without_any_value_words_of_which_only_one_can_hold_decide() -> None:
    assert supersedes("Use imperial units", stated(slot="units"), holder("Use metric", slot="units"))
    assert not supersedes("Prefers Celsius", stated(slot="units"), holder("Thinks in miles", slot="units"))


def test_a_slot_of_several_values_is_superseded_by_nothing() -> None:
    assert not supersedes("x", stated("Polish", is_single_valued=False), holder("y", "German"))
    assert not supersedes("x", stated("Polish"), holder("y", "German", is_single_valued=False))
    assert not supersedes("x", stated("Polish", slot="spoken_language"), holder("y", "German"))


@pytest.mark.parametrize(
    ("ended", "text", "value", "is_over"),
    [
        ("Acme", "Works at Acme", "Acme", True),
        ("acme inc", "Works at Acme", "Acme", True),
        ("Acme", "Works at Acme Robotics", "Acme Robotics", True),
        ("Acme Berlin", "Works at Acme", "Acme", False),
        ("Globex", "Works at Acme", "Acme", False),
        ("Acme", "Works at Acme", "", True),
        ("Globex", "Works at Acme", "", False),
    ],
)
def test_an_ending_means_the_record_of_its_value(ended: str, text: str, value: str, *, is_over: bool) -> None:
    assert is_ended(ended, holder(text, value)) is is_over


def test_an_ending_without_value_means_what_a_slot_of_one_value_holds() -> None:
    assert is_ended("", holder("Works at Acme", "Acme"))
    assert not is_ended("", holder("x", "Polish", is_single_valued=False))
    assert not is_ended("", holder("x", "Polish", slot="spoken_language"))
