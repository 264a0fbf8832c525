"""What the ledger keeps of a save, a change and a standing block, in a few lines a person can read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeVar

import msgspec

from recalld.daemon.cli.commands.explain_turn import turn_lines
from recalld.daemon.cli.output import printable
from recalld.daemon.cli.words import STANDING_VERDICTS, STANDING_WORDS, in_words
from recalld.models.domain.reasons import Op

T = TypeVar("T")

TEXT_CHARS_MAX: Final = 60
"""Of a memory's text, which only helps to recognise it."""


class _Saved(msgspec.Struct, frozen=True, kw_only=True):
    kind: str
    outcome: str
    scope: str = ""
    given_cues: int = 0
    given_asks: int = 0
    added_cues: int = 0
    added_asks: int = 0
    sources: tuple[str, ...] = ()


class _Count(msgspec.Struct, frozen=True, kw_only=True):
    before: int
    after: int
    new: int


class _Changed(msgspec.Struct, frozen=True, kw_only=True):
    memory_id: str
    changed: tuple[str, ...]
    cues: _Count
    asks: _Count
    note: str = ""


class _StandingRow(msgspec.Struct, frozen=True, kw_only=True):
    memory_id: str
    verdict: str = ""
    usefulness: float
    words: int
    choice: str = ""
    word: str = ""


class _Standing(msgspec.Struct, frozen=True, kw_only=True):
    scope: str
    items: tuple[_StandingRow, ...]
    others: tuple[_StandingRow, ...]
    left_out: int
    chars: int
    chars_max: int


def named_memories(op: str, body: str) -> tuple[str, ...]:
    """Ids of the memories whose texts help to read a standing block's row; none for other rows."""
    if op != Op.STANDING:
        return ()
    found = _read(body, _Standing)
    return () if found is None else tuple(row.memory_id for row in (*found.items, *found.others))


def body_lines(op: str, body: str, texts: Mapping[str, str]) -> list[str] | None:
    """The lines; None for a row of another kind, or of a version that this command cannot read.

    Args:
        op: What the row decided about.
        body: The row's body, JSON.
        texts: Of memories that it names, by id, as far as they are known.
    """
    lines: list[str] | None = None
    match op:
        case Op.REMEMBER | Op.OBSERVE:  # an older daemon wrote the same for both
            saved = _read(body, _Saved)
            lines = turn_lines(body) if saved is None else _of_saved(saved)
        case Op.CONFIRM:
            lines = turn_lines(body)
        case Op.UPDATE:
            changed = _read(body, _Changed)
            lines = None if changed is None else _of_changed(changed)
        case Op.STANDING:
            standing = _read(body, _Standing)
            lines = None if standing is None else _of_standing(standing, texts)
        case _:
            pass
    # The indentation stays, while control characters in a value cannot reach the terminal.
    return None if lines is None else [" " * (len(line) - len(line.lstrip(" "))) + printable(line) for line in lines]


def _read(body: str, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return None


def _of_saved(saved: _Saved) -> list[str]:
    where = f"in the scope {saved.scope}" if saved.scope else "everywhere"
    by = f" (by {', '.join(saved.sources)})" if saved.sources else ""
    return [
        f"memory: {saved.outcome}, a {saved.kind} that holds {where}",
        f"headings: {saved.given_cues} given, {saved.added_cues} added automatically",
        f"questions: {saved.given_asks} given, {saved.added_asks} added automatically{by}",
    ]


def _of_changed(changed: _Changed) -> list[str]:
    note = f", by {changed.note}" if changed.note else ""
    return [
        f"memory: {changed.memory_id}",
        f"changed: {', '.join(changed.changed)}{note}",
        f"headings: {_counted(changed.cues)}",
        f"questions: {_counted(changed.asks)}",
    ]


def _counted(count: _Count) -> str:
    return f"{count.before} before, {count.after} now, {count.new} of them new"


def _of_standing(standing: _Standing, texts: Mapping[str, str]) -> list[str]:
    where = f"the scope {standing.scope}" if standing.scope else "no scope"
    size = f"{standing.chars} of {standing.chars_max}"
    left_out = f"; {standing.left_out} did not fit" if standing.left_out else ""
    return [
        f"block: {len(standing.items)} shown for {where}, {size} characters{left_out}",
        *(f"  shown {_standing_row(row, texts)}" for row in standing.items),
        *(
            f"  not shown ({in_words(row.verdict, STANDING_VERDICTS)}) {_standing_row(row, texts)}"
            for row in standing.others
        ),
    ]


def _standing_row(row: _StandingRow, texts: Mapping[str, str]) -> str:
    text = texts.get(row.memory_id, "")
    short = text if len(text) <= TEXT_CHARS_MAX else f"{text[: TEXT_CHARS_MAX - 1]}…"
    shown = f": {short}" if short else ""
    choice = f", {row.choice}" if row.choice else ""
    word = f", {in_words(row.word, STANDING_WORDS)}" if row.word else ""
    return f"{row.memory_id}, usefulness {row.usefulness:.2f}, {row.words} words{word}{choice}{shown}"
