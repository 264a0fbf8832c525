"""What each gate spent, against the work that it avoided."""

from __future__ import annotations

import math
from typing import Final

from recalld.models.domain.ledger_report import GateCost
from recalld.models.domain.ledger_tally import Amount, Step, TallyFamily
from recalld.models.domain.reasons import Op, RecallDecision
from recalld.models.lab.ledger.index import TallyIndex
from recalld.models.lab.ledger.times import histogram_percentile_ms

CHARS_PER_TOKEN: Final = 4.0
"""Characters of English to one token of a language model: a rule of thumb, since the model behind is not known."""
_RECORDS: Final = frozenset({"created", "duplicate", "updated", "superseded", "closed", "promoted"})
"""Outcomes of facts that are, or changed, a record."""


def gate_costs(index: TallyIndex) -> tuple[GateCost, ...]:
    """The costs of those gates that ran."""
    costs = (_turn(index), _relevance(index), _write(index))
    return tuple(each for each in costs if each.decisions)


def tokens_of(chars: float) -> int:
    """About how many tokens a text has."""
    return math.ceil(chars / CHARS_PER_TOKEN)


def _turn(index: TallyIndex) -> GateCost:
    """Each skipped search would have taken as long as one that ran, on average."""
    skipped = index.count(TallyFamily.DECISION, Op.RECALL, RecallDecision.SKIP)
    searched = index.decisions_with(Amount.SEARCHED_MS)
    mean_ms = index.amount(Amount.SEARCHED_MS) / searched if searched else None
    return _cost(
        index,
        Step.TURN,
        spent_tokens=tokens_of(index.amount(Amount.TURN_MODEL_CHARS)),
        avoided=skipped,
        avoided_ms=None if mean_ms is None else skipped * mean_ms,
    )


def _relevance(index: TallyIndex) -> GateCost:
    """What the gate kept back would have been read by the runtime's model, turn after turn."""
    return _cost(
        index,
        Step.RELEVANCE,
        avoided=round(index.amount(Amount.KEPT_BACK)),
        avoided_tokens=tokens_of(index.amount(Amount.KEPT_BACK_CHARS)),
    )


def _write(index: TallyIndex) -> GateCost:
    kept_out = sum(each.count for each in index.of(TallyFamily.FACT) if each.key[0] and each.key[1] not in _RECORDS)
    return _cost(index, Step.WRITE, avoided=kept_out)


def _cost(
    index: TallyIndex,
    step: Step,
    *,
    avoided: int,
    spent_tokens: int = 0,
    avoided_ms: float | None = None,
    avoided_tokens: int | None = None,
) -> GateCost:
    histogram = index.histogram(step)
    return GateCost(
        gate=step.value,
        decisions=sum(histogram.values()),
        spent_ms=index.time_ms(step),
        p50_ms=histogram_percentile_ms(histogram, 0.50) if histogram else 0.0,
        p95_ms=histogram_percentile_ms(histogram, 0.95) if histogram else 0.0,
        spent_tokens=spent_tokens,
        avoided=avoided,
        avoided_ms=avoided_ms,
        avoided_tokens=avoided_tokens,
    )
