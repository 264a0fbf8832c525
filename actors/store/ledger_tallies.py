"""What one ledger row adds to the counts of its hour, the same in every store.

Counting as rows are written costs a few small updates each; counting when somebody asks would read every body again.
Bodies are read for what is counted alone, so that a body of an older version counts as far as it goes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from recalld.models.domain.admission_store import DroppedFact, FactOutcome
from recalld.models.domain.facts import Generator
from recalld.models.domain.ledger_tally import Amount, LedgerTally, Step, TallyFamily, bucket_of
from recalld.models.domain.reasons import AdmissionReason, Op, RecallDecision
from recalld.models.domain.store import DecisionRow

DROPPED: Final = "dropped"
"""The outcome of a fact that led to nothing."""


class _Candidate(msgspec.Struct, frozen=True):
    reason: str = ""


class _Turn(msgspec.Struct, frozen=True):
    model_chars: int = 0


class _RecallBody(msgspec.Struct, frozen=True):
    """What is counted of `actors.recall.report.RecallBody`."""

    items: tuple[_Candidate, ...] = ()
    dropped: tuple[_Candidate, ...] = ()
    pairs_scored: int = 0
    kept_back: int = 0
    kept_back_chars: int = 0
    total_ms: float = 0.0
    turn_ms: float = 0.0
    embed_ms: float = 0.0
    search_ms: float = 0.0
    gate_ms: float = 0.0
    turn: _Turn | None = None


class _Fact(msgspec.Struct, frozen=True):
    outcome: FactOutcome
    reason: AdmissionReason
    generator: Generator


class _TurnBody(msgspec.Struct, frozen=True):
    """What is counted of `models.domain.turn_body.TurnBody`."""

    facts: tuple[_Fact, ...] = ()
    dropped: tuple[DroppedFact, ...] = ()
    read_ms: float = 0.0
    judge_ms: float = 0.0
    policy_ms: float = 0.0


class _DecideBody(msgspec.Struct, frozen=True):
    """What is counted of `actors.decide.report.DecideBody`."""

    cost_ms: float = 0.0


_recall_bodies: Final = msgspec.json.Decoder(_RecallBody)
_turn_bodies: Final = msgspec.json.Decoder(_TurnBody)
_decide_bodies: Final = msgspec.json.Decoder(_DecideBody)


def tallies_of(row: DecisionRow) -> tuple[LedgerTally, ...]:
    """The counts that a row adds; each family and key once. A body that nobody can read is counted as such."""
    decided = _count(TallyFamily.DECISION, (row.op.value, row.decision, row.reason), 1)
    try:
        return (decided, *_of_body(row))
    except (msgspec.DecodeError, UnicodeError):
        return (decided, _amount(Amount.UNREADABLE, 1.0))


def _of_body(row: DecisionRow) -> Iterable[LedgerTally]:
    # Each is built whole before the first is handed out: a body is counted in full or not at all.
    match row.op:
        case Op.RECALL:
            return tuple(_of_recall(row, _recall_bodies.decode(row.body)))
        case Op.OBSERVE:
            return tuple(_of_turn(_turn_bodies.decode(row.body)))
        case Op.DECIDE:
            return tuple(_times(((Step.DECIDE, _decide_bodies.decode(row.body).cost_ms),)))
        case _:
            return ()


def _of_recall(row: DecisionRow, body: _RecallBody) -> Iterator[LedgerTally]:
    yield _count(TallyFamily.MODE, (row.mode, row.degraded_reason), 1)
    fates = Counter(("",) * len(body.items))
    fates.update(each.reason for each in body.dropped)
    yield from (_count(TallyFamily.CANDIDATE, (fate,), count) for fate, count in fates.items())
    yield from _amounts(
        (
            (Amount.CANDIDATES, len(body.items) + len(body.dropped)),
            (Amount.PAIRS_SCORED, body.pairs_scored),
            (Amount.KEPT_BACK, body.kept_back),
            (Amount.KEPT_BACK_CHARS, body.kept_back_chars),
            (Amount.TURN_MODEL_CHARS, body.turn.model_chars if body.turn else 0),
        )
    )
    yield from _times(
        (
            (Step.TURN, body.turn_ms),
            (Step.EMBED, body.embed_ms),
            (Step.SEARCH, body.search_ms),
            (Step.RELEVANCE, body.gate_ms),
            (Step.RECALL, body.total_ms),
        )
    )
    if row.decision in _SEARCHED and body.total_ms > 0:
        yield _amount(Amount.SEARCHED_MS, max(0.0, body.total_ms - body.turn_ms))


_SEARCHED: Final = frozenset({RecallDecision.INJECT.value, RecallDecision.SILENT.value})


def _of_turn(body: _TurnBody) -> Iterator[LedgerTally]:
    facts = Counter((each.generator.value, each.outcome.value, each.reason.value) for each in body.facts)
    facts.update((each.generator.value if each.generator else "", DROPPED, each.reason.value) for each in body.dropped)
    yield from (_count(TallyFamily.FACT, key, count) for key, count in facts.items())
    yield from _amounts(((Amount.FACTS, len(body.facts) + len(body.dropped)),))
    whole_ms = body.read_ms + body.judge_ms + body.policy_ms
    yield from _times(
        (
            (Step.READ, body.read_ms),
            (Step.JUDGE, body.judge_ms),
            (Step.POLICY, body.policy_ms),
            (Step.WRITE, whole_ms),
        )
    )


def _count(family: TallyFamily, key: tuple[str, ...], count: int) -> LedgerTally:
    return LedgerTally(family=family, key=key, count=count)


def _amount(name: Amount, total: float) -> LedgerTally:
    return LedgerTally(family=TallyFamily.AMOUNT, key=(name.value,), count=1, total=total)


def _amounts(amounts: Iterable[tuple[Amount, float]]) -> Iterator[LedgerTally]:
    """Those that are above nothing: rows that add nothing to a quantity need no row of it."""
    return (_amount(name, float(total)) for name, total in amounts if total > 0)


def _times(times: Iterable[tuple[Step, float]]) -> Iterator[LedgerTally]:
    """Those of steps that ran; a time that is no number is nobody's time."""
    return (
        LedgerTally(family=TallyFamily.TIME, key=(step.value, str(bucket_of(elapsed_ms))), count=1, total=elapsed_ms)
        for step, elapsed_ms in times
        if elapsed_ms > 0 and math.isfinite(elapsed_ms)
    )
