from __future__ import annotations

import pytest

from recalld.models.domain.records import MemoryKind
from recalld.models.policy import word_lists
from recalld.models.policy.slot_values import (
    are_rivals,
    holds_value,
    is_multi_valued,
    is_single_valued,
    stated_slots,
    value_key,
)
from recalld.models.policy.slots import slots
from recalld.models.policy.statements import rule_book


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("Works at Acme", "employer", "Acme"),
        ("I work for Ernst & Young in Berlin", "employer", "Ernst & Young"),
        ("My employer is Acme Inc.", "employer", "Acme Inc"),
        ("Lives in Rio de Janeiro, by the sea", "location", "Rio de Janeiro"),
        ("The user's time zone is Europe/Lisbon.", "time_zone", "Europe/Lisbon"),
        ("My pronouns are they/them", "pronouns", "they/them"),
        ("Our warehouse is Snowflake", "data_warehouse", "Snowflake"),
        ("Deploys services to a k8s cluster", "deploy_target", "Kubernetes"),
        ("I'm on CET", "time_zone", ""),
        ("I'm a nurse", "role", ""),
    ],
)
def test_a_records_words_say_which_slot_they_fill_and_with_what(text: str, slot: str, value: str) -> None:
    [stated] = stated_slots(text, MemoryKind.FACT)
    assert (stated.slot, stated.subject, stated.value) == (slot, "", value)
    assert stated.is_single_valued is is_single_valued(slot)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Works at Acme", MemoryKind.NOTE),
        ("Alice works at Acme", MemoryKind.FACT),
        ("I no longer work at Acme", MemoryKind.FACT),
        ("Do I work at Acme?", MemoryKind.FACT),
        ("Works at Acme. " + "And so on. " * 80, MemoryKind.FACT),
    ],
)
def test_what_is_not_stated_of_the_user_fills_no_slot(text: str, kind: MemoryKind) -> None:
    assert stated_slots(text, kind) == ()


def test_every_slot_is_in_exactly_one_of_the_lists() -> None:
    single = word_lists.words("slot_values/single_valued.txt")
    multiple = word_lists.words("slot_values/multi_valued.txt")
    own = {slot.id for slot in rule_book.slot_table().slot}
    assert single & multiple == set()
    assert single | multiple == {slot.id for slot in slots()} | own


def test_what_the_rules_of_statements_hold_for_several_values_is_listed_so() -> None:
    assert [slot for slot in rule_book.slot_table().many if not is_multi_valued(slot)] == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("k8s", "Kubernetes."),
        ("acme", "Acme Inc."),
        ("Acme GmbH", "ACME"),
        ("  Porto ", "porto"),
        ("bigquery", "BigQuery"),
    ],
)
def test_spellings_of_one_value_have_one_key(one: str, other: str) -> None:
    assert value_key(one) == value_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("UTC+2", "UTC-2"), ("15th", "16th"), ("2,400", "2,450"), ("C", "C++"), ("Co", "Acme Co"), ("Porto", "Portugal")],
)
def test_different_values_have_different_keys(one: str, other: str) -> None:
    assert value_key(one) != value_key(other)


@pytest.mark.parametrize(
    ("text", "value", "is_held"),
    [
        ("Works at Acme.", "acme", True),
        ("Works at the (Acme) plant", "Acme", True),
        ("Likes Acme\u2019s canteen", "Acme", True),
        ("Works at Acme Robotics", "Acme Robotics", True),
        ("Works at Acme Robotics", "Robotics Acme", False),
        ("Works at Acmeville", "Acme", False),
        ("Deploys to k8s", "Kubernetes", True),
        ("Works at Acme", "", False),
        ("", "Acme", False),
    ],
)
def test_a_text_holds_a_value_in_whole_words(text: str, value: str, *, is_held: bool) -> None:
    assert holds_value(text, value) is is_held


@pytest.mark.parametrize(
    ("text", "other", "are"),
    [
        ("Always use metric", "Prefers imperial units", True),
        ("I think in miles", "I think in kilometres", True),
        ("I think in miles", "Prefers Celsius", False),
        ("Metric, please", "Always use metric", False),
        ("Prefers tea", "Prefers rum", None),
    ],
)
def test_words_of_which_only_one_can_hold_are_rivals(text: str, other: str, *, are: bool | None) -> None:
    assert are_rivals(text, other) is are
    assert are_rivals(other, text) is are
