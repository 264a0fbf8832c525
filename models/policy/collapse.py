"""One fact for what several generators found in the same words.

Guards: that a fact counts as often as it was found, and that the weaker reading of a sentence is stored beside the
better one. Cost: compares each pair of candidates of a turn. Fails: towards two facts, which the store may still find
to be the same; two facts taken for one would lose the other.

The better generator's candidate stands, and names the others. What it lacks, they lend: a slot where they agree on one,
cues and asks. A generator that may not write lends no words either, and nothing that is lent may cost the user's own
statement anything: an end is lent to the bare sentence of the judge alone, and asks only where they are no stuffing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from recalld.models.domain.errors import RecalldError
from recalld.models.domain.facts import FactCandidate, Generator
from recalld.models.domain.position import Position
from recalld.models.domain.records import NewMemory
from recalld.models.policy.ask_guard import check_asks
from recalld.models.policy.duplicates import fold

_CAREFUL: Final = (Generator.EXPLICIT, Generator.CONFIRMED, Generator.RULE, Generator.JUDGE, Generator.MODEL)
LENT_SHARE_MIN: Final = 0.6
"""Of a fact's words, the share that another reading must be about to lend it a slot: of two facts in one statement, a
newer value of the one must not close the other."""
_OPEN: Final = (Generator.EXPLICIT, Generator.CONFIRMED, Generator.RULE, Generator.MODEL, Generator.JUDGE)


class Collapsed(msgspec.Struct, frozen=True, kw_only=True):
    """One fact.

    Attributes:
        candidate: As the best of those that found it has it, with what the others lent.
        bare: The same without the words that others lent.
        also_found_by: The others, as in `judge:judge.v1`, best first.
    """

    candidate: FactCandidate
    bare: FactCandidate
    also_found_by: tuple[str, ...] = ()


def generator_order(position: Position) -> tuple[Generator, ...]:
    """Generators, best first: whose reading of a sentence stands.

    Where a model may write, its statement comes before the judge's, which is the bare sentence. Elsewhere it must not
    take the judge's place, only to be turned away.
    """
    return _OPEN if position is Position.OPEN else _CAREFUL


def collapse(candidates: Sequence[FactCandidate], position: Position) -> tuple[Collapsed, ...]:
    """Put together what is one fact, in the order in which the facts stand in the turn.

    Args:
        candidates: Of all generators, with spans as far as their quotes were found.
        position: Which generators may write.
    """
    order = generator_order(position)
    groups: list[list[FactCandidate]] = []
    for candidate in sorted(candidates, key=lambda each: (order.index(each.generator), *_place(each))):
        hosts = [group for group in groups if is_same_fact(group[0], candidate)]
        for group in hosts:  # a whole sentence, as the judge takes it, speaks for each fact in it
            group.append(candidate)
        if not hosts:
            groups.append([candidate])
    collapsed = (_collapsed(group, position) for group in groups)
    return tuple(sorted(collapsed, key=lambda each: _place(each.candidate)))


def is_same_fact(a: FactCandidate, b: FactCandidate) -> bool:
    """Whether two candidates of one turn are the same fact: by their slot, their statement, or where they were found.

    Two values of one slot are two facts, and so are an end and a beginning. A generator that finds two facts in the
    same words means two.
    """
    if (a.is_ending != b.is_ending and not _is_end_unread(a, b)) or _differ(a.slot, b.slot):
        return False
    if a.slot and a.slot == b.slot and _differ(fold(a.value), fold(b.value)):
        return False
    if fold(a.statement) == fold(b.statement) or (a.slot and _slot_of(a) == _slot_of(b)):
        return True
    return a.generator is not b.generator and _overlap(a, b)


def _is_end_unread(a: FactCandidate, b: FactCandidate) -> bool:
    """Whether one of two is the judge's, which takes an end for a statement like any other, and the other is about it.

    A sentence that ends one thing and begins another is more than its end.
    """
    sentence, end = (a, b) if a.generator is Generator.JUDGE else (b, a)
    return sentence.generator is Generator.JUDGE and end.is_ending and _speaks_for(end, sentence)


def named(candidate: FactCandidate) -> str:
    """What found a candidate, as in `rule:employer/works_at`."""
    return f"{candidate.generator}:{candidate.rule}"


def _collapsed(group: Sequence[FactCandidate], position: Position) -> Collapsed:
    lead, *others = group
    slots = {(each.slot, each.subject, each.value) for each in others if each.slot and _speaks_for(each, lead)}
    slot, subject, value = lead.slot, lead.subject, lead.value
    if not slot and len(slots) == 1:
        ((slot, subject, value),) = slots
    bare = msgspec.structs.replace(lead, slot=slot, subject=subject, value=value)
    lenders = [each for each in others if each.generator is not Generator.MODEL or position is not Position.STRICT]
    also = dict.fromkeys(map(named, others))
    also.pop(named(lead), None)
    return Collapsed(
        candidate=msgspec.structs.replace(
            bare,
            cues=lead.cues or _first(each.cues for each in lenders),
            asks=lead.asks or _first(each.asks for each in lenders if _are_honest(each.asks, lead.statement)),
            expires_at_ms=_end_of(lead, lenders),
        ),
        bare=bare,
        also_found_by=tuple(also),
    )


def _are_honest(asks: tuple[str, ...], statement: str) -> bool:
    """Whether questions may stand with a statement: a record that carries stuffing could not be stored at all."""
    try:
        check_asks(NewMemory(user="", text=statement, asks=asks))
    except RecalldError:
        return False
    return True


def _end_of(lead: FactCandidate, lenders: Iterable[FactCandidate]) -> int | None:
    if lead.expires_at_ms is not None or lead.generator is not Generator.JUDGE:
        return lead.expires_at_ms
    return min((each.expires_at_ms for each in lenders if each.expires_at_ms is not None), default=None)


def _speaks_for(candidate: FactCandidate, lead: FactCandidate) -> bool:
    """Whether a reading is about most of the words of another one."""
    if candidate.span is None or lead.span is None:
        return fold(candidate.statement) == fold(lead.statement)
    shared = min(candidate.span.end, lead.span.end) - max(candidate.span.start, lead.span.start)
    return shared >= LENT_SHARE_MIN * (lead.span.end - lead.span.start)


def _first(texts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return next(filter(None, texts), ())


def _differ(a: str, b: str) -> bool:
    """Whether both say something, and not the same."""
    return bool(a) and bool(b) and a != b


def _slot_of(candidate: FactCandidate) -> tuple[str, str, str]:
    return candidate.slot, fold(candidate.subject), fold(candidate.value)


def _overlap(a: FactCandidate, b: FactCandidate) -> bool:
    if a.span is None or b.span is None:
        return False
    return a.span.start < b.span.end and b.span.start < a.span.end


def _place(candidate: FactCandidate) -> tuple[float, float]:
    """Where it stands; behind everything where that is not known."""
    span = candidate.span
    return (float("inf"), 0.0) if span is None else (span.start, span.end)
