"""When a failed actor is started again, after how long, and when its supervisor gives up.

The window really slides: only failures younger than `window_s` count, so an actor that fails once an hour is restarted
for ever, while one that fails again and again within the window escalates.
"""

from __future__ import annotations

import msgspec


class RestartPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How often an actor may be restarted, and how long each restart waits.

    Attributes:
        restarts_max: Restarts granted within any half-open window of `window_s` seconds; 0 escalates at once.
        window_s: Length of the sliding window in seconds.
        backoff_initial_s: Longest wait before the first restart of a window, in seconds.
        backoff_max_s: Longest wait before any restart, in seconds.
    """

    restarts_max: int
    window_s: float
    backoff_initial_s: float
    backoff_max_s: float

    def __post_init__(self) -> None:
        """Refuse values that mean nothing.

        Raises:
            ValueError: A field is out of range; the message names it and the remedy.
        """
        if self.restarts_max < 0:
            msg = f"restarts_max is {self.restarts_max}: give 0 (escalate at once) or more"
            raise ValueError(msg)
        if not self.window_s > 0:
            msg = f"window_s is {self.window_s}: give a length above 0 seconds"
            raise ValueError(msg)
        if not 0 <= self.backoff_initial_s <= self.backoff_max_s:
            msg = (
                f"backoff_initial_s is {self.backoff_initial_s} and backoff_max_s {self.backoff_max_s}: "
                "give 0 <= backoff_initial_s <= backoff_max_s"
            )
            raise ValueError(msg)


class RestartDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What to do after a failure.

    Attributes:
        granted_s: Times of the granted restarts still inside the window, oldest first: the history for the next call.
        delay_s: Seconds to wait before the restart; None when the window is exhausted and the failure must escalate.
    """

    granted_s: tuple[float, ...]
    delay_s: float | None


def backoff_s(attempt: int, *, initial_s: float, max_s: float, jitter: float) -> float:
    """Wait before an attempt: doubling up to a ceiling, half of it fixed and half of it random ("equal jitter").

    The random half keeps several actors that failed together from coming back together; the fixed half keeps a lucky
    draw from hammering whatever is broken. Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog.

    Args:
        attempt: 1 for the first attempt after a failure.
        initial_s: Ceiling of the first wait, in seconds.
        max_s: Ceiling of every wait, in seconds.
        jitter: A draw from [0, 1).

    Returns:
        Seconds in [ceiling / 2, ceiling), where ceiling = min(max_s, initial_s * 2 ** (attempt - 1)).
    """
    doublings = min(max(attempt, 1) - 1, 62)  # beyond 62 any sensible ceiling is long reached, and floats stay finite
    ceiling_s = min(max_s, initial_s * 2.0**doublings)
    return ceiling_s * (0.5 + 0.5 * jitter)


def decide_restart(
    policy: RestartPolicy, granted_s: tuple[float, ...], *, now_s: float, jitter: float
) -> RestartDecision:
    """Decide what follows a failure at `now_s`.

    Args:
        policy: The actor's restart policy.
        granted_s: Times of earlier granted restarts, oldest first (`RestartDecision.granted_s` of the last call).
        now_s: When the failure happened, in seconds on the monotonic clock.
        jitter: A draw from [0, 1).

    Returns:
        A restart with its delay, or an escalation. A restart granted exactly `window_s` ago no longer counts.
    """
    recent_s = tuple(at_s for at_s in granted_s if now_s - at_s < policy.window_s)
    if len(recent_s) >= policy.restarts_max:
        return RestartDecision(granted_s=recent_s, delay_s=None)
    delay_s = backoff_s(
        len(recent_s) + 1, initial_s=policy.backoff_initial_s, max_s=policy.backoff_max_s, jitter=jitter
    )
    return RestartDecision(granted_s=(*recent_s, now_s), delay_s=delay_s)
