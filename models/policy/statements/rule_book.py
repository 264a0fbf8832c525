"""The rules of one language, compiled, with an index of the words and beginnings that may make one match.

The index counts in bits, one for each pattern of the language in the order of its rules: which of them may match
somewhere is a few look-ups, and an "and" of what a trigger near by and the beginning of the clause allow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from recalld.models.policy import word_lists
from recalld.models.policy.slots import Slot, slots
from recalld.models.policy.statements.grammar import LANGUAGES, Grammar, grammar, statements_data
from recalld.models.policy.statements.names import category_marks, marks_of
from recalld.models.policy.statements.openings import OpeningIndex
from recalld.models.policy.statements.rule import BY_NAME, OwnSlot, Rule, RuleError, SlotTable, parse_rules, refuse

_THEMES = ("person", "people", "answers", "endings", "tools", "work", "standing", "tastes", "rules", "everyday")
"""The files of a language, the most telling rules first: where two find the same words, the earlier one has it."""
_SHORTHAND = re.compile(r"\{([A-Za-z_]+(?::[a-z_]+)?)\}")
_NESTED_MAX = 6
"""How deep shorthands may stand in shorthands."""
_GROUPS = frozenset({"we", "name", "names", "value", "tail", "subject", "noun", "successor"})
_LISTS: Mapping[str, str] = {
    "profession": "slot_professions.en.txt",
    "language": "slot_languages.en.txt",
    "currency": "slot_currencies.en.txt",
}


class CompiledRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule with its patterns.

    Attributes:
        rank: Its place among the rules of its language: an earlier one is preferred.
        needs_name: Whether each of them waits for a name of the gazetteer.
    """

    rule: Rule
    patterns: tuple[re.Pattern[str], ...]
    rank: int
    needs_name: bool


class Attempt(msgspec.Struct, frozen=True):
    """One pattern of a rule: what is tried at a place."""

    compiled: CompiledRule
    pattern: re.Pattern[str]


class RuleBook(msgspec.Struct, frozen=True, kw_only=True):
    """The rules of one language.

    Attributes:
        attempts: The patterns of all rules in order; bit n of what follows stands for the pattern n.
        by_trigger: The patterns of each trigger; `@name` for a name of the gazetteer.
        openings: The patterns by how they can begin.
        anywhere: The patterns that are tried wherever a trigger stands.
        nameless: The patterns that wait for no name of the gazetteer.
    """

    language: str
    grammar: Grammar
    rules: tuple[CompiledRule, ...]
    attempts: tuple[Attempt, ...]
    by_trigger: Mapping[str, int]
    openings: OpeningIndex
    anywhere: int
    nameless: int


@cache
def rule_book(language: str) -> RuleBook:
    """The shipped rules of a language.

    Raises:
        RuleError: A file cannot be used.
    """
    folder = statements_data().joinpath(language)
    themes = [folder.joinpath(f"{theme}.toml") for theme in _THEMES]
    rules = (rule for theme in themes if theme.is_file() for rule in parse_rules(theme.read_bytes()))
    return compile_rules(language, grammar(language), rules)


def shipped_books() -> tuple[RuleBook, ...]:
    """The shipped rules of every language, English first.

    Raises:
        RuleError: A file cannot be used.
    """
    return tuple(map(rule_book, LANGUAGES))


def compile_rules(language: str, spoken: Grammar, rules: Iterable[Rule]) -> RuleBook:
    """Compile rules and index them by their triggers.

    Raises:
        RuleError: A slot or shorthand is unknown, a group has another name, a pattern is no regular expression, or an
            id is used twice.
    """
    compiled: list[CompiledRule] = []
    seen: set[str] = set()
    for rank, rule in enumerate(rules):
        if rule.id in seen:
            refuse(rule, "its id is used twice")
        seen.add(rule.id)
        if rule.slot and rule.slot != BY_NAME and rule.slot not in _known_slots():
            refuse(rule, f"there is no slot {rule.slot!r}")
        patterns = _patterns(rule, spoken)
        needs_name = all({"name", "names"} & set(pattern.groupindex) for pattern in patterns)
        compiled.append(CompiledRule(rule=rule, patterns=patterns, rank=rank, needs_name=needs_name))
    return _book(language, spoken, tuple(compiled))


def _book(language: str, spoken: Grammar, rules: tuple[CompiledRule, ...]) -> RuleBook:
    attempts = tuple(Attempt(each, pattern) for each in rules for pattern in each.patterns)
    by_trigger: dict[str, int] = {}
    anywhere = nameless = 0
    for number, attempt in enumerate(attempts):
        bit = 1 << number
        anywhere |= bit if attempt.compiled.rule.anywhere else 0
        nameless |= 0 if attempt.compiled.needs_name else bit
        for trigger in attempt.compiled.rule.triggers:
            by_trigger[trigger] = by_trigger.get(trigger, 0) | bit
    return RuleBook(
        language=language,
        grammar=spoken,
        rules=rules,
        attempts=attempts,
        by_trigger=by_trigger,
        openings=OpeningIndex([attempt.pattern.pattern for attempt in attempts]),
        anywhere=anywhere,
        nameless=nameless,
    )


@cache
def slot_table() -> SlotTable:
    """The shipped `data/statements/slots.toml`."""
    return msgspec.toml.decode(statements_data().joinpath("slots.toml").read_bytes(), type=SlotTable)


def is_single_valued(slot: str) -> bool:
    """Whether a new value of a slot takes the place of the old one: not of a list such as allergies."""
    return bool(slot) and slot not in slot_table().many


def headings(slot: str, value: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Cues and asks of a slot with a value; none for no slot."""
    if not slot:
        return (), ()
    found = _known_slots()[slot]
    return (found.cue.replace("{name}", value).replace("{value}", value),), found.asks


@cache
def _known_slots() -> Mapping[str, Slot | OwnSlot]:
    shared: dict[str, Slot | OwnSlot] = {slot.id: slot for slot in slots()}
    return shared | {slot.id: slot for slot in slot_table().slot}


def _patterns(rule: Rule, spoken: Grammar) -> tuple[re.Pattern[str], ...]:
    found: list[re.Pattern[str]] = []
    for pattern in rule.patterns:
        try:
            compiled = re.compile(_expanded(pattern, spoken.shorthands), re.IGNORECASE)
        except (re.error, RuleError) as error:
            refuse(rule, f"a pattern cannot be compiled: {error}")
        if set(compiled.groupindex) - _GROUPS:
            refuse(rule, f"groups are called one of {sorted(_GROUPS)}")
        found.append(compiled)
    return tuple(found)


def _expanded(pattern: str, shorthands: Mapping[str, str]) -> str:
    def meaning(match: re.Match[str]) -> str:
        key, _, slot = match[1].partition(":")
        if key in shorthands and not slot:
            return shorthands[key]
        return _shared(key, slot)

    for _ in range(_NESTED_MAX):
        expanded = _SHORTHAND.sub(meaning, pattern)
        if expanded == pattern:
            break
        pattern = expanded
    return pattern


@cache
def _shared(key: str, slot: str) -> str:
    """The meaning of a shorthand that all languages share."""
    if key in _LISTS:
        return f"(?:{'|'.join(map(re.escape, word_lists.entries(_LISTS[key])))})"
    if key == "mark":
        known = {each.id: each for each in slots()}
        if slot and slot not in known:
            message = f"there is no slot {slot!r}"
            raise RuleError(message)
        return marks_of(known[slot].categories if slot else category_marks())
    if key == "noun":
        nouns = sorted({noun for each in slots() for noun in each.nouns}, key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, nouns))})"
    message = f"there is no shorthand {key!r}"
    raise RuleError(message)
