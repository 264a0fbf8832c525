"""Check of what audits say of the gates."""

from __future__ import annotations

from recalld.daemon.cli.commands.audit_view import NOT_AUDITED, estimate_text, estimates, sample_counts
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, not_checked, noted
from recalld.protocol.audit_items import AuditSection

_NAMES = {
    "recall_misses": "relevance gate misses",
    "turn_misses": "turn gate misses",
    "wrong_injections": "wrong among recalled",
    "write_misses": "write gate misses",
    "wrong_records_per_1000": "wrong memories per 1,000 turns",
}


def check_audit(context: DoctorContext) -> Finding:
    """How often the gates err, by a person's marks of the last days."""
    live = context.live
    if live.stats is None or live.stats.audit is None:
        return not_checked(live.stats_problem or "the daemon does not say what was audited")
    return judge_audit(live.stats.audit)


def judge_audit(section: AuditSection) -> Finding:
    """What marks make of the gates; no rate is wrong in itself, so that nothing fails."""
    known = {name: estimate for name, estimate in estimates(section).items() if estimate is not None}
    if not known:
        return noted(f"{NOT_AUDITED}: {sample_counts(section.counts)}")
    return noted("; ".join(f"{_NAMES[name]} {estimate_text(estimate)}" for name, estimate in known.items()))
