"""The check of what waits for a language model to read it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Final

from recalld.daemon.cli.words import counted
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, not_checked, passed, warned
from recalld.daemon.storage.connection import open_reading
from recalld.daemon.storage.files import database_path
from recalld.daemon.storage.pending_turns import pending_counts
from recalld.models.domain.extraction import PendingCounts

LATE_MS: Final = 3_600_000
"""A turn that has waited longer than this beyond what is configured waits for something that is broken."""


def check_model_gate(context: DoctorContext) -> Finding:
    """Turns that wait for a model, that failed alone too often, or that were let go unread."""
    path = database_path(context.settings.storage.data_dir)
    if not path.is_file() or not context.database.health.is_readable:
        return not_checked("there is no database to look at")
    try:
        with closing(open_reading(path)) as db:
            counts = pending_counts(db, None)
    except sqlite3.Error:
        return not_checked("the database has no such table yet; the daemon makes it when it starts")
    return judge_model_gate(context, counts)


def judge_model_gate(context: DoctorContext, counts: PendingCounts) -> Finding:
    """What the counts say."""
    gate = context.settings.admission.model_gate
    is_off = gate == "off"
    seen = f"{gate}: {counted(counts.waiting, 'turn')} waiting"
    if counts.set_aside:
        return warned(
            f"{seen}, {counts.set_aside} set aside: no answer about them could be read",
            "look at extraction_fault_* in `recalld status --json`; forget what they are about, or change the model",
        )
    if counts.expired or counts.overflowed:
        return _lost(seen, counts)
    if is_off:
        if counts.waiting:
            return warned(f"{seen}, and nobody reads them", "set admission.model_gate, or purge them with their user")
        return passed("off: nothing waits and nothing is sent")
    allowed_ms = LATE_MS + round(1000 * context.settings.admission.extraction.wait_max_s)
    oldest_ms = counts.oldest_at_ms
    if oldest_ms is not None and context.clock.now_ms() - oldest_ms > allowed_ms:
        remedy = "start a runtime that lends its model" if gate == "runtime" else "check that the endpoint answers"
        return warned(f"{seen}, the oldest for over an hour", f"{remedy}; nothing is lost meanwhile")
    return passed(seen)


def _lost(seen: str, counts: PendingCounts) -> Finding:
    """Turns that nothing will come of any more."""
    if counts.expired:
        return warned(
            f"{seen}, {counts.expired} let go unread after admission.extraction.keep_days",
            "have a model connected while the daemon runs, or set admission.model_gate to off",
        )
    return warned(
        f"{seen}, {counts.overflowed} not taken because admission.extraction.pending_max waited already",
        "have a model connected while the daemon runs, or raise admission.extraction.pending_max",
    )
