"""Whether the words around a match let it stand: no question, supposition, guess, report, tale or passing matter.

Guards: rules against what only looks like a statement. Scoped to the clause where the language is: a condition ends at
its comma, a guess at the clause. The policy judges a candidate's modality once more, with the whole turn at hand.
Cost: a few searches in at most `BEFORE_CHARS` and `AFTER_CHARS` around a match. Fails: towards no statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, pairwise

from recalld.models.policy.save_turn import QUESTION_MARKS, SaveTurn
from recalld.models.policy.statements.grammar import Grammar, Words, lower_case, starts_behind_breaks
from recalld.models.policy.worked_on import worked_on_end

BEFORE_CHARS, AFTER_CHARS = 240, 200
"""Characters before and behind a match that are looked at; never more than its sentence."""
GUESS_CHARS = 40
"""Characters at the end of a match in which a guess is looked for: "never do it on shared branches, they say"."""
LEADING_WORDS_MAX = 5
"""Words of a clause that only sets the time of the next: "just for today, …"."""

_BREAK = re.compile(r"[,;:()\u2013\u2014]|(?<=\s)-(?=\s)")
_SPEAKER = re.compile(r"\W*(?:[^\W\d_a-z][\w.'-]*(?: [^\W\d_a-z][\w.'-]*){0,2}|\S*[\]\[_/@=<>|\\\d-]\S*)\W*\Z")
_STARTS_MAX = 16
TASKS_MAX = 16
"""Requests to work on words in one turn that are looked at."""


class TurnContext:
    """The words around matches in one turn, for one language.

    Args:
        turn: The prepared turn.
        text: Its masked text, with the gazetteer's names marked.
        folded: The text in lower case, with the same positions.
        grammar: The language's words.

    Attributes:
        text: As given.
    """

    def __init__(self, turn: SaveTurn, text: str, folded: str, grammar: Grammar) -> None:
        self._turn = turn
        self.text = text
        self._folded = folded
        self._grammar = grammar
        self._sentences: dict[int, tuple[int, int]] = {}
        """By the positions asked for: each start of a clause is, for every rule that is tried there."""

    def lets_stand(self, start: int, end: int, *, is_granted: bool, is_ending: bool, is_thing: bool) -> bool:
        """Whether the text between two positions may be taken as stated.

        Args:
            start: Where the match starts, its clause's opening words left out.
            end: Where it ends.
            is_granted: What it finds is taken for granted, also in a question or a report.
            is_ending: It says that something no longer holds.
            is_thing: It names a thing in use, which a sentence about a moment does not tell to last; people stay.
        """
        sentence_start, sentence_end = self.sentence(start)
        before = self._folded[max(sentence_start, start - BEFORE_CHARS) : start]
        grammar = self._grammar
        if any(each.search(before) is not None for each in (grammar.supposed, grammar.fiction)):
            return False
        after = self._folded[end : min(sentence_end, end + AFTER_CHARS)]
        within = self._folded[start:end]
        if is_granted:
            is_passing = is_thing and grammar.passing.search(f"{before} {within} {after}") is not None
            return not is_passing and not self._is_foreign(start)
        rest = _first_clause(after)
        is_over = not is_ending and grammar.over.search(rest) is not None
        is_told = any(each.search(before) is not None for each in (grammar.condition, grammar.report))
        return not (
            is_over
            or is_told
            or self._is_passing(before, within, rest)
            or self._is_guess(before, within[-GUESS_CHARS:], after)
            or self._is_introduced(before, start)
            or self._is_asked(before, after, sentence_end)
            or self._is_foreign(start)
        )

    def sentence(self, position: int) -> tuple[int, int]:
        """Start and end of the sentence around a position, white space included."""
        found = self._sentences.get(position)
        if found is None:
            start = self._turn.sentence_start(position)
            found = self._sentences[position] = start, self._ends.get(start, len(self.text))
        return found

    @cached_property
    def _ends(self) -> dict[int, int]:
        return dict(pairwise(self._turn.sentence_starts))

    @cached_property
    def _is_refused(self) -> bool:
        return self._grammar.refusal.search(self._folded) is not None

    @cached_property
    def _invented_from(self) -> int:
        """Where the sentence starts from which everything is fiction, an exercise or a text to work on."""
        found = self._grammar.invention.search(self._folded)
        return len(self.text) + 1 if found is None else self._turn.sentence_start(found.start())

    @cached_property
    def _tasks(self) -> tuple[tuple[int, int], ...]:
        """The characters that are given to be worked on: with each request, as far as it reaches."""
        return tuple(islice(self._find_tasks(), TASKS_MAX))

    def _find_tasks(self) -> Iterator[tuple[int, int]]:
        for found in self._grammar.task.finditer(self._folded):
            first, last = self._turn.sentence_start(found.start()), self._turn.sentence_end(found.start())
            sentence = self._folded[first:last]
            is_deferred = ":" not in sentence and self._grammar.deferral.search(sentence) is not None
            yield first, last if is_deferred else worked_on_end(self._turn, found.end())

    def _is_foreign(self, start: int) -> bool:
        """Whether something of the whole turn takes back what starts at a place: asked last, as it costs most."""
        is_foreign = self._turn.foreign.hold(start) or self._is_refused
        if is_foreign or self._turn.sentence_start(start) >= self._invented_from:
            return True
        return any(first <= start < last for first, last in self._tasks)

    def _is_passing(self, before: str, within: str, rest: str) -> bool:
        """Whether the clause is tied to a moment or to one piece of work, or the short clause before it does so."""
        clauses = _BREAK.split(before)
        leading = clauses[-2] if len(clauses) > 1 and len(clauses[-2].split()) <= LEADING_WORDS_MAX else ""
        pieces = (within, rest, clauses[-1], leading)
        grammar = self._grammar
        if any(grammar.passing.search(each) is not None for each in pieces):
            return True
        is_moment = any(grammar.moment.search(each) is not None for each in pieces)
        return is_moment and not any(grammar.recurring.search(each) is not None for each in pieces)

    def _is_guess(self, before: str, within: str, after: str) -> bool:
        guess = self._grammar.guess
        if any(not within[found.end() :].strip(" .!)") for found in guess.finditer(within)):
            return True
        if guess.search(_BREAK.split(before)[-1]) is not None or guess.search(_first_clause(after)) is not None:
            return True
        behind = guess.match(after.lstrip(" ,;-(\u2013\u2014"))
        return behind is not None and not after.lstrip(" ,;-(\u2013\u2014")[behind.end() :].strip(" .!?)")

    def _is_introduced(self, before: str, start: int) -> bool:
        """Whether a colon before it, or a line above it, gives the words to somebody else or to be worked on."""
        head, colon, _ = before.rpartition(":")
        is_plain = not colon or self._grammar.introduction.fullmatch(head) is not None
        said = self.text[start - len(before) : start - len(before) + len(head)]
        if not is_plain and (self._grammar.pasted.search(head) is not None or _SPEAKER.match(said) is not None):
            return True
        introduction = lower_case(self._turn.introduction(start) or "")
        return any(each.search(introduction) is not None for each in (self._grammar.pasted, self._grammar.report))

    def _is_asked(self, before: str, after: str, sentence_end: int) -> bool:
        """Whether the statement itself is asked, not another clause of its sentence."""
        end = self.text[max(0, sentence_end - AFTER_CHARS) : sentence_end].rstrip(" \t\n\"')]*_")
        if not end.endswith(QUESTION_MARKS) or self._grammar.reason.match(before) is not None:
            return False
        starts = islice(self._grammar.clause_starts(after, Words(after), starts_behind_breaks(after)), _STARTS_MAX)
        if any(self._grammar.asking.match(after, start) is not None for start in starts if start):
            return False
        is_last = _BREAK.search(after) is None
        is_tied = before.rstrip().endswith((",", "-", "\u2013", "\u2014", "("))
        return not (is_last and is_tied and self._grammar.asking.match(before) is not None)


def _first_clause(after: str) -> str:
    """The rest of the clause behind a match."""
    return _BREAK.split(after, maxsplit=1)[0]
