"""What was reported on a memory or a decision, in lines for a person."""

from __future__ import annotations

from collections.abc import Sequence

from recalld.daemon.cli.output import moment, printable
from recalld.daemon.cli.words import OUTCOME_RESULTS, STANDING_CHOICES, in_words
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError
from recalld.protocol.items import OutcomeCounts, ReportedOutcome
from recalld.protocol.replies import OutcomeReport
from recalld.protocol.requests import Outcomes


def report_on(client: Client, request: Outcomes) -> OutcomeReport | None:
    """What was reported. It is an extra: None when the daemon does not answer, or does not know such a request."""
    try:
        return client.outcomes(request)
    except ClientError:
        return None


def memory_lines(report: OutcomeReport | None) -> list[str]:
    """Lines for `recalld get`: counts, and what a person decided about the standing block; none without either."""
    if report is None:
        return []
    lines = []
    if counts := counts_in_words(report.counts):
        lines.append(f"  outcomes {counts}")
    if report.choice is not None:
        lines.append(f"  standing {in_words(report.choice, STANDING_CHOICES)}")
    return lines


def decision_lines(report: OutcomeReport | None) -> list[str]:
    """Lines for `recalld explain`: each report, newest first."""
    if report is None or not report.outcomes:
        return []
    return [f"outcomes: {counts_in_words(report.counts)}", *_reports(report.outcomes)]


def counts_in_words(counts: OutcomeCounts) -> str:
    """Counts such as `used 3, ignored 1`; empty when nothing was reported."""
    named = (
        ("used", counts.used),
        ("ignored", counts.ignored),
        ("harmful", counts.harmful),
        ("missed", counts.missed),
    )
    return ", ".join(f"{name} {count}" for name, count in named if count)


def _reports(outcomes: Sequence[ReportedOutcome]) -> list[str]:
    return [
        f"  {moment(each.at_ms)}  {printable(each.result)}: {in_words(each.result, OUTCOME_RESULTS)}"
        f" ({printable(each.item_id) or 'the decision as a whole'})"
        for each in outcomes
    ]
