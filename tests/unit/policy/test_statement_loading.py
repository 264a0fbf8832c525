"""Files of rules: what is refused, and with which words."""

from __future__ import annotations

import pytest

from recalld.models.policy.statements.grammar import grammar
from recalld.models.policy.statements.rule import RuleError, parse_rules
from recalld.models.policy.statements.rule_book import compile_rules, headings, is_single_valued

FIELDS = {
    "id": '"name/x"',
    "slot": '"name"',
    "kind": '"fact"',
    "scope": '"user"',
    "statement": '"The user is {value}."',
    "triggers": '["name"]',
    "patterns": '["my name is (?P<value>x)"]',
    "misses": '["a", "b", "c", "d", "e", "f"]',
    "matches": '{"g" = "1", "h" = "2", "i" = "3", "j" = "4"}',
}


def rule(**changes: str | None) -> str:
    fields = {name: value for name, value in (FIELDS | changes).items() if value is not None}
    return "[[rule]]\n" + "\n".join(f"{name} = {value}" for name, value in fields.items()) + "\n"


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ("[[rule", "cannot be read"),
        (rule(kind=None), "missing required field"),
        (rule(colour="1"), "unknown field"),
        (rule(kind='"mood"'), "Invalid enum value"),
        (rule() + rule(), "'name/x': its id is used twice"),
        (rule(id='"Name"'), "slot/form in lower case"),
        (rule(triggers="[]"), "needs triggers and patterns"),
        (rule(patterns="[]"), "needs triggers and patterns"),
        (rule(triggers='["Name"]'), "triggers must be in lower case"),
        (rule(cue='"Name"'), "a slot, or else a cue and asks"),
        (rule(slot=None), "a slot, or else a cue and asks"),
        (rule(slot=None, cue='"C"', asks='["A?"]', is_ending="true"), "an ending needs the slot"),
        (rule(slot=None, cue='"' + "c" * 121 + '"'), "a cue has at most 120"),
        (rule(statement='"The user is {mood}."'), "may hold"),
        (rule(statement='""'), "may hold"),
        (rule(matches='{"g" = "1"}'), "4 matches and 6 misses"),
        (rule(misses='["a"]'), "4 matches and 6 misses"),
    ],
)
def test_a_faulty_file_is_refused_with_the_rule_and_the_fault(data: str, complaint: str) -> None:
    with pytest.raises(RuleError, match=complaint):
        parse_rules(data.encode())


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (rule(slot='"mood"'), "there is no slot 'mood'"),
        (rule(patterns='["("]'), "cannot be compiled"),
        (rule(patterns='["{nothing}"]'), "no shorthand 'nothing'"),
        (rule(patterns='["{mark:nothing}"]'), "no slot 'nothing'"),
        (rule(patterns='["(?P<mood>x)"]'), "groups are called"),
    ],
)
def test_a_rule_that_cannot_be_compiled_is_refused(data: str, complaint: str) -> None:
    with pytest.raises(RuleError, match=complaint):
        compile_rules("en", grammar("en"), parse_rules(data.encode()))


def test_an_id_in_two_files_of_a_language_is_refused() -> None:
    twice = [*parse_rules(rule().encode()), *parse_rules(rule().encode())]
    with pytest.raises(RuleError, match="used twice"):
        compile_rules("en", grammar("en"), twice)


def test_a_slots_heading_names_its_value_and_no_slot_has_none() -> None:
    assert headings("editor", "Helix") == (
        ("Code editor: Helix",),
        ("Which editor do I use?", "Which code editor do I use?"),
    )
    assert headings("", "Helix") == ((), ())


def test_only_slots_of_one_value_are_superseded_by_a_new_one() -> None:
    assert [is_single_valued(slot) for slot in ("employer", "data_warehouse", "allergy", "")] == [
        True,
        True,
        False,
        False,
    ]
