"""What audits say of the gates, as `recalld stats` and `recalld doctor` print it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from recalld.daemon.cli.words import counted
from recalld.protocol.audit_items import AuditSection, EstimateItem, SampleCount

NOT_AUDITED: Final = "not audited"
_TITLES: Final = {
    "recall_misses": "relevant memories held back by the relevance gate",
    "turn_misses": "turns that needed memory and were not searched for",
    "wrong_injections": "recalled memories that were not relevant",
    "write_misses": "turns of which something should have been kept, of those of which nothing was",
    "wrong_records_per_1000": "wrong memories of 1,000 turns",
}


def write_audit(section: AuditSection) -> None:
    """Print every rate, audited or not."""
    for line in audit_lines(section):
        click.echo(line)


def audit_lines(section: AuditSection) -> Iterator[str]:
    """A line for each rate, and one that counts samples and marks."""
    yield ""
    yield "Audited decisions; rates with 95 % intervals"
    for name, estimate in estimates(section).items():
        yield f"  {_TITLES[name]}: {estimate_text(estimate)}"
    yield f"  {sample_counts(section.counts)}"


def estimates(section: AuditSection) -> dict[str, EstimateItem | None]:
    """Each rate by its name."""
    return {
        "recall_misses": section.recall_misses,
        "turn_misses": section.turn_misses,
        "wrong_injections": section.wrong_injections,
        "write_misses": section.write_misses,
        "wrong_records_per_1000": section.wrong_records_per_1000,
    }


def estimate_text(estimate: EstimateItem | None) -> str:
    """A rate as in `0.120 [0.04, 0.31] from 25 marks`."""
    if estimate is None:
        return NOT_AUDITED
    return f"{estimate.rate:.3f} [{estimate.low:.2f}, {estimate.high:.2f}] from {counted(estimate.audited, 'mark')}"


def sample_counts(counts: tuple[SampleCount, ...]) -> str:
    """How many were kept, and how many of these were marked."""
    marked = sum(each.yes + each.no + each.unsure for each in counts)
    return f"{counted(sum(each.sampled for each in counts), 'sample')}, {marked} marked; `recalld audit` asks"
