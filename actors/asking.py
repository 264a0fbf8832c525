"""What it means to the outside when an actor gives no answer."""

from __future__ import annotations

from recalld.actors.kernel import AskError, AskFailure
from recalld.models.domain.errors import ErrorCode, RecalldError


def as_operating_error(error: AskError, what: str) -> RecalldError:
    """The operating error for an ask that was not answered; every one of them may be tried again.

    Args:
        error: What `Address.ask` raised.
        what: The thing that did not answer, as a user would call it: "the store".
    """
    match error.failure:
        case AskFailure.BUSY:
            return RecalldError(ErrorCode.BUSY, f"too many requests are waiting for {what}; try again")
        case AskFailure.TIMEOUT:
            return RecalldError(
                ErrorCode.BUSY,
                f"{what} did not answer in time; the request may still be carried out; repeat it if need be",
            )
        case AskFailure.CLOSED:
            return RecalldError(ErrorCode.DRAINING, f"{what} is stopping; try again")
        case AskFailure.DIED:
            return RecalldError(ErrorCode.BUSY, f"{what} failed on a request and starts anew; try again")
