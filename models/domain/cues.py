"""Changes to what is known about a memory beside its text, and the backfilling of cues and asks."""

from __future__ import annotations

import enum

import msgspec

from recalld.models.domain.records import Memory, MemoryKind, TextOrigin


class MemoryChanges(msgspec.Struct, frozen=True, kw_only=True):
    """What to change. None stays as it is; cues and asks replace those there are.

    Attributes:
        expires_at_ms: Unset stays as it is; None: never expires.
        origin: Who wrote the cues and asks that are new; those that stay keep their origin.
    """

    cues: tuple[str, ...] | None = None
    asks: tuple[str, ...] | None = None
    kind: MemoryKind | None = None
    scope: str | None = None
    expires_at_ms: int | msgspec.UnsetType | None = msgspec.UNSET
    origin: TextOrigin = TextOrigin.GIVEN


class UpdateReason(enum.StrEnum):
    """Why a memory was changed."""

    EDITED = "edited"
    """Somebody asked for just this change."""
    BACKFILLED = "backfilled"
    """A lent model wrote the cues and asks."""


class UpdateRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Change a live memory.

    Attributes:
        if_revision: Only if it still has this revision; None: whatever it has.
        note: For the ledger: what made the change, such as the version of a prompt.
    """

    user: str
    memory_id: str
    changes: MemoryChanges
    if_revision: int | None = None
    reason: UpdateReason = UpdateReason.EDITED
    note: str = ""
    deadline_s: float


class UpdateReply(msgspec.Struct, frozen=True, kw_only=True):
    """The memory after a change.

    Attributes:
        decision_id: Of the ledger row; empty when there was nothing to change.
        is_embedded: Whether every text of it has its vector already.
    """

    memory: Memory
    decision_id: str = ""
    is_embedded: bool = True


class BackfillEnd(enum.StrEnum):
    """Why a backfill ended."""

    DONE = "done"
    """No memory without asks is left that was not looked at."""
    LIMIT = "limit"
    """As many memories as were asked for were looked at."""
    TIME = "time"
    """The time allowed was over."""
    NO_RUNTIME = "no_runtime"
    """No connected runtime lends a model for this user."""
    FAILING = "failing"
    """The model gave no answer several times in a row."""
    DRY_RUN = "dry_run"
    """Nobody was asked, but somebody could have been."""


class BackfillFailure(enum.StrEnum):
    """Why a memory has no cues and asks though the model was asked; the kinds of `RuntimeFailure`, and two more."""

    NOT_CONNECTED = "not_connected"
    BUSY = "busy"
    TIMEOUT = "timeout"
    DISCONNECTED = "disconnected"
    REFUSED = "refused"
    TOO_LONG = "too_long"
    CHANGED = "changed"
    """The memory was changed or forgotten while the model wrote."""


class BackfillRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Have a lent model write cues and asks for memories that have no asks, newest first.

    Attributes:
        limit: Memories to look at, at most.
        is_dry_run: Ask nobody and only count.
        cursor: Where an earlier backfill stopped; None starts with the newest memory.
        deadline_s: When to stop, in seconds on the monotonic clock.
    """

    user: str
    limit: int
    is_dry_run: bool = False
    cursor: str | None = None
    deadline_s: float


class BackfillReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a backfill did; `asked = updated + the sums of refusals and failures`, always.

    Attributes:
        refusals: Answers that could not be used, by reason.
        failures: Memories without a usable answer for other reasons, by reason.
        remaining: Memories of the user that have no asks now.
        cursor: Where the next backfill goes on; None when all were looked at.
    """

    updated: int
    refusals: dict[str, int]
    failures: dict[str, int]
    remaining: int
    end: BackfillEnd
    cursor: str | None

    @property
    def asked(self) -> int:
        """Memories that the model was asked about."""
        return self.updated + self.refused + self.failed

    @property
    def refused(self) -> int:
        """Answers that could not be used."""
        return sum(self.refusals.values())

    @property
    def failed(self) -> int:
        """Memories without a usable answer for other reasons."""
        return sum(self.failures.values())
