"""Metric families of sampled decisions, and of what marks on them say of the gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from recalld.actors.sampling.actor import LOST_COUNTER
from recalld.daemon.cli.commands.audit_view import estimates
from recalld.protocol.audit_items import AuditSection

_ANSWERS: Final = ("yes", "no", "unsure", "none")


def audit_families(section: AuditSection, counters: Mapping[str, int]) -> Iterator[Metric]:
    """Rates with their intervals, and samples by kind and mark. A rate that is not audited is left out.

    Args:
        section: What was audited over the last days.
        counters: Of the process.
    """
    rates = GaugeMetricFamily(
        "recalld_audit_rate", "Error rates of the gates by audits, with their 95 % interval.", labels=["rate", "bound"]
    )
    for name, estimate in estimates(section).items():
        if estimate is not None:
            for bound, value in (("estimate", estimate.rate), ("low", estimate.low), ("high", estimate.high)):
                rates.add_metric([name, bound], value)
    yield rates
    samples = GaugeMetricFamily("recalld_audit_samples", "Sampled decisions, by mark.", labels=["kind", "answer"])
    counts: Counter[tuple[str, str]] = Counter()
    for each in section.counts:
        unmarked = each.sampled - each.yes - each.no - each.unsure
        for answer, count in zip(_ANSWERS, (each.yes, each.no, each.unsure, unmarked), strict=True):
            counts[each.kind, answer] += count
    for (kind, answer), count in sorted(counts.items()):
        samples.add_metric([kind, answer], count)
    yield samples
    yield CounterMetricFamily(
        "recalld_audit_samples_lost",
        "Samples lost since the daemon started: a mailbox was full, or the store refused them.",
        value=float(counters.get(LOST_COUNTER, 0)),
    )
