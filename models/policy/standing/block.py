"""From candidates to a standing block, and why it is empty when it is.

Guards: what a session carries in every turn. Costs a sort of at most a few hundred rows. Fails towards silence: what is
not shown is still recalled when a turn asks for it. Its two errors: a memory that stands and is never used costs its
words in every turn until outcomes demote it; one demoted too early is missed until a turn asks for it, which `missed`
reports and mends. Neither rate is known before outcomes are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from recalld.models.domain.standing import (
    StandingAction,
    StandingCandidates,
    StandingChoice,
    StandingReason,
    StandingRow,
    StandingVerdict,
)
from recalld.models.policy.standing.fit import BlockLimits, FittedBlock, fit
from recalld.models.policy.standing.rank import StandingRules, rank

CHARS_MAX: Final = 1_375
"""Characters of a block by default: the cap of Hermes Agent for what it keeps of a person in every prompt."""
LINES_MAX: Final = 30
TOKENS_MAX: Final = 1_000
"""With `LINES_MAX`, GenericAgent's bounds for what is permanently in context."""
VALUE_MIN: Final = 1.0
"""The bar: a memory must avert as many words of error as it costs words."""
ERROR_COST_WORDS: Final = 200.0
"""What one error costs by default: a wrong answer, its correction and the answer done again. An assumption, not a
measurement; it sets how long a memory may be for what it does."""

_OVER = frozenset({StandingVerdict.OVER_CHARS, StandingVerdict.OVER_LINES, StandingVerdict.OVER_TOKENS})


def choose_block(found: StandingCandidates, rules: StandingRules, limits: BlockLimits) -> FittedBlock:
    """Rank the candidates and fit them."""
    return fit(rank(found.candidates, rules), limits)


def reason_of(rows: Sequence[StandingRow]) -> StandingReason:
    """Why the block of these judged candidates is as it is: what came nearest to being shown decides."""
    verdicts = {row.verdict for row in rows}
    if StandingVerdict.SHOWN in verdicts:
        return StandingReason.GIVEN
    if verdicts & _OVER:
        return StandingReason.OVER_LIMITS
    if StandingVerdict.ALREADY_VISIBLE in verdicts:
        return StandingReason.ALREADY_VISIBLE
    return StandingReason.DEMOTED if verdicts else StandingReason.NOTHING_STANDING


def choice_after(
    action: StandingAction, choice: StandingChoice | None, *, by_kind: bool, has_reports: bool
) -> StandingChoice | None:
    """What holds for a memory after a person did something about it; None: nothing was decided.

    `unpin` undoes a pin and nothing else. `restore` is the way back to no choice: it forgets what a person decided and
    what was reported, so that a preference stands as on its first day and a fact does not stand. Without reports there
    is nothing to look past, and no choice remains. `demote` leaves a pointer to what stood, and does nothing to a fact
    that never did.

    Args:
        action: What the person did.
        choice: What held before.
        by_kind: Whether the memory is of a kind that stands by itself.
        has_reports: Whether anything was ever reported on it.
    """
    match action:
        case StandingAction.PIN:
            return StandingChoice.PINNED
        case StandingAction.DEMOTE:
            return StandingChoice.DEMOTED if by_kind or choice is not None else None
        case StandingAction.UNPIN:
            return None if choice is StandingChoice.PINNED else choice
        case StandingAction.RESTORE:
            return StandingChoice.RESTORED if by_kind and has_reports else None


def holds_after(choice: StandingChoice | None, *, by_kind: bool) -> bool:
    """Whether a memory is a candidate for the block: pinned, or of a kind that stands and not demoted."""
    return choice is StandingChoice.PINNED or (by_kind and choice is not StandingChoice.DEMOTED)
