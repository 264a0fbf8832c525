"""The rules generator: the facts that a user's turn states in a canonical way.

Guards: what the user says plainly ("we moved from Redshift to BigQuery") from being lost; recall lost here cannot be
regained. It reads the user's own words only, as `SaveTurn` holds them, and finds every statement of a turn: a match
that is rejected never hides a later one.
Cost: a pass over the words of the turn; patterns are tried only where one of their triggers stands near, at the starts
of clauses that can open one, and at most `ATTEMPTS_MAX` times. Linear in the turn, of which `TEXT_CHARS_MAX` characters
are read. `tests/benchmarks/admission_latency.py` prints it.
Fails: towards no fact. What is asked, denied, supposed or reported is left out here clause by clause, and judged again
by the policy.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import islice, zip_longest
from operator import or_

import msgspec

from recalld.models.domain.facts import FactCandidate
from recalld.models.domain.records import MEMORY_CHARS_MAX
from recalld.models.policy.save_turn import SaveTurn
from recalld.models.policy.statements.context import TurnContext
from recalld.models.policy.statements.grammar import Words, lower_case, starts_behind_breaks
from recalld.models.policy.statements.make import SUCCESSOR, make_candidates
from recalld.models.policy.statements.names import MarkedTurn, mark_names
from recalld.models.policy.statements.openings import OPENING_CHARS
from recalld.models.policy.statements.rule_book import CompiledRule, RuleBook, shipped_books

FACTS_MAX = 24
"""Facts found in one turn; one that states more is a document."""
TEXT_CHARS_MAX = 6_000
"""Characters of a turn in which facts are looked for: of a longer one its head and its tail. See `is_read_whole`."""
ATTEMPTS_MAX = 500
"""Tries of a pattern at a place in one turn: bounds the cost of a hostile one."""
JUDGED_MAX = 32
"""Matches in one turn whose surroundings are looked at."""
REACH_CHARS = 120
"""How far behind the start of its clause a trigger may stand."""
STARTS_BACK = 6
"""Starts of clauses before a trigger that are tried."""
NAME_TRIGGER = "@name"
"""The trigger of rules that wait for a name of the gazetteer."""


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """A rule's match that its surroundings let stand."""

    compiled: CompiledRule
    match: re.Match[str]

    @property
    def slot(self) -> str:
        """What the match states a value of."""
        return self.compiled.rule.slot


class _Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it is read once for all languages.

    Attributes:
        turn: It.
        marked: Its masked text with names marked.
        folded: That text in lower case, with the same positions.
        words: Its words.
        starts: Where clauses start in any language.
        gap: The middle of a long turn, which is blank in the texts; empty at its end where there is none.
    """

    turn: SaveTurn
    marked: MarkedTurn
    folded: str
    words: Words
    starts: tuple[int, ...]
    gap: range

    def is_cut_short(self, match: re.Match[str]) -> bool:
        """Whether a match reaches the gap, so that some of what it finds may be missing."""
        if not self.gap:
            return False
        if match.start() >= self.gap.stop:
            return not self.marked.text[self.gap.stop : match.start()].strip()
        return not self.marked.text[match.end() : self.gap.start].strip()


class _Budget:
    """What one turn may still cost: tries, and matches to look at more closely."""

    def __init__(self) -> None:
        self.attempts = ATTEMPTS_MAX
        self.judged = JUDGED_MAX

    @property
    def is_spent(self) -> bool:
        """Whether nothing more may be tried."""
        return self.attempts <= 0 or self.judged <= 0


def find_stated(turn: SaveTurn, books: Sequence[RuleBook] | None = None) -> tuple[FactCandidate, ...]:
    """The facts that a turn states, in text order, each with its span, statement and headings.

    Args:
        turn: The user's own words, prepared by `prepare_turn`.
        books: The rules of each language to look for; None for the shipped ones.
    """
    if not turn.text:
        return ()
    reading = _read(turn)
    budget = _Budget()
    candidates = [
        candidate
        for book in (shipped_books() if books is None else books)
        for found in _found(reading, book, budget)
        for candidate in make_candidates(found.compiled.rule, found.match, turn, reading.marked)
        if len(candidate.statement) <= MEMORY_CHARS_MAX
    ]
    return tuple(islice(_in_order(candidates), FACTS_MAX))


def is_read_whole(turn: SaveTurn) -> bool:
    """Whether facts are looked for in all of a turn."""
    return len(turn.text) <= TEXT_CHARS_MAX


def prepare_rules() -> None:
    """Load the gazetteer and the rules and compile their patterns, once in a process."""
    shipped_books()
    mark_names("PostgreSQL")


def _in_order(candidates: Sequence[FactCandidate]) -> Iterator[FactCandidate]:
    """In text order; of two languages' finds of one slot, or of the same statement, the first."""
    seen: set[tuple[str, str]] = set()
    for candidate in sorted(candidates, key=_start):
        key = (candidate.slot or "=", candidate.statement.casefold())
        if key not in seen:
            seen.add(key)
            yield candidate


def _start(candidate: FactCandidate) -> int:
    return 0 if candidate.span is None else candidate.span.start


def _read(turn: SaveTurn) -> _Reading:
    size, half = len(turn.masked), TEXT_CHARS_MAX // 2
    gap = range(half, size - half) if size > TEXT_CHARS_MAX else range(size, size)
    blank = "\n".ljust(len(gap) - 1) + "\n" if gap else ""
    marked = mark_names(f"{turn.masked[: gap.start]}{blank}{turn.masked[gap.stop :]}")
    return _Reading(
        turn=turn,
        marked=marked,
        folded=lower_case(marked.text),
        words=Words(marked.text),
        starts=tuple(starts_behind_breaks(marked.text)),
        gap=gap,
    )


def _found(reading: _Reading, book: RuleBook, budget: _Budget) -> tuple[_Found, ...]:
    """The matches of one language's rules that stand, without those that an earlier rule's match covers."""
    triggers = _triggers(reading, book)
    if not triggers:
        return ()
    context = TurnContext(reading.turn, reading.marked.text, reading.folded, book.grammar)
    found: list[_Found] = []
    for start, bits in _places(reading, book, triggers):
        if budget.is_spent:
            break
        tried = _tried(book, bits, start, context, budget)
        found += [each for each in tried if not reading.is_cut_short(each.match)]
    return _uncovered(found)


def _triggers(reading: _Reading, book: RuleBook) -> list[tuple[int, int]]:
    """Where triggers stand, in text order, with the patterns that each may make match."""
    by_trigger, words = book.by_trigger, reading.words
    names = reading.marked.names
    allowed = -1 if names else book.nameless
    found = []
    if words.has_any(by_trigger.keys()):
        pairs = zip(words.starts, words.folded, strict=True)
        found = [(start, bits) for start, word in pairs if word in by_trigger and (bits := by_trigger[word] & allowed)]
    if names and NAME_TRIGGER in by_trigger:
        found += [(start, by_trigger[NAME_TRIGGER]) for start in names]
        found.sort()
    return found


def _places(reading: _Reading, book: RuleBook, triggers: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Where it is worth trying patterns, and which: those that begin like the text and have a trigger near by."""
    folded, may_begin, anywhere = reading.folded, book.openings.of, book.anywhere
    for place, bits in triggers:
        opened = bits & anywhere and bits & anywhere & may_begin(folded[place : place + OPENING_CHARS])
        if opened:
            yield place, opened
    if all(bits & ~anywhere == 0 for _, bits in triggers):
        return
    starts = book.grammar.clause_starts(folded, reading.words, reading.starts)
    places = [place for place, _ in triggers]
    for start, following, past in zip_longest(starts, starts[1:], starts[STARTS_BACK:], fillvalue=len(folded)):
        opened = may_begin(folded[start : start + OPENING_CHARS]) & ~anywhere
        if not opened or start == following:
            continue
        first, past_last = bisect_left(places, start), bisect_left(places, min(past, start + REACH_CHARS + 1))
        triggered = reduce(or_, (bits for _, bits in triggers[first:past_last]), 0)
        if opened & triggered:
            yield start, opened & triggered


def _tried(book: RuleBook, bits: int, start: int, context: TurnContext, budget: _Budget) -> Iterator[_Found]:
    """Of each rule, the first match at a place that its surroundings let stand."""
    _, sentence_end = context.sentence(start)
    found_by: CompiledRule | None = None
    while bits and not budget.is_spent:
        number = (bits & -bits).bit_length() - 1
        bits &= bits - 1
        attempt = book.attempts[number]
        compiled = attempt.compiled
        if compiled is found_by:
            continue
        budget.attempts -= 1
        match = attempt.pattern.match(context.text, start, sentence_end)
        if match is None or match.end() == start:
            continue
        budget.judged -= 1
        if context.lets_stand(
            start,
            match.end(),
            is_granted=compiled.rule.anywhere,
            is_ending=compiled.rule.is_ending,
            is_thing=compiled.needs_name,
        ):
            found_by = compiled
            yield _Found(compiled=compiled, match=match)


def _uncovered(found: Sequence[_Found]) -> tuple[_Found, ...]:
    """Without what overlaps a match of an earlier rule for the same slot, or of any rule if one of them fills none.

    What is only taken for granted covers nothing but its own slot: "my son Jonas has asthma" is two facts.
    """
    kept: list[_Found] = []
    for each in sorted(found, key=lambda other: (other.compiled.rank, other.match.start())):
        if not any(_is_same_find(each, other) for other in kept):
            kept.append(each)
    return tuple(kept)


def _is_move(one: _Found, other: _Found) -> bool:
    """Whether one of two says what the other's new value takes the place of: "from Kafka to NATS" is both."""
    return any(SUCCESSOR in each.match.re.groupindex for each in (one, other))


def _is_same_find(one: _Found, other: _Found) -> bool:
    is_apart = one.match.end() <= other.match.start() or other.match.end() <= one.match.start()
    is_end_of_move = one.compiled.rule.is_ending != other.compiled.rule.is_ending and _is_move(one, other)
    if is_apart or is_end_of_move:
        return False
    is_granted = one.compiled.rule.anywhere or other.compiled.rule.anywhere
    return one.slot == other.slot or (not is_granted and not (one.slot and other.slot))
