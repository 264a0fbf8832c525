"""All gates of a recall together: what each let through of what reached it, and what was left at the end.

The ledger knows of each gate only what it was asked: what the floor dropped, no relevance gate ever judged. Each step
is therefore a share of what reached it, and their product is the joint share by construction. How the gates do alone,
on the same candidates, takes labels: `recalld eval` measures that.
"""

from __future__ import annotations

from recalld.models.domain.ledger_report import CompoundReport, CompoundStep
from recalld.models.domain.ledger_tally import TallyFamily
from recalld.models.domain.reasons import Op, RecallDecision
from recalld.models.lab.ledger.index import TallyIndex, share
from recalld.models.lab.ledger.stages import Stage, stage_of

_JUDGING = (Stage.SEARCH, Stage.EXCLUSIONS, Stage.FLOOR, Stage.BUDGET, Stage.RELEVANCE, Stage.PACK)


def compound(index: TallyIndex) -> CompoundReport | None:
    """The chain over a window; None without a recall."""
    recalls = index.count(TallyFamily.DECISION, Op.RECALL)
    if not recalls:
        return None
    skipped = index.count(TallyFamily.DECISION, Op.RECALL, RecallDecision.SKIP)
    failed = index.count(TallyFamily.DECISION, Op.RECALL, RecallDecision.ERROR)
    ended = dict.fromkeys(Stage, 0)
    for each in index.of(TallyFamily.CANDIDATE):
        ended[stage_of(each.key[0])] += each.count
    steps = [CompoundStep(gate="turn", passed=share(recalls - failed - skipped, recalls - failed))]
    nominated = left = sum(ended.values())
    for stage in _JUDGING:
        steps.append(CompoundStep(gate=stage.value, passed=share(left - ended[stage], left)))
        left -= ended[stage]
    return CompoundReport(
        steps=tuple(steps),
        candidates=share(ended[Stage.INJECTED], nominated),
        recalls=share(index.count(TallyFamily.DECISION, Op.RECALL, RecallDecision.INJECT), recalls),
    )
