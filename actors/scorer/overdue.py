"""When a pair that is running says that the scorer does not work, rather than that there was little time. Pure.

A recall may run out of its own time before anything was scored: the pair was long, the machine busy, or most of the
time gone before it came to scoring. None of that is the scorer's failure, and one user's memories must not close it to
the others. A pair that has run for a multiple of what it should have taken is.
"""

from __future__ import annotations

from typing import Final

from recalld.actors.scorer.messages import Pair
from recalld.models.policy.cost_model import CONTROL_TOKENS, QUERY_TOKENS_MAX, CostModel
from recalld.models.policy.token_estimate import estimated_tokens

OVERDUE_FACTOR: Final = 3.0
"""How many times longer than predicted; runs that share a busy machine with others take up to twice as long."""


def is_overdue(pair: Pair, cost: CostModel, *, running_s: float) -> bool:
    """Whether a pair has been running for far too long.

    Its tokens are told from its characters, leaning upwards: what the planner's average for plain prose makes of a text
    of symbols would be too few.

    Args:
        pair: What runs.
        cost: What tokens have cost.
        running_s: Seconds since a lane was given it.
    """
    tokens = CONTROL_TOKENS + min(estimated_tokens(pair.query), QUERY_TOKENS_MAX) + estimated_tokens(pair.memory_text)
    return running_s * 1000.0 > OVERDUE_FACTOR * cost.predict_ms(tokens)
