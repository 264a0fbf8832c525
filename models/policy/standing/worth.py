"""What showing a memory in every turn is worth: the return-on-investment rule.

    value = usefulness x cost of an error in words / words of the memory

`usefulness` is the expected share of turns in which showing it averts an error, less the share in which it causes one.
With a Dirichlet prior over "averts", "makes no difference" and "causes", a report adds one to its component, and the
expectation of a component is its share of the sum (conjugacy of the multinomial: Gelman et al., Bayesian Data Analysis,
3rd edition, section 3.4; each component alone is a Beta variable). Components of a memory:

* averts: the prior, `used`, `missed` (an error for want of it), and turns in which the user had to say it again;
* makes no difference: the prior and `ignored`;
* causes: `harmful`, which has no prior and counts `HARM_WEIGHT` times in the difference, since a wrong turn costs the
  repair and the trust.

A memory whose value is under 1 costs more words than the errors that it averts: there the bar stands by default.
The rule (probability of the error without it, times its cost, over words per turn) is GenericAgent's rule for what may
stay in permanent context.
"""

from __future__ import annotations

from typing import Final

import msgspec

from recalld.models.domain.standing import StandingCandidate, StandingChoice
from recalld.models.policy.standing.word import is_users_word

HARM_WEIGHT: Final = 2.0
"""Errors averted that make up for one error caused."""
SAID_AGAIN_MAX: Final = 3
"""Repetitions by the user that count: a habit of speech must not outweigh outcomes."""


class Prior(msgspec.Struct, frozen=True, kw_only=True):
    """Reports imagined before the first one: so many that averted an error, so many that made no difference."""

    averts: float
    idle: float


STATED: Final = Prior(averts=3.0, idle=3.0)
"""What is the user's own word: even odds, worth six reports, so that one report does not turn out a short one."""
INFERRED: Final = Prior(averts=1.0, idle=3.0)
"""What a program found: one in four, and outcomes decide soon."""


def prior_of(candidate: StandingCandidate) -> Prior:
    """The prior of a memory by whose word it is."""
    return STATED if is_users_word(candidate) else INFERRED


def is_proven(candidate: StandingCandidate) -> bool:
    """Whether anything speaks for it: the user's own word or decision, or a use that was reported."""
    return is_users_word(candidate) or candidate.choice is not None or candidate.tally.used > 0


def usefulness_of(candidate: StandingCandidate) -> float:
    """Expected share of turns in which showing it averts an error, less those in which it causes one; in [0, 1].

    Grows with `used` and `missed`, falls with `ignored`, and falls faster with `harmful`; never below 0, where more of
    `ignored` would otherwise seem to mend it.
    """
    prior, tally = prior_of(candidate), candidate.tally
    said_again = min(max(candidate.turns - 1, 0), SAID_AGAIN_MAX)
    averts = prior.averts + said_again + tally.used + tally.missed
    total = averts + prior.idle + tally.ignored + tally.harmful
    return max(0.0, (averts - HARM_WEIGHT * tally.harmful) / total)


def value_of(usefulness: float, *, words: int, error_cost_words: float) -> float:
    """Words of error averted for each word that a turn carries.

    Args:
        usefulness: From `usefulness_of`.
        words: Words of the memory, at least 1.
        error_cost_words: Words that one error costs until it is put right.
    """
    return usefulness * error_cost_words / words


def is_below_bar(candidate: StandingCandidate, value: float, *, value_min: float) -> bool:
    """Whether the rule takes it out of the block. A pinned one stays whatever its value."""
    return candidate.choice is not StandingChoice.PINNED and value < value_min
