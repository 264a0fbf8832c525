"""Every rule against its own examples: what it must find, with the statement, and what it must not."""

from __future__ import annotations

from collections import Counter

import pytest

from recalld.models.domain.facts import FactCandidate, Generator
from recalld.models.policy.save_turn import prepare_turn
from recalld.models.policy.statements.find import find_stated
from recalld.models.policy.statements.grammar import LANGUAGES
from recalld.models.policy.statements.rule import BY_NAME, MATCHES_MIN, MISSES_MIN
from recalld.models.policy.statements.rule_book import rule_book, slot_table

RULES = [each.rule for language in LANGUAGES for each in rule_book(language).rules]
MATCHES = [(rule.id, turn, statement) for rule in RULES for turn, statement in rule.matches.items()]
MISSES = [(rule.id, turn) for rule in RULES for turn in rule.misses]
SLOTS_MIN = 40
"""Slots that English rules fill: those of the rules, and those that a name's category leads to."""


def found(text: str) -> tuple[FactCandidate, ...]:
    return find_stated(prepare_turn(text))


@pytest.mark.parametrize(("rule", "turn", "statement"), MATCHES)
def test_a_rule_finds_what_it_must_and_words_it_as_it_says(rule: str, turn: str, statement: str) -> None:
    assert statement in [each.statement for each in found(turn) if each.rule == rule]


@pytest.mark.parametrize(("rule", "turn"), MISSES)
def test_a_rule_finds_nothing_in_what_tempts_it(rule: str, turn: str) -> None:
    assert rule not in [each.rule for each in found(turn)]


@pytest.mark.parametrize("turn", [turn for _, turn, _ in MATCHES])
def test_what_is_found_stands_in_the_turn_with_its_slot_and_headings(turn: str) -> None:
    prepared = prepare_turn(turn)
    for each in find_stated(prepared):
        assert each.span is not None
        assert each.quote == prepared.text[each.span.start : each.span.end] != ""
        assert each.generator is Generator.RULE
        assert each.statement.startswith(("The user", "From now on, the user"))
        assert each.statement.endswith(".")
        assert bool(each.value) == bool(each.slot)
        assert len(each.cues) == len(each.asks[:1]) <= 1
        assert "{" not in each.statement + "".join(each.cues)


def test_each_rule_brings_examples_enough_and_no_example_twice() -> None:
    for rule in RULES:
        assert len(rule.matches) >= MATCHES_MIN
        assert len(set(rule.misses) - set(rule.matches)) >= MISSES_MIN
    assert max(Counter(rule.id for rule in RULES).values()) == 1


def test_english_rules_fill_slots_enough() -> None:
    fixed = {each.rule.slot for each in rule_book("en").rules if each.rule.slot not in {"", BY_NAME}}
    by_name = {each.slot for rule in RULES if rule.slot == BY_NAME for turn in rule.matches for each in found(turn)}
    themes = {each.rule.id for each in rule_book("en").rules if not each.rule.slot}
    assert len(fixed | by_name | themes) >= SLOTS_MIN


def test_slots_of_several_values_exist() -> None:
    table = slot_table()
    known = {each.rule.slot for language in LANGUAGES for each in rule_book(language).rules} | {
        each.slot for turn in (turn for _, turn, _ in MATCHES) for each in found(turn)
    }
    assert {each.id for each in table.slot} <= known
    assert len(set(table.many)) == len(table.many)
