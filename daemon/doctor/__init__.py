"""`recalld doctor`: guarded, timed checks with remedies."""

from recalld.daemon.doctor.report import DoctorReport
from recalld.daemon.doctor.result import CheckResult, Status
from recalld.daemon.doctor.session import run_doctor

__all__ = ["CheckResult", "DoctorReport", "Status", "run_doctor"]
