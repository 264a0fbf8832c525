"""Checks of the write path: what waits for people, how full memories are, and what is found by its words alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import Final, TypeVar

from recalld.daemon.cli.words import age_in_words, counted, counted_memories
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, not_checked, noted, passed, warned
from recalld.daemon.storage.backlog import (
    AskCoverage,
    ObservationBacklog,
    ProposalBacklog,
    ask_coverage,
    observation_backlog,
    proposal_backlog,
    scope_sizes,
)
from recalld.daemon.storage.connection import open_reading
from recalld.daemon.storage.files import database_path
from recalld.models.domain.usage import Usage
from recalld.models.policy.capacity import is_nearly_full, with_separators

DAY_MS: Final = 86_400_000
UNSEEN_MS: Final = 3 * DAY_MS
"""A proposal that has waited longer than this is one that nobody looks at."""
LATELY_MS: Final = 7 * DAY_MS
"""How long a proposal that expired without an answer is held against whoever should have looked."""

R = TypeVar("R")


def check_proposals(context: DoctorContext) -> Finding:
    """Proposals that nobody looks at."""
    now_ms = context.clock.now_ms()
    backlog = _read(context, lambda db: proposal_backlog(db, now_ms=now_ms, since_ms=now_ms - LATELY_MS))
    return backlog if isinstance(backlog, Finding) else judge_proposals(backlog, now_ms=now_ms)


def judge_proposals(backlog: ProposalBacklog, *, now_ms: int) -> Finding:
    """What the counts say."""
    seen = f"{counted(backlog.waiting, 'proposal')} waiting"
    age_ms = 0 if backlog.oldest_at_ms is None else max(0, now_ms - backlog.oldest_at_ms)
    if backlog.oldest_at_ms is not None:
        seen = f"{seen}, the oldest for {age_in_words(age_ms / 1000)}"
    if backlog.unseen:
        seen = f"{seen}; {backlog.unseen} expired without an answer in the last 7 days"
    if backlog.unseen or age_ms > UNSEEN_MS:
        return warned(
            seen, "go through them with `recalld review`, or set admission.proposals_per_session to 0 to ask no more"
        )
    return passed(seen)


def check_observations(context: DoctorContext) -> Finding:
    """Facts that wait for more turns to say the same."""
    backlog = _read(context, observation_backlog)
    return backlog if isinstance(backlog, Finding) else judge_observations(backlog)


def judge_observations(backlog: ObservationBacklog) -> Finding:
    """What the count says: nothing is wrong with a long list, they make room for one another."""
    if not backlog.waiting:
        return passed("none waiting")
    return noted(
        f"{counted(backlog.waiting, 'observation')} waiting for more turns", "`recalld review --all` lists them"
    )


def check_capacity(context: DoctorContext) -> Finding:
    """Memories that have nearly reached a cap."""
    admission = context.settings.admission
    if not admission.records_max and not admission.chars_max:
        return passed("no caps: admission.records_max and admission.chars_max are 0")
    now_ms = context.clock.now_ms()
    sizes = _read(context, lambda db: scope_sizes(db, now_ms=now_ms))
    if isinstance(sizes, Finding):
        return sizes
    usages = tuple(
        Usage(
            records=records,
            chars=with_separators(chars, records),
            records_max=admission.records_max,
            chars_max=admission.chars_max,
        )
        for records, chars in sizes
    )
    return judge_capacity(usages)


def judge_capacity(usages: tuple[Usage, ...]) -> Finding:
    """Whether any scope of any user is nearly full."""
    full = [usage for usage in usages if is_nearly_full(usage)]
    if not full:
        return passed(f"{counted(len(usages), 'scope')}, none over 90 % of a cap")
    worst = max(full, key=_share)
    seen = f"{len(full)} of {counted(len(usages), 'scope')} over 90 % of a cap, the fullest {_share(worst):.0%}"
    return warned(seen, "forget what is of no use any more, or raise admission.records_max and admission.chars_max")


def check_asks(context: DoctorContext) -> Finding:
    """Memories that only their own words and meaning find, because they carry no questions."""
    now_ms = context.clock.now_ms()
    coverage = _read(context, lambda db: ask_coverage(db, now_ms=now_ms))
    return coverage if isinstance(coverage, Finding) else judge_asks(coverage)


def judge_asks(coverage: AskCoverage) -> Finding:
    """How many a backfill would help."""
    if not coverage.live:
        return not_checked("nothing stored yet")
    if not coverage.without_asks:
        return passed(f"{counted_memories(coverage.live)}, all with questions")
    return noted(
        f"{coverage.without_asks} of {counted_memories(coverage.live)} carry no questions",
        "`recalld cues backfill` has a connected runtime's model write them",
    )


def _read(context: DoctorContext, work: Callable[[sqlite3.Connection], R]) -> R | Finding:
    """Read something from the database; why it was not looked at where that cannot be."""
    path = database_path(context.settings.storage.data_dir)
    if not path.is_file() or not context.database.health.is_readable:
        return not_checked("there is no database to look at")
    try:
        with closing(open_reading(path)) as db:
            return work(db)
    except sqlite3.Error:
        return not_checked("the database has no such table yet; the daemon makes it when it starts")


def _share(usage: Usage) -> float:
    """The larger of the two shares that are used."""
    records = usage.records / usage.records_max if usage.records_max else 0.0
    chars = usage.chars / usage.chars_max if usage.chars_max else 0.0
    return max(records, chars)
