"""Sums that must agree: each total is counted apart from its parts, so that a row that got lost shows."""

from __future__ import annotations

from collections.abc import Iterator

from recalld.models.domain.ledger_report import Reconciliation
from recalld.models.domain.ledger_tally import Amount, TallyFamily
from recalld.models.domain.reasons import AdmissionReason, Op, RecallDecision
from recalld.models.lab.ledger.index import TallyIndex
from recalld.models.lab.ledger.stages import Stage, stage_of

INJECTED = "injected"
NOTHING = "nothing"


def reconciliations(index: TallyIndex, rows: dict[str, int] | None) -> tuple[Reconciliation, ...]:
    """Rows against decisions, recalls and turns against how they ended, candidates and facts against their fates.

    Args:
        index: The counts of the window.
        rows: Ledger rows that are there, by operation; None: nobody counted them.
    """
    return tuple(_sums(index, rows))


def _sums(index: TallyIndex, rows: dict[str, int] | None) -> Iterator[Reconciliation]:
    if rows is not None:
        yield Reconciliation(name="ledger_rows", total=sum(rows.values()), parts=_by_op(index))
        yield Reconciliation(name="recalls", total=rows.get(Op.RECALL.value, 0), parts=_recalls(index))
        yield Reconciliation(name="turns", total=rows.get(Op.OBSERVE.value, 0), parts=_turns(index))
    yield Reconciliation(name="candidates", total=round(index.amount(Amount.CANDIDATES)), parts=_candidates(index))
    yield Reconciliation(name="facts", total=round(index.amount(Amount.FACTS)), parts=_facts(index))


def _by_op(index: TallyIndex) -> dict[str, int]:
    return _summed((each.key[0], each.count) for each in index.of(TallyFamily.DECISION))


def _recalls(index: TallyIndex) -> dict[str, int]:
    """Injected, and the others by decision and reason."""
    return _summed(
        (INJECTED if decision == RecallDecision.INJECT else f"{decision}:{reason}", each.count)
        for each in index.of(TallyFamily.DECISION)
        for op, decision, reason in (each.key,)
        if op == Op.RECALL
    )


def _turns(index: TallyIndex) -> dict[str, int]:
    """By what the turn came to; one in which nothing was stated is no dropped one."""
    return _summed(
        (NOTHING if reason == AdmissionReason.NOTHING_STATED else decision, each.count)
        for each in index.of(TallyFamily.DECISION)
        for op, decision, reason in (each.key,)
        if op == Op.OBSERVE
    )


def _candidates(index: TallyIndex) -> dict[str, int]:
    parts = _summed((stage_of(each.key[0]).value, each.count) for each in index.of(TallyFamily.CANDIDATE))
    return {stage.value: parts[stage.value] for stage in Stage if stage.value in parts}


def _facts(index: TallyIndex) -> dict[str, int]:
    return _summed((each.key[1], each.count) for each in index.of(TallyFamily.FACT))


def _summed(counts: Iterator[tuple[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, count in counts:
        sums[name] = sums.get(name, 0) + count
    return sums
