"""What waits for people, how full memories are, and what carries no questions is seen, with the daemon up or down."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from recalld.daemon.config import Settings
from recalld.daemon.config.settings import AdmissionSettings
from recalld.daemon.doctor import admission
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Status
from recalld.daemon.storage.backlog import (
    AskCoverage,
    ObservationBacklog,
    ProposalBacklog,
    observation_backlog,
    proposal_backlog,
    scope_sizes,
)
from recalld.daemon.storage.connection import open_writing
from recalld.models.domain.usage import Usage

MakeContext = Callable[..., DoctorContext]
MakeStore = Callable[[int], Path]
DAY_MS = admission.DAY_MS
NOW_MS = 1_796_000_000_000
CHECKS = (
    admission.check_proposals,
    admission.check_observations,
    admission.check_capacity,
    admission.check_asks,
)


@pytest.mark.parametrize(
    ("backlog", "status", "words"),
    [
        (ProposalBacklog(), Status.PASS, "0 proposals waiting"),
        (ProposalBacklog(waiting=1, oldest_at_ms=NOW_MS - 3 * DAY_MS), Status.PASS, "waiting, the oldest for 3 d"),
        (ProposalBacklog(waiting=2, oldest_at_ms=NOW_MS - 3 * DAY_MS - 1), Status.WARN, "2 proposals waiting"),
        (ProposalBacklog(unseen=4), Status.WARN, "4 expired without an answer"),
    ],
)  # fmt: skip
def test_a_queue_that_nobody_looks_at_is_warned_of_with_its_counts(
    backlog: ProposalBacklog, status: Status, words: str
) -> None:
    finding = admission.judge_proposals(backlog, now_ms=NOW_MS)
    assert (finding.status, words in finding.seen) == (status, True)
    assert ("`recalld review`" in finding.remedy) is (status is Status.WARN)


def test_observations_are_worth_knowing_and_no_fault() -> None:
    assert admission.judge_observations(ObservationBacklog()).status is Status.PASS
    finding = admission.judge_observations(ObservationBacklog(waiting=7, oldest_at_ms=1))
    assert (finding.status, finding.seen) == (Status.INFO, "7 observations waiting for more turns")


@pytest.mark.parametrize(
    ("usage", "status"),
    [
        (Usage(records=89, chars=10, records_max=100), Status.PASS),
        (Usage(records=90, chars=10, records_max=100), Status.WARN),
        (Usage(records=1, chars=95, chars_max=100), Status.WARN),
    ],
)
def test_a_scope_is_warned_of_from_90_percent_of_a_cap(usage: Usage, status: Status) -> None:
    empty = Usage(records=0, chars=0, records_max=100, chars_max=100)
    assert admission.judge_capacity((empty, usage)).status is status


def test_memories_without_questions_are_counted_with_the_way_to_get_them() -> None:
    assert admission.judge_asks(AskCoverage(live=3)).status is Status.PASS
    finding = admission.judge_asks(AskCoverage(live=3, without_asks=2))
    assert (finding.status, finding.seen) == (Status.INFO, "2 of 3 memories carry no questions")
    assert "`recalld cues backfill`" in finding.remedy


def test_without_a_database_nothing_is_at_fault(make_context: MakeContext) -> None:
    assert {check(make_context()).status for check in CHECKS} <= {Status.INFO, Status.PASS}


def test_a_store_is_read_with_the_daemon_down(make_context: MakeContext, settings: Settings, store: MakeStore) -> None:
    store(3)
    capped = msgspec.structs.replace(settings, admission=AdmissionSettings(records_max=3))
    context = make_context(settings=capped)
    found = {check: check(context) for check in CHECKS}
    assert found[admission.check_proposals].status is Status.PASS
    assert found[admission.check_observations].status is Status.PASS
    assert (found[admission.check_capacity].status, "100%" in found[admission.check_capacity].seen) == (
        Status.WARN,
        True,
    )
    assert "3 memories" in found[admission.check_asks].seen


def test_what_waits_and_what_lately_expired_is_counted_over_all_users(settings: Settings, store: MakeStore) -> None:
    store(2)
    with closing(open_writing(settings.storage.data_dir / "recalld.db")) as db:
        (user_no,) = db.execute("SELECT user_no FROM users").fetchone()
        rows = (
            ("a", "pending", 5, NOW_MS + 1),
            ("b", "pending", 3, NOW_MS + 1),
            ("c", "pending", 1, NOW_MS),
            ("d", "pending", 1, NOW_MS - 2 * DAY_MS),
            ("e", "rejected", 1, NOW_MS + 1),
        )
        for note_id, state, created_at_ms, expires_at_ms in rows:
            db.execute(
                "INSERT INTO proposals VALUES (?, ?, '', '', x'00', 'guess', ?, ?, ?, '', '', '', x'7b7d')",
                (user_no, note_id, state, created_at_ms, expires_at_ms),
            )
        for note_id, promoted_to in (("o1", ""), ("o2", "mem_1")):
            db.execute(
                "INSERT INTO observations VALUES (?, ?, '', x'00', '', '', '', 4, 9, ?, x'7b7d')",
                (user_no, note_id, promoted_to),
            )
        backlog = proposal_backlog(db, now_ms=NOW_MS, since_ms=NOW_MS - DAY_MS)
        assert backlog == ProposalBacklog(waiting=2, oldest_at_ms=3, unseen=1)
        assert observation_backlog(db) == ObservationBacklog(waiting=1, oldest_at_ms=4)
        assert [records for records, _ in scope_sizes(db, now_ms=NOW_MS)] == [2]
