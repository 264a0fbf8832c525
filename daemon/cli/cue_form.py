"""The text form in which a person edits the cues and asks of a memory: one entry a line, read strictly."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from recalld.daemon.cli.output import printable
from recalld.daemon.cli.parameters import ASK, CUE, TextRule
from recalld.protocol import fields
from recalld.protocol.items import MemoryItem

_RULES: Final = MappingProxyType({"cue": (CUE, fields.CUES_MAX), "ask": (ASK, fields.ASKS_MAX)})


class CueForm(msgspec.Struct, frozen=True, kw_only=True):
    """What a form says."""

    cues: tuple[str, ...]
    asks: tuple[str, ...]


class FormError(Exception):
    """A form that cannot be read.

    Attributes:
        message: One sentence that names the line and the remedy.
    """

    def __init__(self, line: int, what: str) -> None:
        self.message = f"line {line}: {what}"
        super().__init__(self.message)


def write_form(memory: MemoryItem) -> str:
    """The form as it is opened. Stored text cannot steer a terminal, nor stand where a line begins."""
    head = [
        f"# Headings and questions of {memory.id}. The memory itself is not changed here:",
        "#",
        f"#   {printable(memory.text)}",
        "#",
        f"# One entry a line: `cue: a heading` (at most {fields.CUES_MAX}),",
        f"# or `ask: a question that it answers` (at most {fields.ASKS_MAX}).",
        "# Remove a line to remove its entry. Lines that start with # are not read.",
        "",
    ]
    entries = [f"cue: {printable(cue)}" for cue in memory.cues] + [f"ask: {printable(ask)}" for ask in memory.asks]
    return "\n".join([*head, *entries, ""])


def read_form(text: str, memory: MemoryItem) -> CueForm:
    """What an edited form says. An entry that was not touched is the stored one, also where it is shown otherwise.

    Args:
        text: The form.
        memory: The memory that it was opened for.

    Raises:
        FormError: A line cannot be read.
    """
    found: dict[str, list[str]] = {"cue": [], "ask": []}
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        name, colon, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        if not colon or name not in found:
            raise FormError(number, "starts with neither `cue:` nor `ask:`; put one of them in front, or # to skip it")
        rule, count_max = _RULES[name]
        _check(number, name, value, rule)
        found[name].append(value)
        if len(found[name]) > count_max:
            raise FormError(number, f"is one {name} too many; at most {count_max} are kept, so remove the weakest")
    return CueForm(cues=_as_stored(found["cue"], memory.cues), asks=_as_stored(found["ask"], memory.asks))


def _check(number: int, name: str, value: str, rule: TextRule) -> None:
    if not value:
        raise FormError(number, f"has no text behind `{name}:`; write some, or remove the line")
    if problem := rule.problem(value):
        raise FormError(number, problem)


def _as_stored(entries: Sequence[str], stored: Sequence[str]) -> tuple[str, ...]:
    shown = {printable(text): text for text in stored}
    return tuple(shown.get(entry, entry) for entry in entries)
