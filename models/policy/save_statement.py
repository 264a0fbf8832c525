"""What a save command asks to have remembered: cutting the statement out of the text after (or before) it."""

from __future__ import annotations

import re

import msgspec

from recalld.models.domain.reasons import AdmissionReason
from recalld.models.domain.records import MEMORY_CHARS_MAX, MemoryKind
from recalld.models.policy import word_lists
from recalld.models.policy.save_grammar import SaveGrammar
from recalld.models.policy.save_kind import guess_kind
from recalld.models.policy.save_turn import QUESTION_MARKS, SaveTurn

BARE_WORDS_MIN = 3
"""Words that an unmarked statement needs, a verb among them: "remember the milk" says nothing that can be stored."""
HEADING_CHARS_MAX = 80
"""Longest heading before a colon in "remember how we release: …"."""

_TAG = re.compile(
    r"[\s,;]*,\s*(?:please|ok|okay|right|thanks|thank you|bitte|ja|svp|stp|vale|por favor)[.!?\s]*$", re.IGNORECASE
)
_TAG_CHARS_MAX = 60
_HEADING_END = re.compile(r":(?=\s|\Z)")
_WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
_BASE_SUBJECTS = frozenset(["i", "we", "you", "they"])


class ExplicitSave(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked to have remembered, in the user's own words."""

    statement: str
    kind: MemoryKind


class CutStatement(msgspec.Struct, frozen=True, kw_only=True):
    """Where a command's statement ends, and the statement or why there is none."""

    end: int
    outcome: ExplicitSave | AdmissionReason


def cut_statement(turn: SaveTurn, command: re.Match[str], grammar: SaveGrammar) -> CutStatement:
    """Cut the statement of a command that is known to be an imperative."""
    # Every part of an opening is optional, so it always matches right here.
    opening = next(grammar.opening.finditer(turn.masked, command.end()))
    sentence_end = turn.sentence_end(command.start())
    if (opening["mark"] or "").startswith(":"):
        end = turn.paragraph_end(opening.end())
        return _checked(turn, opening.end(), end, grammar)
    end = max(_without_tag(turn, opening.end(), sentence_end), command.end())
    rest = turn.masked[opening.end() : end].strip(" \t.!" + "".join(QUESTION_MARKS))
    if not rest:
        return _cut_previous(turn, command, opening.end(), grammar)
    if grammar.reminiscence.match(turn.masked, command.end()) is not None:
        return _rejected(turn, command.start(), end)
    is_marked = opening["complementiser"] is not None or (opening["object"] is not None and bool(opening["mark"]))
    if is_marked:
        is_polite = (
            grammar.request.search(turn.masked, turn.sentence_start(command.start()), command.start()) is not None
        )
        return _checked(turn, opening.end(), end, grammar, is_polite=is_polite)
    start = opening.end() if opening["object"] is None else opening.start("object")
    return _cut_unmarked(turn, start, end, grammar)


def _cut_previous(turn: SaveTurn, command: re.Match[str], end: int, grammar: SaveGrammar) -> CutStatement:
    """The statement is the sentence before ("I use tabs. Remember that."), if the command points back at all."""
    points_back = grammar.pointer.search(turn.masked, command.start(), end) is not None
    previous = turn.previous_sentence(command.start())
    if not points_back or previous is None or grammar.commands.search(turn.masked, *previous) is not None:
        return _rejected(turn, command.start(), turn.sentence_end(command.start()))
    is_own = not any(pattern.search(turn.masked, *previous) for pattern in (grammar.hypothetical, grammar.report))
    if not is_own or turn.is_question(command.start(), turn.sentence_end(command.start())):
        return _rejected(turn, command.start(), turn.sentence_end(command.start()))
    return msgspec.structs.replace(_checked(turn, *previous, grammar), end=max(end, command.end()))


def _cut_unmarked(turn: SaveTurn, start: int, end: int, grammar: SaveGrammar) -> CutStatement:
    """Without complementiser or colon: a heading with a colon later, a standing task, or a plain English sentence."""
    if grammar.wh_word.match(turn.masked, start) is not None:
        colon = _HEADING_END.search(turn.masked, start, min(end, start + HEADING_CHARS_MAX))
        if colon is None:
            return _rejected(turn, start, end)
        return _checked(turn, start, turn.paragraph_end(colon.end()), grammar)
    if turn.is_question(start, end):
        return CutStatement(end=end, outcome=AdmissionReason.QUESTION)
    task = grammar.task.match(turn.masked, start)
    is_standing = task is not None and grammar.standing.search(turn.masked, start, end) is not None
    is_plain = task is None and grammar.is_bare and _is_sentence(turn.masked[start:end])
    if not is_standing and not is_plain:
        return CutStatement(end=end, outcome=AdmissionReason.NOT_EXPLICIT)
    statement_start = task.end() if task is not None and task["mark"].lower() == "to" else start
    return _checked(turn, statement_start, end, grammar, is_standing=is_standing)


def _is_sentence(text: str) -> bool:
    """Whether English words hold a verb that we know: an auxiliary, a past form, or a listed verb in its right form."""
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) < BARE_WORDS_MIN:
        return False
    verbs = word_lists.words("first_person_verbs.en.txt")
    if words[0] in _BASE_SUBJECTS and not verbs.isdisjoint(words[1:]):
        return True
    auxiliaries = word_lists.words("auxiliaries.en.txt")
    return any(
        word in auxiliaries or word.endswith("ed") or (word.endswith("s") and word[:-1] in verbs) for word in words
    )


def _without_tag(turn: SaveTurn, start: int, end: int) -> int:
    """Leave a closing ", please" or ", ok?" out of the sentence."""
    tag = _TAG.search(turn.masked, max(start, end - _TAG_CHARS_MAX), end)
    return end if tag is None else tag.start()


def _checked(
    turn: SaveTurn, start: int, end: int, grammar: SaveGrammar, *, is_polite: bool = False, is_standing: bool = False
) -> CutStatement:
    """The statement between two positions, if it can be stored."""
    statement = turn.text[start:end].strip()
    if is_polite:
        statement = statement.rstrip("".join(QUESTION_MARKS) + " ")
    if statement.endswith(QUESTION_MARKS):
        return CutStatement(end=end, outcome=AdmissionReason.QUESTION)
    if not any(map(str.isalnum, statement)) or turn.foreign.cut_into(start, end):
        return CutStatement(end=end, outcome=AdmissionReason.NOT_EXPLICIT)
    if len(statement) > MEMORY_CHARS_MAX or turn.is_cut_short(start, end):
        return CutStatement(end=end, outcome=AdmissionReason.TOO_LONG)
    kind = MemoryKind.PREFERENCE if is_standing else guess_kind(statement, grammar)
    return CutStatement(end=end, outcome=ExplicitSave(statement=statement, kind=kind))


def _rejected(turn: SaveTurn, start: int, end: int) -> CutStatement:
    is_question = turn.is_question(start, end)
    return CutStatement(end=end, outcome=AdmissionReason.QUESTION if is_question else AdmissionReason.NOT_EXPLICIT)
