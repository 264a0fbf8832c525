"""One report over everything that was counted of the ledger in a window."""

from __future__ import annotations

from recalld.models.domain.ledger_report import CandidateCount, DecisionCount, FactCount, LedgerReport, ModeCount
from recalld.models.domain.ledger_tally import Amount, LedgerTallies, TallyFamily
from recalld.models.lab.ledger.chain import compound
from recalld.models.lab.ledger.costs import gate_costs
from recalld.models.lab.ledger.index import TallyIndex, share, total
from recalld.models.lab.ledger.stages import stage_of
from recalld.models.lab.ledger.sums import reconciliations
from recalld.models.lab.ledger.times import gate_times


def ledger_report(tallies: LedgerTallies) -> LedgerReport:
    """Shares with intervals, times, sums that must agree, and what gates cost."""
    index = TallyIndex(tallies)
    return LedgerReport(
        since_ms=tallies.since_ms,
        until_ms=tallies.until_ms,
        decisions=_decisions(index),
        modes=_modes(index),
        candidates=_candidates(index),
        facts=_facts(index),
        reconciliations=reconciliations(index, tallies.rows),
        times=gate_times(index),
        compound=compound(index),
        costs=gate_costs(index),
        pairs_scored=round(index.amount(Amount.PAIRS_SCORED)),
        unreadable=round(index.amount(Amount.UNREADABLE)),
    )


def _decisions(index: TallyIndex) -> tuple[DecisionCount, ...]:
    found = []
    for each in index.of(TallyFamily.DECISION):
        op, decision, reason = each.key
        of_op = index.count(TallyFamily.DECISION, op)
        found.append(DecisionCount(op=op, decision=decision, reason=reason, share=share(each.count, of_op)))
    return tuple(found)


def _modes(index: TallyIndex) -> tuple[ModeCount, ...]:
    modes = index.of(TallyFamily.MODE)
    return tuple(
        ModeCount(mode=each.key[0], degraded_reason=each.key[1], share=share(each.count, total(modes)))
        for each in modes
    )


def _candidates(index: TallyIndex) -> tuple[CandidateCount, ...]:
    candidates = index.of(TallyFamily.CANDIDATE)
    return tuple(
        CandidateCount(
            stage=stage_of(each.key[0]).value, reason=each.key[0], share=share(each.count, total(candidates))
        )
        for each in candidates
    )


def _facts(index: TallyIndex) -> tuple[FactCount, ...]:
    facts = index.of(TallyFamily.FACT)
    return tuple(
        FactCount(found_by=each.key[0], outcome=each.key[1], reason=each.key[2], share=share(each.count, total(facts)))
        for each in facts
    )
