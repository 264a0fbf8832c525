"""The check of the local judge: whether its calibration record was fitted for the configured embedder."""

from __future__ import annotations

from recalld.daemon.admission_judge import JudgeInForce, judge_in_force
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, passed, warned


def check_judge(context: DoctorContext) -> Finding:
    """Whether the local judge runs, and why not."""
    return judge_judge(judge_in_force(context.settings))


def judge_judge(found: JudgeInForce) -> Finding:
    """What there is of it. Without a judge the rules and models find facts all the same, so that nothing has failed."""
    if found.mismatch:
        return warned(found.mismatch, "set models.embedder to the one it names, or set admission.judge to false")
    if found.record is None:
        return passed("off: admission.enabled or admission.judge is false")
    return passed(f"{found.record.id}, fitted for the configured embedder")
