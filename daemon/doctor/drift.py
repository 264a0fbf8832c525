"""Checks of how the gates have decided lately, read from the ledger itself, and of shadow mode."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Final

from recalld.actors.drift.desk import LATELY_MS
from recalld.daemon.cli.words import GATE_NAMES
from recalld.daemon.doctor.context import DoctorContext
from recalld.daemon.doctor.result import Finding, failed, not_checked, noted, passed, warned
from recalld.daemon.drift import drift_context, drift_rules
from recalld.daemon.storage.connection import open_reading
from recalld.daemon.storage.decision_samples import newest_samples, newest_users
from recalld.daemon.storage.files import database_path
from recalld.models.domain.drift import Band, DriftReport, GateDrift, GateName, Reference
from recalld.models.domain.errors import RecalldError
from recalld.models.domain.reserved import is_reserved_user
from recalld.models.domain.shadow import GateMode, WriteMode
from recalld.models.policy.drift.watch import watch

WEEK_MS: Final = 7 * LATELY_MS
"""Users without a decision for so long are not looked at."""
USERS_MAX: Final = 16
"""Users looked at: whoever decided last. The daemon itself looks at all of them."""


def check_shadow(context: DoctorContext) -> Finding:
    """Whether the gates are obeyed."""
    recall, write = context.settings.recall.mode, context.settings.admission.mode
    seen: list[str] = []
    remedies: list[str] = []
    if recall is not GateMode.ENFORCE:
        done = "nothing is recalled" if recall is GateMode.SHADOW_SILENT else "everything above the floor is recalled"
        seen.append(f"SHADOW MODE IS ON: recall.mode is {recall}, so {done}, whatever the gates decide")
        remedies.append("recall.mode")
    if write is not WriteMode.ENFORCE:
        seen.append(f"SHADOW MODE IS ON: admission.mode is {write}, so nothing that is said becomes a memory")
        remedies.append("admission.mode")
    if not seen:
        return passed(
            "off in the configuration read here: the gates are obeyed (a daemon with its own --config: give it)"
        )
    return warned(
        "; ".join(seen),
        f"`recalld stats` compares; set {' and '.join(remedies)} to enforce and restart the daemon to have the gates"
        " obeyed",
    )


def _check_of(gate: GateName) -> Callable[[DoctorContext], Finding]:
    """The check of one gate."""

    def check(context: DoctorContext) -> Finding:
        reports = _reports(context)
        if isinstance(reports, Finding):
            return reports
        return judge_gate(tuple((report.user, _of(report, gate)) for report in reports))

    check.__doc__ = f"How the {GATE_NAMES[gate]} has decided lately."
    return check


check_turn_gate = _check_of(GateName.TURN)
check_relevance_gate = _check_of(GateName.RELEVANCE)
check_write_gate = _check_of(GateName.WRITE)


def judge_gate(gates: Sequence[tuple[str, GateDrift]]) -> Finding:
    """What one gate's reports say.

    Args:
        gates: The gate of each user, with the user's name.
    """
    alarmed = [(user, alarm) for user, gate in gates for alarm in gate.alarms]
    if alarmed:
        seen = "; ".join(f"{user}: {alarm.name}, {alarm.seen}" for user, alarm in alarmed[:3])
        more = f"; and {len(alarmed) - 3} more alarms" if len(alarmed) > 3 else ""
        return warned(f"{seen}{more}", alarmed[0][1].remedy)
    enough = [gate for _, gate in gates if not gate.too_few]
    if not enough:
        best = max((gate for _, gate in gates), key=lambda gate: (gate.n, gate.earlier_n), default=None)
        return not_checked("no decisions within a week" if best is None or not best.n else best.too_few)
    looked_at, fired = sum(gate.n for gate in enough), sum(gate.fired for gate in enough)
    seen = f"fired in {fired} of the last {looked_at} decisions of {len(enough)} users, much as before"
    foreign = [shift for gate in enough for shift in gate.shifts if shift.reference is Reference.SHIPPED_CALIBRATION]
    if any(shift.band is Band.LARGE for shift in foreign):
        return noted(
            f"{seen}; its scores are distributed otherwise than on the data of the shipped calibration",
            "`recalld calibrate FILE` fits the threshold to labelled turns of your own",
        )
    return passed(seen)


def _of(report: DriftReport, gate: GateName) -> GateDrift:
    return next(each for each in report.gates if each.gate is gate)


def _reports(context: DoctorContext) -> tuple[DriftReport, ...] | Finding:
    """Reports of those who decided last; why there are none where nothing could be looked at."""
    path = database_path(context.settings.storage.data_dir)
    if not path.is_file() or not context.database.health.is_readable:
        return not_checked("there is no database to look at")
    rules = drift_rules(context.settings)
    try:
        against = drift_context(context.settings)
        with closing(open_reading(path)) as db:
            users = newest_users(db, since_ms=context.clock.now_ms() - WEEK_MS, limit=USERS_MAX)
            return tuple(
                watch(user, newest_samples(db, user, limit=rules.rows_max), rules, against)
                for user in users
                if not is_reserved_user(user)
            )
    except RecalldError as error:
        return failed(error.message, "`recalld calibrate --rollback`, or correct recall.calibration_path")
    except sqlite3.Error as error:
        return not_checked(
            f"the ledger cannot be read ({error})", matters=True, remedy="see the checks of the database"
        )
