"""Rules as data: what one rule looks for in a turn, what it makes of it, and the examples that it answers for.

A rule names a slot of `data/slots.toml` or of `data/statements/slots.toml` and takes the slot's heading and questions,
or brings its own and fills no slot. Its examples are its tests.
"""

from __future__ import annotations

import enum
import re
from typing import NoReturn

import msgspec

from recalld.models.domain.records import ASK_CHARS_MAX, CUE_CHARS_MAX, MemoryKind

MATCHES_MIN, MISSES_MIN = 4, 6
"""Examples that each rule must bring: turns that state it, and turns that tempt."""
BY_NAME = "@name"
"""Stands for a slot's id: the slot of whatever name of the gazetteer was found."""
FIELDS = frozenset({"who", "value", "said", "names", "tail", "subject", "noun", "is", "does", "clause"})
"""What a statement's template may hold; see `wording`."""

_FIELD = re.compile(r"\{(\w+)\}")
_ID = re.compile(r"[a-z_]+(?:\.[a-z]{2})?/[a-z0-9-]+")


class RuleError(ValueError):
    """A file of rules cannot be used; the message names the rule and what is wrong."""


class Scope(enum.StrEnum):
    """Of whom a statement speaks."""

    USER = "user"
    TEAM = "team"
    SPOKEN = "spoken"
    """Of the team where "we" is said, otherwise of the user."""


class OwnSlot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A slot that only statements fill.

    Attributes:
        id: Names it.
        cue: Heading of a record that fills it; `{value}` stands for its value.
        asks: One question in the user's voice, put in at most two ways.
    """

    id: str
    cue: str
    asks: tuple[str, ...]


class SlotTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`data/statements/slots.toml`.

    Attributes:
        many: Slots that hold several values side by side: a new one supersedes none.
        slot: Slots of statements alone.
    """

    many: tuple[str, ...]
    slot: tuple[OwnSlot, ...]


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rule as its file gives it.

    Attributes:
        id: Slot (or theme) and form, such as `employer/works-at`; the ledger's name of the rule.
        slot: What it states a value of: a slot's id, `@name` for that of the gazetteer name it finds, empty for none.
        kind: What sort of memory it makes.
        scope: Of whom it speaks.
        statement: Template of the memory's text in the third person.
        cue: Heading, where it fills no slot.
        asks: Questions that the memory answers, where it fills no slot.
        triggers: Words of which one stands in every match; `@name` for a name of the gazetteer. They make it cheap.
        patterns: Regular expressions with shorthands, tried from the start of a clause.
        anywhere: It is tried wherever a trigger stands instead, and a question does not take it back: what it finds is
            taken for granted ("what can my wife Ana eat?").
        is_ending: It says that the slot's value holds no more, and names no new one.
        matches: Turns that state it, with the statement that is made of each.
        misses: Turns that tempt, and that it must find nothing in.
    """

    id: str
    slot: str = ""
    kind: MemoryKind
    scope: Scope
    statement: str
    cue: str = ""
    asks: tuple[str, ...] = ()
    triggers: tuple[str, ...]
    patterns: tuple[str, ...]
    anywhere: bool = False
    is_ending: bool = False
    matches: dict[str, str]
    misses: tuple[str, ...]


class _RuleFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rule: tuple[Rule, ...]


def parse_rules(data: bytes) -> tuple[Rule, ...]:
    """Read rules from TOML.

    Raises:
        RuleError: A field is missing, unknown, empty or too long, an id is used twice, or the examples are too few.
    """
    try:
        rules = msgspec.toml.decode(data, type=_RuleFile).rule
    except msgspec.DecodeError as error:
        message = f"rules cannot be read: {error}"
        raise RuleError(message) from error
    seen: set[str] = set()
    for rule in rules:
        if rule.id in seen:
            refuse(rule, "its id is used twice")
        seen.add(rule.id)
        _check(rule)
    return rules


def refuse(rule: Rule, what: str) -> NoReturn:
    """Say what is wrong with a rule.

    Raises:
        RuleError: Always.
    """
    message = f"rule {rule.id!r}: {what}"
    raise RuleError(message)


def _check(rule: Rule) -> None:
    if _ID.fullmatch(rule.id) is None:
        refuse(rule, "its id must be slot/form in lower case")
    if not rule.triggers or not rule.patterns:
        refuse(rule, "it needs triggers and patterns")
    if any(trigger != trigger.casefold() or not trigger for trigger in rule.triggers):
        refuse(rule, "triggers must be in lower case")
    if bool(rule.slot) == bool(rule.cue or rule.asks):
        refuse(rule, "give a slot, or else a cue and asks")
    if rule.is_ending and not rule.slot:
        refuse(rule, "an ending needs the slot that it closes")
    if len(rule.cue) > CUE_CHARS_MAX or any(len(ask) > ASK_CHARS_MAX for ask in rule.asks):
        refuse(rule, f"a cue has at most {CUE_CHARS_MAX}, an ask {ASK_CHARS_MAX} characters")
    unknown = set(_FIELD.findall(rule.statement)) - FIELDS
    if unknown or not rule.statement:
        refuse(rule, f"its statement holds {sorted(unknown)}; it may hold {sorted(FIELDS)}")
    if len(rule.matches) < MATCHES_MIN or len(rule.misses) < MISSES_MIN:
        refuse(rule, f"it needs {MATCHES_MIN} matches and {MISSES_MIN} misses")
