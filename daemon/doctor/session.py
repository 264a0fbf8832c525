"""One examination from beginning to end: ask the daemon once, then run the checks."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

from recalld.actors.ports import Clock
from recalld.daemon.config import Environment, Settings
from recalld.daemon.doctor.context import DoctorContext, Live
from recalld.daemon.doctor.reading import DatabaseReading
from recalld.daemon.doctor.registry import CHECKS
from recalld.daemon.doctor.report import DoctorReport, report_of
from recalld.daemon.doctor.runner import Check, run_checks
from recalld.models.domain.errors import ErrorCode
from recalld.protocol import requests
from recalld.protocol.client.blocking import Client
from recalld.protocol.client.errors import ClientError, ClientFault
from recalld.protocol.replies import Welcome

HEALTH_TIMEOUT_S = 15.0
"""A deep health report scores two pairs: what a busy machine may need for that, and a hung daemon gets at most."""


STATS_DAYS = 7
"""How far back the checks of what was counted look."""


def run_doctor(
    settings: Settings,
    *,
    environment: Environment,
    connect: Callable[[], Client],
    clock: Clock,
    is_deep: bool,
    checks: Sequence[Check[DoctorContext]] = CHECKS,
) -> DoctorReport:
    """Examine the installation.

    Args:
        settings: The settings in force.
        environment: Who asks.
        connect: Makes a client for the daemon; it need not be running.
        clock: Time.
        is_deep: Also run the checks that take long or write (each cleans up after itself).
        checks: What to look at.

    Returns:
        The report; the exit code is in it. Nothing that is broken raises.
    """
    context = DoctorContext(
        settings=settings,
        environment=environment,
        live=ask_daemon(connect),
        connect=connect,
        clock=clock,
        pid=os.getpid(),
        pause=time.sleep,
        database=DatabaseReading(settings, clock),
    )
    return report_of(run_checks(checks, context, clock=clock, is_deep=is_deep), is_deep=is_deep)


def ask_daemon(connect: Callable[[], Client]) -> Live:
    """Ask the daemon for its greeting, its health and its counts, within bounds; a failure is an answer."""
    welcome: Welcome | None = None
    with connect() as client:
        try:
            welcome = client.connect(timeout_s=HEALTH_TIMEOUT_S)
            health = client.health(deep=True, timeout_s=HEALTH_TIMEOUT_S)
        except ClientError as error:
            is_locked = error.code == ClientFault.CONNECT_FAILED and isinstance(error.__cause__, PermissionError)
            is_forbidden = is_locked or error.code == ErrorCode.FORBIDDEN
            return Live(welcome=welcome, problem=error.message, is_forbidden=is_forbidden)
        try:
            stats = client.stats(requests.Stats(days=STATS_DAYS), timeout_s=HEALTH_TIMEOUT_S)
        except ClientError as error:
            return Live(welcome=welcome, health=health, stats_problem=error.message)
    return Live(welcome=welcome, health=health, stats=stats)
