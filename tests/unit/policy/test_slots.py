from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.policy.slots import TEXT_CHARS_MAX, SlotError, match_slots, parse_slots, slots

MATCHES = [(slot.id, text) for slot in slots() for text in slot.matches]
MISSES = [(slot.id, text) for slot in slots() for text in slot.misses]
SLOTS_MIN = 40
MINIMAL = 'id = "s"\ncue = "c"\nasks = ["Which?"]\nmatches = ["x"]\nmisses = ["y"]\n'


def ids(text: str) -> list[str]:
    return [match.slot.id for match in match_slots(text)]


def test_there_are_slots_enough_and_each_says_what_it_must_and_must_not_match() -> None:
    assert len(slots()) >= SLOTS_MIN
    assert all(slot.matches and slot.misses for slot in slots())


@pytest.mark.parametrize(("slot_id", "text"), MATCHES)
def test_a_slot_matches_what_it_must(slot_id: str, text: str) -> None:
    assert slot_id in ids(text)


@pytest.mark.parametrize(("slot_id", "text"), MISSES)
def test_a_slot_does_not_match_what_it_must_not(slot_id: str, text: str) -> None:
    assert slot_id not in ids(text)


@pytest.mark.parametrize(
    "text",
    [
        "Alice works at Acme as a data engineer",
        "My wife works at Acme",
        "Her laptop runs Arch Linux",
        "Their CI runs on Jenkins",
        "Do I work at Acme?",
        "If we used Postgres, it would be faster",
        "Maybe we use Postgres",
        "The meeting is on Monday",
        "",
    ],
)
def test_what_is_said_of_others_asked_or_supposed_fills_no_slot(text: str) -> None:
    assert ids(text) == []


def test_the_cue_names_what_was_found_and_not_what_it_replaced() -> None:
    (match,) = [match for match in match_slots("Switched from React Native to Flutter") if match.slot.id == "framework"]
    assert match.cue == "Framework: Flutter"


def test_a_curly_apostrophe_is_no_obstacle() -> None:
    assert ids("I\u2019m on CET") == ids("I'm on CET") == ["time_zone"]


def test_a_long_text_fills_no_slot() -> None:
    text = "The user works at Acme. "
    assert ids(text) == ["employer"]
    assert ids(text * (TEXT_CHARS_MAX // len(text) + 1)) == []


@given(st.text(max_size=300))
def test_any_text_is_matched_without_a_fault(text: str) -> None:
    assert len(set(ids(text))) == len(ids(text))


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("[[slot]]\n", "missing required field"),
        (f"[[slot]]\n{MINIMAL}colour = 1\n", "unknown field"),
        (f"[[slot]]\n{MINIMAL}[[slot]]\n{MINIMAL}", "'s': its id is used twice"),
        (f"[[slot]]\n{MINIMAL}patterns = ['(']\n", "no regular expression"),
        (f"[[slot]]\n{MINIMAL}patterns = ['{{name}}']\n", "belong together"),
        (f"[[slot]]\n{MINIMAL}categories = ['shell']\n", "belong together"),
        (f"[[slot]]\n{MINIMAL.replace('[' + chr(34) + 'Which?' + chr(34) + ']', '[]')}", "asks must be"),
        (f"[[slot]]\n{MINIMAL.replace('cue = ' + chr(34) + 'c', 'cue = ' + chr(34))}", "cue must have"),
        ("[[slot", "cannot be read"),
    ],
)
def test_a_faulty_file_is_refused_with_the_slot_and_the_fault(data: str, complaint: str) -> None:
    with pytest.raises(SlotError, match=complaint):
        parse_slots(data.encode())
