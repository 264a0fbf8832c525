"""Explicit saves: "remember that …" in a user's turn.

Guards: the store against what nobody asked to have stored. Cost: linear in the turn. Fails: closed; what is not clearly
a command to remember is not stored.

A command must be an imperative at the start of a clause. Not commands, therefore: questions ("do you remember …?"),
memories ("I remember that …"), reported and quoted words, words to be worked on ("translate: remember …") or said by
whoever stands before a colon, fiction and hypotheses (scoped to the clause: "if you have a minute: remember …" is a
command; a role-play goes on after its opening), negations ("don't remember that"). A refusal near a command ("… but
don't store it") stores nothing. A match that is rejected never hides a later one.

"Remember to …" is a task for now, not a memory, unless it says that it stands ("remember to always run the tests"). The
statement is the rest of the sentence; after a colon, the rest of the paragraph; with neither ("I use tabs. Remember
that."), the sentence before. Languages other than English need their complementiser or a colon.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec

from recalld.models.domain.facts import Span
from recalld.models.domain.reasons import AdmissionReason
from recalld.models.policy.save_grammar import SaveGrammar, shipped_grammars
from recalld.models.policy.save_statement import CutStatement, ExplicitSave, cut_statement
from recalld.models.policy.save_turn import SaveTurn, prepare_turn

COMMANDS_MAX = 32
"""Commands of one language that are looked at in one turn; bounds the cost of a hostile one."""
CONTEXT_CHARS_MAX = 400
"""Characters of the sentence before a command that are looked at."""

_CLAUSE_BREAK = re.compile(r"[^\w\s'-]|(?<=\s)-(?=\s)|^\s*-")
_COLON = re.compile(r"(?::(?=[\s*_]|[^\W\d]|\Z)|\uff1a)[\s*_]*")
_INTRODUCTION_BREAK = re.compile(r"[.!?,;\u2026\n\u3002\uff0c]")
"""What may end the words before an introduction. Brackets and masked text may not: they may name a speaker."""
_BRACKETED = re.compile(r"[(\[{](?P<note>[^()\[\]{}]{2,})[)\]}]\s*$")
_GRAVEST_FIRST = (
    AdmissionReason.REFUSED_IN_COMMAND,
    AdmissionReason.TOO_LONG,
    AdmissionReason.QUESTION,
    AdmissionReason.NOT_EXPLICIT,
)


class NotSaved(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing is stored: the gravest reason among the commands that were rejected."""

    reason: AdmissionReason


class FoundSave(msgspec.Struct, frozen=True, kw_only=True):
    """A valid explicit save, and where its statement stands in the user's own words of the turn."""

    save: ExplicitSave
    span: Span


class ExaminedTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the commands of a turn.

    Attributes:
        saves: The valid ones, in text order.
        rejected: Why others were none; empty: there were no others.
    """

    saves: tuple[FoundSave, ...] = ()
    rejected: frozenset[AdmissionReason] = frozenset()

    @property
    def is_refused(self) -> bool:
        """Whether the user said of something in it that it is not to be kept."""
        return AdmissionReason.REFUSED_IN_COMMAND in self.rejected

    @property
    def gravest(self) -> AdmissionReason | None:
        """The gravest reason among the commands that were rejected; None: none was."""
        return next((reason for reason in _GRAVEST_FIRST if reason in self.rejected), None)


def find_explicit_save(user_text: str) -> ExplicitSave | NotSaved:
    """The first valid explicit save of a turn, or why there is none."""
    found = find_explicit_saves(user_text)
    return found if isinstance(found, NotSaved) else found[0]


def find_explicit_saves(
    user_text: str, grammars: Sequence[SaveGrammar] | None = None
) -> tuple[ExplicitSave, ...] | NotSaved:
    """Every valid explicit save of a turn in text order (at least one), or why there is none.

    Args:
        user_text: The turn; host text, quoted lines and private spans in it are ignored.
        grammars: Languages to look for; None for the shipped ones.
    """
    turn = prepare_turn(user_text)
    if not turn.text:
        return NotSaved(reason=AdmissionReason.NO_USER_TEXT)
    examined = examine_saves(turn, grammars)
    if not examined.saves:
        return NotSaved(reason=examined.gravest or AdmissionReason.NOT_EXPLICIT)
    return tuple(found.save for found in examined.saves)


def examine_saves(turn: SaveTurn, grammars: Sequence[SaveGrammar] | None = None) -> ExaminedTurn:
    """Every valid explicit save of a prepared turn, and why other commands in it were none.

    Args:
        turn: Prepared.
        grammars: Languages to look for; None for the shipped ones.
    """
    saves: list[tuple[int, int, ExplicitSave]] = []
    rejected: set[AdmissionReason] = set()
    for grammar in shipped_grammars() if grammars is None else grammars:
        for start, cut in _examine_commands(turn, grammar):
            if isinstance(cut.outcome, ExplicitSave):
                saves.append((start, cut.end, cut.outcome))
            else:
                rejected.add(cut.outcome)
    return ExaminedTurn(saves=_without_overlaps(turn, saves), rejected=frozenset(rejected))


def _without_overlaps(turn: SaveTurn, saves: Sequence[tuple[int, int, ExplicitSave]]) -> tuple[FoundSave, ...]:
    """In text order, leaving out a command that lies inside a statement already taken."""
    kept: list[FoundSave] = []
    taken_until = -1
    for start, end, save in sorted(saves, key=lambda found: found[0]):
        if start >= taken_until:
            kept.append(FoundSave(save=save, span=_span_of(turn, save.statement, start, end)))
            taken_until = end
    return tuple(kept)


def _span_of(turn: SaveTurn, statement: str, start: int, end: int) -> Span:
    """Where a statement stands: behind its command, or before one that points back."""
    found = turn.text.find(statement, start, end)
    if found < 0:
        found = max(0, turn.text.rfind(statement, 0, start))
    return Span(start=found, end=found + len(statement))


def _examine_commands(turn: SaveTurn, grammar: SaveGrammar) -> Iterator[tuple[int, CutStatement]]:
    """Yield each command's start and what became of it."""
    commands = [
        (match, _reject_before(turn, match, grammar))
        for match in islice(grammar.commands.finditer(turn.masked), COMMANDS_MAX)
    ]
    tale_start = _tale_start(turn, grammar)
    for place, (match, rejected) in enumerate(commands):
        following = [later.start() for later, reason in commands[place + 1 :] if reason is None]
        reason = rejected if rejected is not None else _refused_after(turn, match, following, grammar)
        if reason is None:
            yield match.start(), _own_statement(turn, match, grammar, tale_start)
        else:
            yield match.start(), CutStatement(end=match.end(), outcome=reason)


def _reject_before(turn: SaveTurn, match: re.Match[str], grammar: SaveGrammar) -> AdmissionReason | None:
    """Judge the words around a command: why it is no command to save, or None."""
    start = max(turn.sentence_start(match.start()), match.start() - CONTEXT_CHARS_MAX)
    before = grammar.courtesy.sub(",", turn.masked[start : match.start()])
    tail = before[max((found.end() for found in _CLAUSE_BREAK.finditer(before)), default=0) :]
    if grammar.question.search(tail) is not None:
        return AdmissionReason.QUESTION
    if grammar.negated_before.fullmatch(tail) is not None or grammar.negated_after.match(turn.masked, match.end()):
        return AdmissionReason.REFUSED_IN_COMMAND
    if turn.foreign.hold(match.start()) or _is_for_another(before, grammar):
        return AdmissionReason.NOT_EXPLICIT
    introduction = turn.introduction(match.start())
    is_introduced = introduction is not None and not _leads_to_command(introduction, grammar)
    if is_introduced or grammar.imperative.fullmatch(tail) is None:
        return AdmissionReason.NOT_EXPLICIT
    return None


def _is_for_another(before: str, grammar: SaveGrammar) -> bool:
    """Whether the words of its sentence before a command give it to somebody else: a tale, a report, an exercise."""
    if any(each.search(before) is not None for each in (grammar.hypothetical, grammar.report, grammar.exercise)):
        return True
    bracketed = _BRACKETED.search(before)
    if bracketed is not None and not _leads_to_command(bracketed["note"], grammar):
        return True
    colons = list(_COLON.finditer(before))
    return bool(colons) and not _leads_to_command(before[: colons[-1].start()], grammar)


def _leads_to_command(introduction: str, grammar: SaveGrammar) -> bool:
    """Whether what stands before a colon only leads to a command: "Anyway: remember …", and not "Translate: …".

    Whatever else stands there may name who speaks, or what is to be done with the words after it.
    """
    plain = grammar.courtesy.sub(",", introduction)
    last = plain[max((found.end() for found in _INTRODUCTION_BREAK.finditer(plain)), default=0) :]
    return grammar.exercise.search(plain) is None and grammar.imperative.fullmatch(last.strip(" \t*_-\"'")) is not None


def _tale_start(turn: SaveTurn, grammar: SaveGrammar) -> int:
    """Where a role-play or a tale opens; the end of the turn if none does."""
    opener = grammar.role_play.search(turn.masked)
    return len(turn.masked) if opener is None else opener.start()


def _own_statement(turn: SaveTurn, match: re.Match[str], grammar: SaveGrammar, tale_start: int) -> CutStatement:
    """The statement, unless it belongs to a role-play that was opened before it.

    In the opener's own paragraph everything belongs to it; in later ones, what is said about the assistant.
    """
    cut = cut_statement(turn, match, grammar)
    if match.start() < tale_start or not isinstance(cut.outcome, ExplicitSave):
        return cut
    is_same_paragraph = match.start() <= turn.paragraph_end(tale_start)
    if is_same_paragraph or grammar.addressee.match(cut.outcome.statement) is not None:
        return CutStatement(end=cut.end, outcome=AdmissionReason.NOT_EXPLICIT)
    return cut


def _refused_after(
    turn: SaveTurn, match: re.Match[str], following: Sequence[int], grammar: SaveGrammar
) -> AdmissionReason | None:
    """Whether the command's paragraph, up to the next command, says that it is not to be saved."""
    end = min([turn.paragraph_end(match.end()), *following])
    is_refused = grammar.refusal.search(turn.masked, match.start(), end) is not None
    return AdmissionReason.REFUSED_IN_COMMAND if is_refused else None
