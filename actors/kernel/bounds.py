"""Every bound of the kernel in one table, each with its reason."""

from __future__ import annotations

from typing import Final

RECALL_MAILBOX_MAX: Final = 256
"""Per user: far more turns than one user's runtimes start within an envelope; a full mailbox answers `busy`."""

ADMISSION_MAILBOX_MAX: Final = 128
"""Per user: turns wait for a write of a few milliseconds each, so 128 is well under a second of backlog."""

SCORER_MAILBOX_MAX: Final = 256
"""Asks of all users. At ten milliseconds a pair anything further back would be answered after its deadline anyway."""

EMBEDDER_MAILBOX_MAX: Final = 256
"""As for the scorer; backfill asks one batch at a time and never fills it."""

STORE_MAILBOX_MAX: Final = 1024
"""Ledger rows of all users pass through here in bursts, and a write must never be refused for a burst of them."""

MAINTENANCE_MAILBOX_MAX: Final = 16
"""Ticks and nudges; one waiting nudge does the work of many."""

SAMPLING_MAILBOX_MAX: Final = 256
"""Answered decisions that wait to be sampled; more are lost for the audit, and counted."""
DRIFT_MAILBOX_MAX: Final = 4
"""Ticks; one that waits does the work of many."""

EXTRACTION_MAILBOX_MAX: Final = 1024
"""One note for each turn that waits; one that is lost is made up for by the user's next turn, or by a restart."""

SUPERVISOR_MAILBOX_MAX: Final = 1024
"""Every recall reports how it went; a report lost here would make the breaker and the counters wrong."""

STOPPED_HOOK_S_MAX: Final = 5.0
"""Seconds a `stopped` hook may take: it runs shielded from cancellation, so it must not be able to hold up an exit."""
