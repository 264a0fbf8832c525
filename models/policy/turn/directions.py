"""Direction knobs: which way each operation goes when its gate cannot decide.

Five separate knobs for each operation, because "the evidence is weak" and "the probe timed out" may call for different
answers. The defaults follow the harm done: a needless recall costs milliseconds, so reading goes ahead; what is put in
front of the user unasked stays silent; what touches every session or deletes is refused; what can be done later waits.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

import msgspec


class GateAnswer(enum.StrEnum):
    """What a gate tells its asker to do."""

    RUN = "run"
    SKIP = "skip"
    DEFER = "defer"
    """Not now: leave it pending."""
    REFUSE = "refuse"
    """Not like this: the request must change first."""


class GateOperation(enum.StrEnum):
    """What a gate guards."""

    RECALL = "recall"
    REWRITE = "rewrite"
    INJECT = "inject"
    PROBE = "probe"
    TUNE = "tune"
    SWEEP = "sweep"
    WRITE = "write"
    EXTRACT = "extract"
    CONSOLIDATE = "consolidate"


class GateCause(enum.StrEnum):
    """Why a gate could not decide."""

    WEAK = "weak"
    """Everything worked, and nothing spoke clearly for either side."""
    ERROR = "error"
    TIMEOUT = "timeout"
    MISSING_INPUT = "missing_input"
    """The caller did not supply what the decision needs."""
    BUDGET = "budget"
    """There was no time or money left to ask."""


class Directions(msgspec.Struct, frozen=True, kw_only=True):
    """One operation's answer for each cause."""

    on_weak: GateAnswer
    on_error: GateAnswer
    on_timeout: GateAnswer
    on_missing_input: GateAnswer
    on_budget: GateAnswer

    def answer(self, cause: GateCause) -> GateAnswer:
        """The answer for one cause."""
        match cause:
            case GateCause.WEAK:
                return self.on_weak
            case GateCause.ERROR:
                return self.on_error
            case GateCause.TIMEOUT:
                return self.on_timeout
            case GateCause.MISSING_INPUT:
                return self.on_missing_input
            case GateCause.BUDGET:
                return self.on_budget
        assert_never(cause)


def _always(answer: GateAnswer) -> Directions:
    return Directions(on_weak=answer, on_error=answer, on_timeout=answer, on_missing_input=answer, on_budget=answer)


DEFAULT_DIRECTIONS: Mapping[GateOperation, Directions] = MappingProxyType(
    {
        GateOperation.RECALL: _always(GateAnswer.RUN),
        GateOperation.REWRITE: _always(GateAnswer.RUN),
        GateOperation.INJECT: _always(GateAnswer.SKIP),
        GateOperation.PROBE: _always(GateAnswer.SKIP),
        GateOperation.TUNE: _always(GateAnswer.SKIP),
        GateOperation.SWEEP: _always(GateAnswer.REFUSE),
        GateOperation.WRITE: _always(GateAnswer.REFUSE),
        GateOperation.EXTRACT: _always(GateAnswer.DEFER),
        GateOperation.CONSOLIDATE: _always(GateAnswer.DEFER),
    }
)
"""Every operation's knobs as shipped: open, closed, refused or left pending."""


def direction(
    op: GateOperation, cause: GateCause, *, table: Mapping[GateOperation, Directions] = DEFAULT_DIRECTIONS
) -> GateAnswer:
    """Which way an operation goes when its gate cannot decide.

    Args:
        op: The operation.
        cause: Why there is no decision.
        table: The knobs in force; an operation it does not name keeps its default.
    """
    return table.get(op, DEFAULT_DIRECTIONS[op]).answer(cause)
