"""The wording of a statement: a rule's template filled with the user's own words, in the third person.

| field | stands for |
|---|---|
| `{who}` | "The user", or "The user's team" where "we" is said or the rule's scope is the team |
| `{value}` | what the rule found, in the third person |
| `{said}` | the same, to go on with inside a sentence: "Don't explain it" is "not explain it" |
| `{names}` | the names it found, written properly, with their versions |
| `{tail}` | what narrows the statement down ("for rate limiting"), with the space before it |
| `{subject}` | somebody of the user's own ("wife") |
| `{noun}`, `{is}` | what a name is said to be ("warehouse"), and "is" or "are" to go with it |
| `{does}` | what the rule found, of which the first word is an English verb: "eat meat" is "eats meat" |
| `{clause}` | the whole clause that matched, in the third person |

Nothing is added that was not said: a template holds only what the rule's patterns imply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from recalld.models.policy.assistant_person import to_assistant
from recalld.models.policy.person import to_third_person
from recalld.models.policy.statements.rule import Rule, Scope

_SPACE = re.compile(r"\s+")
_OURS = re.compile(r"\b(our|ours|us)\b", re.IGNORECASE)
_THEIRS = {"our": "their", "ours": "theirs", "us": "them"}
_IRREGULAR = {"have": "has", "be": "is"}
_WHENEVER = re.compile(r"\A(?P<opening>whenever|when|if|(?:every|each|any) ?time) i (?P<verb>[a-z]+)\b", re.IGNORECASE)
_DONT = re.compile(r"\A(?:don['\u2019]?t|do not) (?P<ever>ever )?", re.IGNORECASE)
_ASIDE = re.compile(
    r",\s*(?:and |as |since |because |but )?i(?:'m|'d|'ve)? (?:really |just )?"
    r"(?:think|guess|hope|feel|believe|know|find|hate|love|like|am|sure|afraid)\b[^\n]*\Z",
    re.IGNORECASE,
)
"""A remark of the user behind an order."""
_TRIMMED = " \t\n,;:.!*_-\u2013\u2014\"'"
_CLOSERS = {")": "(", "]": "["}
_FIELD = re.compile(r"\{(\w+)\}")


def trimmed(text: str) -> str:
    """A piece of a turn without what only surrounds it, on one line; an unopened bracket at its end is left out."""
    plain = _SPACE.sub(" ", text).strip(_TRIMMED)
    while plain and plain[-1] in _CLOSERS and _CLOSERS[plain[-1]] not in plain:
        plain = plain[:-1].rstrip(_TRIMMED)
    if plain.count('"') % 2 and text.rstrip().endswith('"'):
        plain += '"'
    return plain


def third_person(text: str) -> str:
    """A piece of the user's words as said of the user: "our jobs" is "their jobs", "my food" "the user's food"."""
    return _OURS.sub(lambda found: _THEIRS[found[1].lower()], to_third_person(text))


def instruction(text: str) -> str:
    """What the user asks for, to go on behind "the user wants the assistant to"; "never" is kept, "don't" is "not".

    "You" is the assistant, and a remark behind it ("…, I think that is fine") is no part of it.
    """
    own = _ASIDE.sub("", text)
    plain = _WHENEVER.sub(lambda found: f"{found['opening']} the user {inflected(found['verb'])}", own)
    plain = _DONT.sub(lambda found: "never " if found["ever"] else "not ", plain)
    head = plain.split(" ", maxsplit=1)[0]
    is_plain = head[1:].islower() and head.isalpha()
    return to_assistant(third_person(f"{plain[:1].lower()}{plain[1:]}" if is_plain else plain))


def inflected(phrase: str) -> str:
    """A phrase that begins with the plain form of an English verb, in the third person singular."""
    verb, space, rest = phrase.partition(" ")
    plain = verb.lower()
    if plain in _IRREGULAR:
        form = _IRREGULAR[plain]
    elif plain.endswith("y") and plain[-2:-1] not in {*"aeiou"}:
        form = f"{verb[:-1]}ies"
    else:
        form = f"{verb}es" if plain.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"
    return f"{form}{space}{third_person(rest)}"


def to_be(noun: str) -> str:
    """The verb that goes with a noun: "tests are", "warehouse is"."""
    return "are" if noun.lower().endswith("s") and not noun.lower().endswith("ss") else "is"


def holder(rule: Rule, *, is_team: bool) -> str:
    """Of whom a statement of a rule speaks."""
    team = rule.scope is Scope.TEAM or (rule.scope is Scope.SPOKEN and is_team)
    return "The user's team" if team else "The user"


def filled(rule: Rule, fields: Mapping[str, Callable[[], str]]) -> str:
    """The rule's template with its fields, of which those it holds are worded; a capital first, a full stop last."""
    text = _FIELD.sub(lambda found: fields[found[1]]() if found[1] in fields else "", rule.statement)
    text = _SPACE.sub(" ", text).strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
