"""The order of the candidates for a standing block, and which of them may have a place in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from recalld.models.domain.standing import StandingCandidate, StandingChoice, StandingRow, StandingVerdict
from recalld.models.policy.duplicates import fold
from recalld.models.policy.standing.measure import size_of
from recalld.models.policy.standing.worth import is_below_bar, is_proven, usefulness_of, value_of


class StandingRules(msgspec.Struct, frozen=True, kw_only=True):
    """What decides who may stand.

    Attributes:
        value_min: The bar: words of error averted for each word carried.
        error_cost_words: Words that one error costs until it is put right.
        visible: Ids that the session sees already.
    """

    value_min: float
    error_cost_words: float
    visible: frozenset[str] = frozenset()


def rank(candidates: Iterable[StandingCandidate], rules: StandingRules) -> tuple[StandingRow, ...]:
    """Judge the candidates and put them in order: pinned ones first, then by usefulness, then the newest.

    The verdict `shown` means here that nothing but room can keep it out. The order is total, so that the same memories
    always give the same block.
    """
    rows = sorted((_judged(candidate, rules) for candidate in candidates), key=_order)
    return _without_duplicates(rows)


def _judged(candidate: StandingCandidate, rules: StandingRules) -> StandingRow:
    words = size_of(candidate.memory.text).words
    usefulness = usefulness_of(candidate)
    value = value_of(usefulness, words=words, error_cost_words=rules.error_cost_words)
    verdict = _verdict(candidate, value, rules)
    return StandingRow(candidate=candidate, usefulness=usefulness, value=value, words=words, verdict=verdict)


def _verdict(candidate: StandingCandidate, value: float, rules: StandingRules) -> StandingVerdict:
    """The gravest thing that speaks against it."""
    if candidate.choice is StandingChoice.DEMOTED:
        return StandingVerdict.DEMOTED
    if not is_proven(candidate):
        return StandingVerdict.UNPROVEN
    if is_below_bar(candidate, value, value_min=rules.value_min):
        return StandingVerdict.BELOW_BAR
    if candidate.memory.id in rules.visible:
        return StandingVerdict.ALREADY_VISIBLE
    return StandingVerdict.SHOWN


def _order(row: StandingRow) -> tuple[bool, float, int, int, str]:
    memory = row.candidate.memory
    is_pinned = row.candidate.choice is StandingChoice.PINNED
    return (not is_pinned, -row.usefulness, -memory.updated_at_ms, -memory.created_at_ms, memory.id)


def _without_duplicates(rows: Sequence[StandingRow]) -> tuple[StandingRow, ...]:
    """Say the same words once, also when they are stored globally and for the scope, or are visible already."""
    said: set[str] = set()
    kept: list[StandingRow] = []
    for row in rows:
        if row.verdict not in {StandingVerdict.SHOWN, StandingVerdict.ALREADY_VISIBLE}:
            kept.append(row)
            continue
        words = fold(row.candidate.memory.text)
        is_repeated = words in said and row.verdict is StandingVerdict.SHOWN
        said.add(words)
        kept.append(msgspec.structs.replace(row, verdict=StandingVerdict.DUPLICATE) if is_repeated else row)
    return tuple(kept)
