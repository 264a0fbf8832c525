"""Deadlines inside one recall. Seconds on the monotonic clock; all absolute.

Equal inner and outer deadlines make a fallback unreachable: by the time the gate gives up, the caller has gone. So
every step ends a reserve before the envelope, and within that reserve the degraded answer leaves.
"""

from __future__ import annotations

RESERVE_S = 0.015
"""What a reply is given to leave: packing, the ledger row, encoding and one write, each well under a millisecond, and
room for an event loop that is busy elsewhere."""
RESERVE_SHARE = 0.1
"""Of a short envelope, the reserve is this share: an asker with 50 ms gets 5 ms of it, not 15."""
EMBED_SHARE = 0.5
"""Of what is left when a recall starts, the share its query embedding may take before words alone must do."""
VECTORS_SHARE = 0.75
"""Of the same, what the whole vector leg may take: embedding, bringing the index up to date, and reading what it
nominates. A quarter is left for an answer by words, which is ready by then."""
PROBE_SHARE = 0.2
"""Of what is left, the share in which the store must say which words it has; later, the turn gate does without."""
RELATIONS_SHARE = 0.25
"""Of what is left when an answer is ready, what looking up related records may take: a few searches by words."""
MODEL_SHARE = 0.8
"""Of what is left after the reserve, the share a model may take to decide about a turn; the search needs the rest."""


def reply_reserve_s(left_s: float, *, reserve_s: float = RESERVE_S) -> float:
    """The time kept back for the reply out of `left_s`: at most `reserve_s`, and of a short envelope a tenth."""
    return min(reserve_s, RESERVE_SHARE * max(left_s, 0.0))


def step_deadline_s(
    *, now_s: float, ceiling_s: float, envelope_deadline_s: float, reserve_s: float = RESERVE_S
) -> float:
    """When a step that may take `ceiling_s` must end: min(now + ceiling, envelope - reserve), and never before now.

    A result equal to `now_s` says that there is no time for the step at all.

    Raises:
        ValueError: `ceiling_s` is negative.
    """
    if ceiling_s < 0:
        message = f"ceiling_s must not be negative, got {ceiling_s}"
        raise ValueError(message)
    latest_s = envelope_deadline_s - reply_reserve_s(envelope_deadline_s - now_s, reserve_s=reserve_s)
    return max(now_s, min(now_s + ceiling_s, latest_s))


def gate_deadline_s(*, now_s: float, gate_ms: float, envelope_deadline_s: float, reserve_s: float = RESERVE_S) -> float:
    """When the relevance gate must have answered; `gate_ms` is its configured ceiling."""
    return step_deadline_s(
        now_s=now_s, ceiling_s=gate_ms / 1000.0, envelope_deadline_s=envelope_deadline_s, reserve_s=reserve_s
    )


def embed_deadline_s(*, now_s: float, envelope_deadline_s: float) -> float:
    """When the query embedding must be there; later, the recall goes on without it."""
    ceiling_s = EMBED_SHARE * max(envelope_deadline_s - now_s, 0.0)
    return step_deadline_s(now_s=now_s, ceiling_s=ceiling_s, envelope_deadline_s=envelope_deadline_s)


def vectors_deadline_s(*, now_s: float, envelope_deadline_s: float) -> float:
    """When the whole vector leg must be done; later, the recall goes on with what the words found."""
    ceiling_s = VECTORS_SHARE * max(envelope_deadline_s - now_s, 0.0)
    return step_deadline_s(now_s=now_s, ceiling_s=ceiling_s, envelope_deadline_s=envelope_deadline_s)


def count_deadline_s(*, now_s: float, envelope_deadline_s: float) -> float:
    """When the counts of what could be searched must be there; nothing but a number in the answer hangs on them."""
    ceiling_s = EMBED_SHARE * max(envelope_deadline_s - now_s, 0.0)
    return step_deadline_s(now_s=now_s, ceiling_s=ceiling_s, envelope_deadline_s=envelope_deadline_s)


def probe_deadline_s(*, now_s: float, envelope_deadline_s: float) -> float:
    """When the turn gate's probe of the store must have answered."""
    ceiling_s = PROBE_SHARE * max(envelope_deadline_s - now_s, 0.0)
    return step_deadline_s(now_s=now_s, ceiling_s=ceiling_s, envelope_deadline_s=envelope_deadline_s)


def relations_deadline_s(*, now_s: float, envelope_deadline_s: float) -> float:
    """When what an answer brings along must be known; later, it goes out without."""
    ceiling_s = RELATIONS_SHARE * max(envelope_deadline_s - now_s, 0.0)
    return step_deadline_s(now_s=now_s, ceiling_s=ceiling_s, envelope_deadline_s=envelope_deadline_s)


def model_window_s(*, left_s: float, model_ms: float | None) -> float:
    """How long a model may take to decide about a turn, in seconds; 0 when there is no time.

    Args:
        left_s: What is left of the envelope after the reserve for the reply.
        model_ms: The configured time; None: `MODEL_SHARE` of what is left, which is the most in any case.
    """
    share_s = MODEL_SHARE * max(left_s, 0.0)
    return share_s if model_ms is None else min(model_ms / 1000.0, share_s)
