"""Reports of a daemon that has decided something, for commands and metrics."""

from __future__ import annotations

from recalld.daemon.gateway.stats_reply import stats_report
from recalld.models.domain import health
from recalld.models.domain.ledger_tally import (
    Amount,
    LedgerTallies,
    LedgerTally,
    Step,
    TallyFamily,
    bucket_of,
)
from recalld.models.lab.ledger.report import ledger_report
from recalld.protocol import replies

TALLIES = (
    LedgerTally(family=TallyFamily.DECISION, key=("recall", "inject", "relevant"), count=4),
    LedgerTally(family=TallyFamily.DECISION, key=("recall", "silent", "gated"), count=5),
    LedgerTally(family=TallyFamily.DECISION, key=("recall", "skip", "acknowledgement"), count=1),
    LedgerTally(family=TallyFamily.DECISION, key=("observe", "kept", "stated"), count=2),
    LedgerTally(family=TallyFamily.MODE, key=("gated", ""), count=9),
    LedgerTally(family=TallyFamily.MODE, key=("floor_only", "breaker_open"), count=1),
    LedgerTally(family=TallyFamily.CANDIDATE, key=("",), count=6),
    LedgerTally(family=TallyFamily.CANDIDATE, key=("below_threshold",), count=14),
    LedgerTally(family=TallyFamily.AMOUNT, key=(Amount.CANDIDATES,), count=9, total=20.0),
    LedgerTally(family=TallyFamily.AMOUNT, key=(Amount.PAIRS_SCORED,), count=9, total=30.0),
    LedgerTally(family=TallyFamily.AMOUNT, key=(Amount.KEPT_BACK,), count=5, total=8.0),
    LedgerTally(family=TallyFamily.AMOUNT, key=(Amount.KEPT_BACK_CHARS,), count=5, total=400.0),
    LedgerTally(family=TallyFamily.FACT, key=("rule", "created", "stated"), count=2),
    LedgerTally(family=TallyFamily.AMOUNT, key=(Amount.FACTS,), count=2, total=2.0),
    LedgerTally(family=TallyFamily.TIME, key=(Step.RELEVANCE, str(bucket_of(20.0))), count=8, total=160.0),
    LedgerTally(family=TallyFamily.TIME, key=(Step.RELEVANCE, str(bucket_of(45.0))), count=1, total=45.0),
    LedgerTally(family=TallyFamily.TIME, key=(Step.TURN, str(bucket_of(0.3))), count=10, total=3.0),
)
ROWS = {"recall": 10, "observe": 2}


def stats_of(*tallies: LedgerTally, rows: dict[str, int] | None = None) -> replies.StatsReport:
    """What the daemon would answer with these counts."""
    counted = LedgerTallies(since_ms=1_796_000_400_000, until_ms=1_796_083_200_000, tallies=tallies, rows=rows)
    stats = health.Stats(uptime_s=1.0, counters={"recalls": 10}, latencies_ms={}, ledger=ledger_report(counted))
    return stats_report(1, stats, {"requests_busy": 3})
